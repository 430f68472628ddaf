// SPDX-License-Identifier: Apache-2.0
import CLarderTestSupport
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// If membarrier is missing, readers pass full fences, and everything else holds unchanged.
@Suite("Without membarrier", .timeLimit(.minutes(20)))
struct FenceFallbackTests {
  @Test("Readers keep what they hold while writers evict and replace it", arguments: [1, 4])
  func readersAndWriters(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      guard lrdt_forbid_membarrier() else { return print("seccomp is not to be had: skipped") }
      let tracker = LifetimeTracker()
      do {
        let cache = Cache<Int, Tracked>(countLimit: 16, shards: shards)
        precondition(!lrdt_has_asymmetric_fence(), "the core believes in membarrier")
        let writing = Atomic<Int>(2)
        onThreads(4) { thread in
          var random = SplitMix64(seed: UInt64(thread))
          if thread < 2 {
            for _ in 0..<Stress.scaled(50_000, atLeast: 2_000) {
              let key = random.below(24)
              cache[key] = tracker.make(key)
            }
            writing.subtract(1, ordering: .releasing)
          }
          while writing.load(ordering: .acquiring) > 0 {
            let key = random.below(24)
            cache.withValue(forKey: key) { lent in
              precondition(lent.isIntact && lent.payload == key, "a lent value died")
            }
            if let value = cache[key] { precondition(value.isIntact && value.payload == key) }
            for case let value? in cache.values(forKeys: [key, key + 1, 23 - key]) {
              precondition(value.isIntact)
            }
          }
        }
        precondition(cache.statistics.hits > 0 && cache.count <= 16)
        cache.checkInvariants()
      }
      waitUntil("all is released") { tracker.live == 0 }
      precondition(tracker.faults.isEmpty)
    }
  }

  @Test("A lone thread sees exact LRU and prompt release")
  func loneThread() async {
    await #expect(processExitsWith: .success) {
      guard lrdt_forbid_membarrier() else { return print("seccomp is not to be had: skipped") }
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 3, policy: .lru)
      for key in 0..<3 { cache[key] = tracker.make(key) }
      precondition(cache[0]?.payload == 0 && cache.contains(1))
      cache[3] = tracker.make(3)
      precondition(cache.hottest(4).map(\.key) == [3, 0, 2])
      precondition(tracker.live == 3 && tracker.destroyed == 1)
      precondition(cache.statistics.hits == 1 && !lrdt_has_asymmetric_fence())
    }
  }
}
