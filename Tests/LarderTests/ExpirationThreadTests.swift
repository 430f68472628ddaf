// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// Threads that share a cache, and a clock, whose entries expire.
@Suite("Expiration among threads", .timeLimit(.minutes(20)), .serialized)
struct ExpirationThreadTests {
  /// A value that expires.
  private final class Dated: Sendable {
    let tracked: Tracked
    /// A moment at which its time is over for certain, once that is known.
    let end = Atomic<Int>(.max)

    init(_ tracked: Tracked) { self.tracked = tracked }
  }

  @Test("Nobody finds a value after its deadline, and each value dies once", arguments: [1, 4])
  func storm(shards: Int) {
    let clock = ManualClock()
    let tracker = LifetimeTracker()
    let departures = Atomic<Int>(0)
    let cache = Cache<Int, Dated>(
      countLimit: 300, shards: shards,
      onRemoval: { _, value, _, _ in
        precondition(value.tracked.isIntact)
        departures.add(1, ordering: .relaxed)
      }, expiration: .afterWrite(.seconds(20)), options: .init(clock: .manual(clock)))
    // Seconds that have begun to pass, and those that have passed for all threads.
    let begun = Atomic<Int>(0)
    let passed = Atomic<Int>(0)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<Stress.scaled(30_000, atLeast: 1_000) {
        if thread == 0 && step % 8 == 0 {
          begun.add(1, ordering: .sequentiallyConsistent)
          clock.advance(by: .seconds(1))
          passed.add(1, ordering: .sequentiallyConsistent)
        }
        let key = random.below(500)
        let now = passed.load(ordering: .sequentiallyConsistent)
        func check(_ value: Dated) {
          precondition(value.tracked.isIntact)
          precondition(value.end.load(ordering: .sequentiallyConsistent) > now, "found too late")
        }
        func store(for lifetime: Int, _ insert: (Dated) -> InsertionOutcome) {
          let value = Dated(tracker.make(key))
          guard insert(value).isStored, key < 400 else { return }
          let latest = begun.load(ordering: .sequentiallyConsistent)
          value.end.store(latest + lifetime, ordering: .sequentiallyConsistent)
        }
        switch random.below(16) {
        case 0..<5: if let value = cache[key] { check(value) }
        case 5: _ = cache.withValue(forKey: key, check)
        case 6: if let value = cache.peek(forKey: key) { check(value) }
        case 7:
          for case let value? in cache.values(forKeys: [key, key + 1, key + 2]) { check(value) }
        case 8..<11:
          let own = 1 + random.below(40)
          store(for: own) { cache.insert($0, forKey: key, expiresAfter: .seconds(own)) }
        case 11..<13: store(for: 20) { cache.insert($0, forKey: key) }
        case 13: if let value = cache.removeValue(forKey: key) { check(value) }
        // Only here may an entry live longer than the insertion said.
        case 14: cache.setLifetime(.seconds(random.below(30)), forKey: 400 + random.below(100))
        default: if random.below(20) == 0 { cache.removeExpired() }
        }
        precondition(cache.count <= 300)
      }
    }
    cache.checkInvariants()
    clock.advance(by: .seconds(1_000))
    cache.removeExpired()
    #expect(cache.isEmpty)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
    #expect(departures.load(ordering: .relaxed) == tracker.created)
  }

  /// The wheel has a spoke for about a millisecond: here all entries of a shard share one or two.
  @Test("removeExpired() takes all that had expired, though the clock goes on", arguments: [1, 4])
  func busyTurn(shards: Int) {
    let clock = ManualClock()
    clock.advance(by: .nanoseconds(150 * 4_096))
    let cache = Cache<Int, Int>(
      shards: shards, expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    let ticks = 200
    let perTick = 40
    for key in 0..<ticks * perTick {
      let tick = key % ticks + 1
      cache.insert(key, forKey: key, expiresAfter: .nanoseconds(tick * 4_096))
    }
    let passed = Atomic<Int>(0)
    onThreads(3) { thread in
      while passed.load(ordering: .sequentiallyConsistent) < ticks {
        if thread == 0 {
          clock.advance(by: .nanoseconds(4_096))
          passed.add(1, ordering: .sequentiallyConsistent)
        }
        let now = passed.load(ordering: .sequentiallyConsistent)
        cache.removeExpired()
        precondition(cache.count <= (ticks - now) * perTick, "some were left")
      }
    }
    #expect(cache.isEmpty)
    #expect(cache.statistics.expirations == UInt64(ticks * perTick))
    cache.checkInvariants()
  }
}
