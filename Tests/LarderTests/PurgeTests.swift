// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Trimming by cost, and purges to low-water marks.
@Suite("Trims and purges", .timeLimit(.minutes(20)))
struct PurgeTests {
  @Test("trimCostliest evicts the costliest first, and no more than necessary", arguments: [1, 4])
  func costliestGoFirst(shards: Int) {
    let causes = Protected<[(key: Int, cost: Int)]>([])
    let cache = Cache<Int, Int>(policy: .lru, shards: shards) { key, _, cost, cause in
      precondition(cause == .trimmed)
      causes.withLock { $0.append((key, cost)) }
    }
    var random = SplitMix64(seed: 5)
    let costs = (0..<1_000).map { _ in random.below(1_000) }
    for (key, cost) in costs.enumerated() { cache.insert(key, forKey: key, cost: cost) }
    let total = costs.reduce(0, +)
    #expect(cache.totalCost == total)
    cache.trimCostliest(toCost: total)
    #expect(cache.count == 1_000)
    cache.trimCostliest(toCost: total / 2)
    var left = total
    var expected: [Int] = []
    for cost in costs.sorted(by: >) where left > total / 2 {
      expected.append(cost)
      left -= cost
    }
    #expect(causes.withLock { $0.map(\.cost) } == expected)
    #expect(cache.totalCost == left && cache.count == 1_000 - expected.count)
    #expect(cache.statistics.trimEvictions == expected.count)
    cache.trimCostliest(toCost: 0)
    #expect(cache.totalCost == 0 && cache.count == costs.count { $0 == 0 })
    cache.checkInvariants()
  }

  @Test("Replacements in a full cache begin no purge")
  func replacementsBeginNoPurge() {
    let cache = Cache<Int, Int>(
      countLimit: 100, policy: .lru, options: .init(preferredCount: 50))
    for key in 0..<100 { cache[key] = key }
    for key in 0..<100 { cache[key] = -key }
    #expect(cache.count == 100)
    cache[100] = 100
    #expect(cache.count < 100)
  }

  @Test("Whoever counts insertions and removals knows what is stored")
  func observersHearInOrder() {
    let there = Protected<Set<Int>>([])
    let cache = Cache<Int, Int>(
      countLimit: 4, policy: .lfu, shards: 1,
      options: .init(
        onRemoval: { key, _, _, _ in
          let wasThere = there.withLock { $0.remove(key) != nil }
          #expect(wasThere, "told before it was stored")
        }, onInsertion: { key, _, _ in there.withLock { _ = $0.insert(key) } }, preferredCount: 2))
    for key in 0..<100 {
      cache[key] = key
      for old in 0..<key { _ = cache[old] }
      #expect(there.withLock { $0 } == Set(cache.keys))
    }
  }

  @Test("Costs whose sum is beyond Int.max can be trimmed")
  func costsBeyondIntMax() {
    let cache = Cache<Int, Int>()
    for key in 0..<5 { cache.insert(key, forKey: key, cost: .max) }
    cache.insert(5, forKey: 5, cost: 7)
    cache.trimCostliest(toCost: 10)
    #expect(cache.keys == [5] && cache.totalCost == 7)
    cache.checkInvariants()
  }

  @Test("Negative bounds stop the process")
  func negativeBoundsTrap() async {
    await #expect(processExitsWith: .failure) { Cache<Int, Int>().trimCostliest(toCost: -1) }
    await #expect(processExitsWith: .failure) {
      _ = Cache<Int, Int>(options: .init(preferredCount: -1))
    }
  }

  @Test("Others may write during a trim", arguments: [1, 4])
  func trimmingBesideWriters(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(totalCostLimit: 5_000, shards: shards)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<Stress.scaled(3_000, atLeast: 300) {
        if thread == 0 && step % 10 == 0 {
          cache.trimCostliest(toCost: 2_500)
        } else {
          let key = random.below(800)
          cache.insert(tracker.make(key), forKey: key, cost: random.below(40))
        }
      }
    }
    cache.trimCostliest(toCost: 1_000)
    #expect(cache.totalCost <= 1_000)
    cache.checkInvariants()
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("A full cache is purged to its marks, eight entries in each call", arguments: [1, 4])
  func purgeToTheMarks(shards: Int) {
    let removals = Protected(0)
    let cache = Cache<Int, Int>(
      countLimit: 1_000, policy: .lru, shards: shards,
      onRemoval: { _, _, _, _ in removals.withLock { $0 += 1 } },
      options: .init(preferredCount: 600))
    for key in 0..<1_000 { cache[key] = key }
    #expect(cache.count == 1_000)
    var (insertions, most) = (0, 0)
    while cache.count > 600 {
      let before = removals.withLock { $0 }
      cache[1_000 + insertions] = insertions
      insertions += 1
      most = max(most, removals.withLock { $0 } - before)
      #expect(cache.count <= 1_000)
      if insertions > 1_000 { break }
    }
    #expect(most <= 9)
    #expect((40...70).contains(insertions), "\(insertions) insertions")
    // The purge is over, so the cache fills again without evictions.
    let before = removals.withLock { $0 }
    for key in 0..<400 { cache[5_000 + key] = key }
    #expect(removals.withLock { $0 } == before && cache.count == 1_000)
    cache.checkInvariants()
  }

  @Test("A mark of cost works in the same way, and a mark above the limit has no effect")
  func costMarks() {
    let cache = Cache<Int, Int>(
      totalCostLimit: 100, policy: .lru, options: .init(preferredTotalCost: 40))
    for key in 0..<10 { cache.insert(key, forKey: key, cost: 10) }
    #expect(cache.totalCost == 100)
    cache.insert(10, forKey: 10, cost: 10)
    #expect(cache.totalCost == 40 && cache.keys == [10, 9, 8, 7])
    cache.insert(11, forKey: 11, cost: 0)
    #expect(cache.totalCost == 40)
    cache.insert(13, forKey: 13, cost: 50)
    #expect(cache.insert(12, forKey: 12, cost: .max) == .tooCostly)
    cache.insert(14, forKey: 14, cost: 0)
    #expect(cache.totalCost == 90)
    let above = Cache<Int, Int>(countLimit: 10, options: .init(preferredCount: 20))
    for key in 0..<50 { above[key] = key }
    #expect(above.count == 10)
    let unlimited = Cache<Int, Int>(options: .init(preferredCount: 20))
    for key in 0..<50 { unlimited[key] = key }
    #expect(unlimited.count == 50)
  }
}
