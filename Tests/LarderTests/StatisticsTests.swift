// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Statistics", .timeLimit(.minutes(20)))
struct StatisticsTests {
  @Test("Statistics of a period are a difference, and those of several caches a sum")
  func arithmetic() async throws {
    let caches = [Cache<Int, Int>(countLimit: 2), Cache<Int, Int>(countLimit: 2)]
    for cache in caches { for key in 0..<5 { cache[key] = key } }
    let before = caches.map(\.statistics)
    let loadsBefore = caches.map(\.loadStatistics)
    for cache in caches {
      _ = try await cache.value(forKey: 7) { $0 }
      _ = cache[7]
      cache.removeValue(forKey: 7)
    }
    let after = caches.map(\.statistics)
    let period = after.reduce(.zero, +) - before.reduce(.zero, +)
    #expect(period.hits == 2 && period.misses == 2 && period.insertions == 2)
    #expect(period.removals == 2 && period.evictions == 2 && period.hitRatio == 0.5)
    #expect(period + before.reduce(.zero, +) == after.reduce(.zero, +))
    let loads = caches.map(\.loadStatistics).reduce(.zero, +) - loadsBefore.reduce(.zero, +)
    #expect(loads.loads == 2 && loads.failures == 0 && loads - loads == .zero)
  }

  @Test("Each call counts once, under its name", arguments: [1, 4])
  func eachCallCountsOnce(shards: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 100, shards: shards)
    #expect(cache.statistics.hitRatio == 0)
    cache.insert(1, forKey: 1, cost: 10)
    cache[2] = 2
    cache.insert(3, forKey: 1, cost: 20)
    cache.updateValue(4, forKey: 4, cost: 5)
    cache.insert(5, forKey: 5, cost: 101)
    _ = (cache[1], cache.value(forKey: 9), cache.withValue(forKey: 1) { $0 })
    _ = cache.values(forKeys: [1, 2, 9, 9])
    _ = (cache.peek(forKey: 1), cache.peek(forKey: 9), cache.contains(1), cache.contains(9))
    cache.removeValue(forKey: 4)
    cache.removeValue(forKey: 4)
    cache[4] = nil
    cache.trim(toCount: 1)
    let statistics = cache.statistics
    #expect(statistics.hits == 4 && statistics.misses == 3)
    #expect(statistics.hitRatio == 4.0 / 7.0)
    #expect(statistics.insertions == 3 && statistics.replacements == 1)
    #expect(statistics.removals == 1 && statistics.refusals == 1)
    #expect(statistics.trimEvictions == 1 && statistics.evictions == 1)
  }

  @Test("Evictions are counted by cause")
  func evictionsByCause() {
    let byCount = Cache<Int, Int>(countLimit: 10)
    for key in 0..<25 { byCount.insert(key, forKey: key, cost: 3) }
    #expect(byCount.statistics.countLimitEvictions == 15)
    #expect(byCount.statistics.costLimitEvictions == 0)
    byCount.countLimit = 4
    #expect(byCount.statistics.trimEvictions == 6)
    byCount.totalCostLimit = 6
    #expect(byCount.statistics.trimEvictions == 8)
    byCount.trim(toCost: 3)
    #expect(byCount.statistics.trimEvictions == 9 && byCount.statistics.evictions == 24)
    let byCost = Cache<Int, Int>(totalCostLimit: 10)
    for key in 0..<8 { byCost.insert(key, forKey: key, cost: 3) }
    #expect(byCost.statistics.costLimitEvictions == 5)
    #expect(byCost.statistics.countLimitEvictions == 0 && byCost.statistics.evictions == 5)
  }

  @Test("removeAll counts every entry it removes")
  func removeAllCountsEveryEntry() {
    let cache = Cache<Int, Int>()
    for key in 0..<10 { cache[key] = key }
    cache.removeAll { key, _ in key < 4 }
    #expect(cache.statistics.removals == 4)
    cache.removeAll()
    #expect(cache.statistics.removals == 10 && cache.statistics.evictions == 0)
  }

  @Test("No hit or miss of any thread is lost, even after the thread has ended", arguments: [1, 4])
  func manyThreads(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    for key in 0..<100 { cache[key] = key }
    let rounds = Stress.scaled(20_000, atLeast: 500)
    for _ in 0..<3 {
      onThreads(8) { index in
        for round in 0..<rounds { _ = cache.value(forKey: (round + index) % 150) }
      }
    }
    let statistics = cache.statistics
    let hits = (0..<8).reduce(0) { sum, index in
      sum + (0..<rounds).reduce(0) { $0 + (($1 + index) % 150 < 100 ? 1 : 0) }
    }
    #expect(statistics.hits == hits * 3)
    #expect(statistics.misses == (8 * rounds - hits) * 3)
  }

  @Test("Counters account for all entries under concurrent writes", arguments: [1, 4])
  func countersUnderConcurrentWrites(shards: Int) {
    let observed = Protected(0)
    let cache = Cache<Int, Int>(countLimit: 200, totalCostLimit: 900, shards: shards) {
      _, _, _, _ in observed.withLock { $0 += 1 }
    }
    let inserted = Protected(0)
    onThreads(4) { index in
      var random = SplitMix64(seed: UInt64(index))
      var stored = 0
      for _ in 0..<Stress.scaled(20_000, atLeast: 500) {
        let key = random.below(400)
        switch random.below(8) {
        case 0: cache.removeValue(forKey: key)
        case 1: _ = cache[key]
        default:
          cache.insert(key, forKey: key, cost: random.below(9))
          stored += 1
        }
      }
      inserted.withLock { $0 += stored }
    }
    let end = cache.statistics
    #expect(end.insertions + end.replacements == inserted.withLock { $0 })
    #expect(end.insertions == end.removals + end.evictions + cache.count)
    #expect(end.replacements + end.removals + end.evictions == observed.withLock { $0 })
    #expect(cache.count <= 200 && cache.totalCost <= 900)
    #expect(cache.totalCost == cache.snapshot().reduce(0) { $0 + $1.cost })
    cache.checkInvariants()
  }

  /// Two keys that do not fit together, so writers evict each other's values to make room.
  @Test("The counters of a quiet cache add up, whoever replaced what")
  func countersOfAQuietCache() {
    for round in 0..<Stress.scaled(200, atLeast: 20) {
      let cache = Cache<Int, Int>(totalCostLimit: 5, policy: .lru, shards: 64)
      onThreads(4) { thread in
        var random = SplitMix64(seed: UInt64(round * 4 + thread))
        for _ in 0..<200 { cache.insert(0, forKey: random.below(2), cost: 1 + random.below(5)) }
      }
      let counted = cache.statistics
      #expect(counted.insertions - counted.removals - counted.evictions == cache.count)
    }
  }
}
