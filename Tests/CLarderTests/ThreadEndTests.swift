// SPDX-License-Identifier: Apache-2.0
import CLarderTestSupport
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Records of ended threads are given to other threads, even where the system takes away the
/// variables of a thread before it reports its end.
@Suite("Ends of threads", .timeLimit(.minutes(20)))
struct ThreadEndTests {
  enum End: String, CaseIterable, Codable, Sendable {
    case plain, variablesLost, usedOnceMore
  }

  @Test("A thread's record is free when the thread has ended", arguments: End.allCases)
  func recordIsFreeAfterTheEnd(end: End) async {
    await #expect(processExitsWith: .success) { [end = end as End] in
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 100, policy: .fifo)
      for thread in 0..<100 {
        RealThread {
          cache[thread] = tracker.make(thread)
          let number = lrdt_thread_number()
          if end != .plain { lrdt_lose_thread_variables() }
          if end == .usedOnceMore {
            precondition(cache[thread]?.payload == thread && lrdt_thread_number() == number)
            lrdt_lose_thread_variables()
          }
        }.join()
      }
      let last = Protected(UInt32.max)
      RealThread { last.withLock { $0 = lrdt_thread_number() } }.join()
      let number = last.withLock { $0 }
      precondition(number < 8, "the next thread's number is \(number)")
      // And no thread counts as one that may still hold something.
      waitUntil("the background thread has ended its work") { lrdt_thread_is_solitary() }
      cache[0] = nil
      precondition(tracker.live == 99, "\(tracker.live) live")
      precondition(cache.statistics.hits == (end == .usedOnceMore ? 100 : 0))
    }
  }

  // Not under sanitizers: it counts instructions.
  @Test("Threads that have ended cost scans nothing", .enabled(if: lrdt_play_available()))
  func scansForgetTheEnded() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 100, policy: .fifo)
      cache[0] = 0
      let before = lrdt_scan_steps()
      let crowd: UInt32 = 200
      let here = Atomic<UInt32>(0)
      // Closed doors: 200 threads that poll would leave no processor to anybody.
      let (first, second) = (Protected(()), Protected(()))
      second.withLock { _ in
        first.withLock { _ in
          for thread in 1...crowd {
            RealThread {
              cache[Int(thread)] = 0
              here.add(1, ordering: .acquiringAndReleasing)
              first.withLock { _ in }
              // The thread with the highest number stays.
              if lrdt_thread_number() == crowd { second.withLock { _ in } }
            }.detach()
          }
          waitUntil("all are here") { here.load(ordering: .acquiring) == crowd }
          precondition(lrdt_scan_steps() > UInt64(crowd / 2) * before, "the living are not scanned")
          expectChildSuccess {
            precondition(lrdt_scan_steps() == before, "the child scans its parent")
          }
        }
        waitUntil("one of the crowd is left") { lrdt_scan_steps() < 3 * before }
        precondition(lrdt_scan_steps() > before)
      }
      waitUntil("scans are as before") { lrdt_scan_steps() == before }
    }
  }
}
