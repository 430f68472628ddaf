// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// Not under ThreadSanitizer: it knows no threads that are started after a fork.
/// Loads that are under way when the process forks. In the child nobody runs them.
@Suite("Loads and fork()")
struct ForkedLoadTests {
  /// Loads key 1 on a thread of its own until `goOn`, and returns once `isThere`.
  private static func load(
    _ cache: Cache<Int, Int>, until goOn: Switch, _ isThere: @escaping @Sendable () -> Bool
  ) -> RealThread {
    let thread = RealThread {
      _ = try? cache.value(forKey: 1) { _ in
        waitUntil("the load may end") { goOn.isOn }
        return 1
      }
    }
    waitUntil("the load is under way") { isThere() }
    return thread
  }

  @Test("A child loads what is being loaded, and a write there ends the other's load")
  func underWay() async {
    await #expect(processExitsWith: .success) {
      let (cache, warm, goOn) = (Cache<Int, Int>(), Cache<Int, Int>(), Switch())
      _ = try? warm.value(forKey: 1) { _ in 1 }
      let thread = Self.load(cache, until: goOn) { cache.countedFlights == 1 }
      expectChildSuccess {
        cache.removeValue(forKey: 1)
        precondition(cache.flightCount == 0 && cache.countedFlights == 0)
        let value = try? cache.value(forKey: 1) { _ in 2 }
        precondition(value == 2 && cache.value(forKey: 1) == 2)
        cache.checkInvariants()
      }
      expectChildSuccess {
        let value = try? cache.value(forKey: 1) { _ in 2 }
        precondition(value == 2 && cache.flightCount == 0 && cache.countedFlights == 0)
        cache.checkInvariants()
      }
      goOn.turnOn()
      thread.join()
      #expect(cache.value(forKey: 1) == 1 && cache.countedFlights == 0)
    }
  }

  @Test("What a thread loads that has forked does not come back after a removal in the child")
  func ownLoad() async {
    await #expect(processExitsWith: .success) {
      let (cache, removed, ended) = (Cache<Int, Int>(), Switch(), Switch())
      let process = getpid()
      _ = try? cache.value(forKey: 0) { _ in 0 }
      _ = try? cache.value(forKey: 1) { _ in
        expectReturningChildSuccess {
          let value = try? cache.value(forKey: 1) { _ in 2 }
          precondition(value == 2)
          cache.removeValue(forKey: 1)
          removed.turnOn()
          waitUntil("the load that has forked ends") { ended.isOn }
          precondition(cache.value(forKey: 1) == nil && cache.countedFlights == 0)
          cache.checkInvariants()
        }
        if getpid() != process { waitUntil("the value is removed") { removed.isOn } }
        return 1
      }
      ended.turnOn()
      // Its other thread ends the child.
      while getpid() != process { usleep(1_000) }
      #expect(cache.value(forKey: 1) == 1 && cache.countedFlights == 0)
    }
  }

  #if DEBUG
    @Test("A child ends no load that had not begun")
    func notBegun() async {
      await #expect(processExitsWith: .success) {
        let (cache, warm) = (Cache<Int, Int>(), Cache<Int, Int>())
        let (isThere, goOn) = (Switch(), Switch())
        _ = try? warm.value(forKey: 1) { _ in 1 }
        let thread = RealThread {
          // In the table, and not counted yet.
          let stop = { @Sendable (_: () -> Bool) in
            guard cache.flightCount == 1, cache.countedFlights == 0, !goOn.isOn else { return }
            isThere.turnOn()
            waitUntil("the load may begin") { goOn.isOn }
          }
          _ = LoadPoints.$stop.withValue(stop) { try? cache.value(forKey: 1) { _ in 1 } }
        }
        waitUntil("the load is in the table") { isThere.isOn }
        expectChildSuccess {
          let value = try? cache.value(forKey: 1) { _ in 2 }
          precondition(value == 2 && cache.flightCount == 0 && cache.countedFlights == 0)
          cache.checkInvariants()
        }
        goOn.turnOn()
        thread.join()
        #expect(cache.value(forKey: 1) == 1 && cache.countedFlights == 0)
      }
    }
  #endif
}
