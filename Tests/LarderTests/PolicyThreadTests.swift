// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Every policy while threads meet.
@Suite("Policies and threads", .timeLimit(.minutes(20)))
struct PolicyThreadTests {
  @Test("Threads may make every call at once", arguments: EvictionPolicy.allCases, [1, 4])
  func everyCallAtOnce(policy: EvictionPolicy, shards: Int) {
    let tracker = LifetimeTracker()
    do {
      let cache = Cache<Int, Tracked>(
        countLimit: 100, totalCostLimit: 10_000, policy: policy, shards: shards)
      onThreads(4) { thread in
        Self.storm(cache, tracker, UInt64(thread), steps: Stress.scaled(10_000, atLeast: 500))
      }
      cache.checkInvariants()
      #expect(cache.count <= 100 && cache.count > 0)
      #expect(settles(tracker, at: cache.count, cache))
    }
    waitUntil("the background thread has released what it had") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  private static func storm(
    _ cache: Cache<Int, Tracked>, _ tracker: LifetimeTracker, _ seed: UInt64, steps: Int
  ) {
    var random = SplitMix64(seed: seed)
    for step in 0..<steps {
      let key = random.below(250)
      switch random.below(32) {
      case 0..<12:
        if let value = cache.value(forKey: key) {
          precondition(value.isIntact && value.payload == key, "a stale value was read")
        }
      case 12..<15: _ = cache.values(forKeys: [key, key + 1])
      case 15..<27: cache.insert(tracker.make(key), forKey: key, cost: random.below(200))
      case 27..<29: cache.removeValue(forKey: key)
      case 29: if step % 64 == 0 { cache.trim(toCount: 50) }
      case 30: if step % 128 == 0 { cache.totalCostLimit = 5_000 + random.below(5_000) }
      default:
        if step % 256 == 0 { cache.removeAll() }
        if step % 64 == 1 { precondition(cache.snapshot().allSatisfy { $0.value.isIntact }) }
        if step % 128 == 2 { cache.countLimit = 50 + random.below(51) }
      }
    }
  }

  @Test("Hits of other threads count", arguments: [EvictionPolicy.clock, .sieve, .s3fifo])
  func hitsOfOtherThreadsCount(policy: EvictionPolicy) {
    let cache = Cache<Int, Int>(countLimit: 100, policy: policy)
    for key in 0..<100 { cache[key] = key }
    onThreads(1) { _ in
      for _ in 0..<3 { for key in 0..<10 { _ = cache[key] } }
    }
    for key in 100..<180 { cache[key] = key }
    #expect((0..<10).allSatisfy { cache.contains($0) })
  }

  @Test("A key is never missing while it is replaced, even if it would be evicted next")
  func replacementOfTheNextVictim() {
    let cache = Cache<Int, Int>(totalCostLimit: 100, policy: .fifo)
    cache.insert(0, forKey: 0, cost: 10)
    let isDone = Protected(false)
    let misses = Protected(0)
    onThreads(2) { thread in
      if thread == 1 {
        while !isDone.withLock({ $0 }) {
          for _ in 0..<100 where cache.peek(forKey: 0) == nil { misses.withLock { $0 += 1 } }
        }
        return
      }
      for round in 0..<Stress.scaled(20_000, atLeast: 500) {
        for key in 1..<10 { cache.removeValue(forKey: key) }
        cache.insert(round, forKey: 0, cost: 10)
        for key in 1..<10 { cache.insert(key, forKey: key, cost: 10) }
        // Key 0 is the oldest, and its new value needs the room of another.
        cache.insert(round, forKey: 0, cost: 20)
        precondition(cache.count == 9 && cache.hottest(1).first?.key == 0)
      }
      isDone.withLock { $0 = true }
    }
    #expect(misses.withLock { $0 } == 0)
  }

  @Test("Hits that a policy ignores leave its order alone")
  func ignoredHits() {
    let fifo = Cache<Int, Int>(countLimit: 3, policy: .fifo)
    let cheapest = Cache<Int, Int>(totalCostLimit: .max, policy: .cheapestFirst)
    for key in 0..<3 {
      fifo[key] = key
      cheapest.insert(key, forKey: key, cost: [5, 1, 3][key])
    }
    for _ in 0..<1_000 { _ = (fifo[0], cheapest[1]) }
    fifo[3] = 3
    #expect(fifo.snapshot().map(\.key) == [3, 2, 1])
    #expect(cheapest.coldest(3).map(\.key) == [1, 2, 0])
  }
}
