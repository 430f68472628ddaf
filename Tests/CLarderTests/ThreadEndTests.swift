// SPDX-License-Identifier: Apache-2.0
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// Records of ended threads are given to other threads, even where the system takes away the
/// variables of a thread before it reports its end.
@Suite("Ends of threads", .timeLimit(.minutes(5)))
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
}
