// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Synchronization
import Testing

// Not under sanitizers: it steps through single instructions, and begins threads in forked children.

/// The system refuses the background thread at first.
@Suite("Without a background thread", .timeLimit(.minutes(5)), .enabled(if: lrdt_play_available()))
struct UnheardTests {
  /// At which instruction the other thread is let go, and how far it has come.
  private static let stop = Atomic<UInt64>(0)
  private static let stage = Atomic<Int>(0)

  // Unoptimized code has more instructions in each gap.
  #if DEBUG
    private static let stride = 4
  #else
    private static let stride = 1
  #endif

  /// Runs at each instruction of the thread that could not start the background thread. At one of
  /// them, lets the other thread ask. That takes no time unless this thread holds the queue's lock.
  private static func look(_ number: UInt64) -> Bool {
    guard number == stop.load(ordering: .relaxed) else { return true }
    stage.store(1, ordering: .releasing)
    let end = Clock.now + 20_000_000
    while stage.load(ordering: .acquiring) == 1 && Clock.now < end {}
    return false
  }

  @Test("A request that comes while the thread cannot be started is not lost")
  func requestBesideARefusal() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let one = Cache<Int, Int>()
      let other = Cache<Int, Tracked>()
      one[0] = 0
      other[0] = tracker.make()
      // Swift's runtime has seen everything that the children do.
      precondition(Self.look(1) && tracker.live == 1)
      let instructions = lrdt_ask_in_vain(one.inside) { _ in true }
      precondition(instructions > 0, "the background thread runs")
      for stop in Swift.stride(from: 1, to: instructions, by: Self.stride) {
        Self.stop.store(stop, ordering: .relaxed)
        expectChildSuccess {
          let thread = RealThread {
            _ = other.value(forKey: 0)
            Self.stage.store(2, ordering: .releasing)
            waitUntil("the other has failed") { Self.stage.load(ordering: .acquiring) == 1 }
            other[0] = nil
            Self.stage.store(3, ordering: .releasing)
            // Without a thread this request was given up together with the first one.
            if lrd_request_is_unheard() { return }
            waitUntil(deadline: 10, "the value dies") { tracker.live == 0 }
          }
          waitUntil("the other thread is there") { Self.stage.load(ordering: .acquiring) == 2 }
          _ = lrdt_ask_in_vain(one.inside) { Self.look($0) }
          // If this way was shorter than the first.
          if Self.stage.load(ordering: .acquiring) == 2 {
            Self.stage.store(1, ordering: .releasing)
          }
          thread.join()
        }
      }
    }
  }
}
