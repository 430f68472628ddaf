// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Caches whose cost limit binds, with costs of all sizes.
// Not under ThreadSanitizer: long work of one thread.
@Suite("Costs that bind", .timeLimit(.minutes(20)))
struct BindingCostTests {
  private static let limit = 100_000

  /// The hit ratio of half of the requests, which favour low keys. All others are for new keys, one
  /// in `every` of them of cost `large`; all else costs 10. What is missed is stored.
  private static func hitRatio(large: Int, every: Int) -> Double {
    let cache = Cache<Int, Int>(totalCostLimit: limit, shards: 1, options: .repeatable())
    var random = SplitMix64(seed: 11)
    let requests = Stress.scaled(1_000_000, atLeast: 200_000)
    var (hits, lookups) = (0, 0)
    for number in 0..<requests {
      let isNew = random.below(2) == 0
      // The square favours low keys.
      let key = isNew ? 1_000_000 + number : random.below(300) * random.below(300)
      let isFound = cache.value(forKey: key) != nil
      if !isNew && number > requests / 2 {
        lookups += 1
        if isFound { hits += 1 }
      }
      if isFound { continue }
      let cost = isNew && random.below(every) == 0 ? large : 10
      cache.insert(key, forKey: key, cost: cost)
    }
    return Double(hits) / Double(lookups)
  }

  @Test("Large entries that leave do not let new keys push out what is hit", arguments: [0.1, 0.2])
  func largeEntriesLeave(part: Double) {
    let without = Self.hitRatio(large: 10, every: 500)
    let with = Self.hitRatio(large: Int(part * Double(Self.limit)), every: 500)
    #expect(without > 0.3)
    #expect(with > 0.85 * without, "\(with) of \(without)")
  }

  @Test(
    "What was stored first says nothing of the costs that follow",
    arguments: [10, 13, 16, 18, 25], [1, 4])
  func firstCosts(first: Int, shards: Int) {
    let room = 1_000
    let cache = Cache<Int, Int>(
      totalCostLimit: 10 * room, shards: shards, options: .repeatable(UInt64(first)))
    var hits = 0
    // Each is read once, when four fifths of what fits have been stored since: FIFO keeps all.
    for key in 0..<40 * room {
      cache.insert(key, forKey: key, cost: key < room / 10 ? first : 10)
      let old = key - 4 * room / 5
      if cache.value(forKey: old) != nil && key >= 20 * room { hits += 1 }
    }
    #expect(hits > 19 * room, "\(hits) of \(20 * room)")
  }

  @Test("Costs may fall for good", arguments: [1, 4])
  func costsFall(shards: Int) {
    let room = 1_000
    let cache = Cache<Int, Int>(totalCostLimit: 10 * room, shards: shards, options: .repeatable(7))
    var hits = 0
    for key in 0..<50 * room {
      cache.insert(key, forKey: key, cost: key < 5 * room ? 16 : 10)
      let old = key - 4 * room / 5
      if cache.value(forKey: old) != nil && key >= 30 * room { hits += 1 }
    }
    #expect(hits > 19 * room, "\(hits) of \(20 * room)")
  }

  @Test(
    "An entry that is hit stays, and be it much dearer than a shard's part of the limit",
    arguments: [EvictionPolicy.adaptive, .lru], [4, 16])
  func dearEntryStays(policy: EvictionPolicy, shards: Int) {
    let cache = Cache<Int, Int>(
      totalCostLimit: Self.limit, policy: policy, shards: shards, options: .repeatable())
    var random = SplitMix64(seed: 3)
    var (hits, lookups) = (0, 0)
    for number in 0..<Stress.scaled(400_000, atLeast: 100_000) {
      let isDear = random.below(50) == 0
      let isNew = random.below(2) == 0
      let key = isDear ? -1 : isNew ? 1_000_000 + number : random.below(300) * random.below(300)
      let isFound = cache.value(forKey: key) != nil
      if isDear && number > 50_000 {
        lookups += 1
        if isFound { hits += 1 }
      }
      if !isFound { cache.insert(key, forKey: key, cost: isDear ? Self.limit * 2 / 5 : 10) }
    }
    #expect(hits > lookups * 9 / 10, "\(hits) of \(lookups)")
    cache.checkInvariants()
  }

  @Test(
    "Where count and cost are limited, memories of keys are not made anew all the time",
    arguments: [EvictionPolicy.tinyLFU, .costAware, .s3fifo, .twoQueue])
  func memories(policy: EvictionPolicy) {
    let cache = Cache<Int, Int>(
      countLimit: 1_000_000, totalCostLimit: 20_000_000, policy: policy,
      options: .init(shards: 1))
    var (sizes, last) = (0, 0)
    for key in 0..<20_000 {
      cache.insert(key, forKey: key, cost: key < 10_000 ? 2_000 : 1_000)
      let bytes = cache.policyBytes
      if bytes != last { sizes += 1 }
      last = bytes
    }
    #expect(sizes < 30, "\(sizes) sizes")
  }

  @Test("A cache that was trimmed to nothing fills up as if it were new")
  func fillsAgain() {
    func survivors(_ empty: (Cache<Int, Int>) -> Void) -> Int {
      let cache = Cache<Int, Int>(countLimit: 1_000, policy: .s3fifo, shards: 1)
      for key in 0..<2_000 { cache[key] = key }
      empty(cache)
      for key in 5_000..<6_000 { cache[key] = key }
      for key in 5_000..<6_000 { _ = cache[key] }
      for key in 7_000..<7_500 { cache[key] = key }
      return (5_000..<6_000).filter { cache.contains($0) }.count
    }
    let anew = survivors { $0.removeAll() }
    #expect(anew > 800)
    #expect(survivors { $0.trim(toCount: 0) } > anew - 20)
    #expect(survivors { cache in for key in 0..<2_000 { cache[key] = nil } } > anew - 20)
  }

  @Test("Uses count for entries of every cost", arguments: [0, 20, 32, 34, 40])
  func largeCosts(shift: Int) {
    let cache = Cache<Int, Int>(
      totalCostLimit: 100 << shift, policy: .costAware, shards: 1, options: .repeatable())
    for key in 0..<10 { cache.insert(key, forKey: key, cost: 8 << shift) }
    for _ in 0..<20 { for key in 0..<5 { _ = cache[key] } }
    for key in 100..<200 {
      cache.insert(key, forKey: key, cost: 8 << shift)
      for key in 0..<5 { _ = cache[key] }
    }
    #expect((0..<5).allSatisfy { cache.contains($0) })
  }

  @Test(
    "No entry without cost is evicted for cost by a policy that keeps these",
    arguments: [1, 8])
  func withoutCost(shards: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 1_000, policy: .costAware, shards: shards)
    for key in 0..<1_000 { cache.insert(key, forKey: key, cost: 0) }
    for key in 2_000..<2_016 { cache.insert(key, forKey: key, cost: 250) }
    #expect((0..<1_000).allSatisfy { cache.contains($0) })
    cache.checkInvariants()
  }
}
