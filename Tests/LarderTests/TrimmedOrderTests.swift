// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Trims, lowered limits and memory pressure keep what is used, however much of a cache goes.
@Suite("What a deep trim keeps")
struct TrimmedOrderTests {
  enum Way: CaseIterable { case trim, limit }

  /// Loads twice as many keys as there is room for, while a tenth of them is read all the time.
  private static func heated(_ limit: Int, _ policy: EvictionPolicy) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(countLimit: limit, policy: policy)
    for key in 0..<2 * limit {
      if cache[key] == nil { cache[key] = key }
      guard key >= limit / 10 else { continue }
      for hot in 0..<limit / 10 where cache[hot] == nil { cache[hot] = hot }
    }
    return cache
  }

  private static func hot(_ cache: Cache<Int, Int>, of limit: Int) -> Int {
    (0..<limit / 10).count { cache.contains($0) }
  }

  // Not under ThreadSanitizer: one thread, for half a minute.
  @Test(
    "Keys that are read all the time stay",
    arguments: [EvictionPolicy.adaptive, .lru, .lfu, .tinyLFU, .twoQueue], Way.allCases)
  func readAllTheTime(policy: EvictionPolicy, way: Way) {
    let cases = [(1_000, 200, 100), (1_000, 150, 95), (1_000, 100, 70), (60, 30, 6)]
    for (limit, left, least) in cases {
      let cache = Self.heated(limit, policy)
      let before = Self.hot(cache, of: limit)
      switch way {
      case .trim: cache.trim(toCount: left)
      case .limit: cache.countLimit = left
      }
      #expect(cache.count == left)
      #expect(before == limit / 10 && Self.hot(cache, of: limit) >= least, "of \(limit), \(left)")
      cache.checkInvariants()
    }
  }

  @Test("Under memory pressure they stay, too")
  func pressure() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.heated(1_000, .default)
      MemoryPressure.report(.warning)
      #expect(cache.count == 500 && Self.hot(cache, of: 1_000) == 100)
      MemoryPressure.report(.critical)
      #expect(cache.count == 100 && Self.hot(cache, of: 1_000) >= 70)
      cache.checkInvariants()
    }
  }

  @Test("A tenth of a skewed workload answers most of what the whole did", arguments: [1, 4])
  func skewed(shards: Int) {
    let keys = 20_000
    let limit = 4_000
    let zipf = Zipf(keys)
    var random = SplitMix64(seed: 7)
    // The same keys in each shard, and the same sample, in every run.
    var options = Cache<Int, Int>.Options(shards: shards)
    options.hashSeeds = (1, 2)
    let cache = Cache<Int, Int>(countLimit: limit, options: options)
    let local = LocalCache<Int, Int>(countLimit: limit)
    for _ in 0..<200_000 {
      let key = zipf.draw(&random)
      if cache[key] == nil { cache[key] = key }
      if local[key] == nil { local[key] = key }
    }
    cache.trim(toCount: limit / 10)
    local.trim(toCount: limit / 10)
    let asked = (0..<20_000).map { _ in zipf.draw(&random) }
    // The best 400 keys answer 62 %, and 400 of those stored by chance 8 %.
    #expect(asked.count { cache.contains($0) } > asked.count * 2 / 5)
    #expect(asked.count { local.contains($0) } > asked.count * 2 / 5)
    cache.checkInvariants()
  }

  /// Reads through a set of keys, again and again, beside keys that never come back, so many that
  /// every round brings a purge. Does so with another set, then with a third and a fourth. Returns
  /// the part of each set that the last rounds found.
  private static func drift(limit: Int, preferred: Int, seed: UInt64) -> [Double] {
    let cache = Cache<Int, Int>(
      countLimit: limit, options: .init(shards: 1, preferredCount: preferred))
    let size = preferred * 2 / 3
    var others = 1_000_000 * Int(seed)
    return [0, 10_000, 20_000, 30_000].map { first in
      var found = 0
      for round in 0..<60 {
        for key in first..<first + size {
          if cache[key] == nil { cache[key] = key } else if round >= 50 { found += 1 }
        }
        for key in others..<others + limit * 3 / 5 { cache[key] = key }
        others += limit * 3 / 5
      }
      return Double(found) / Double(10 * size)
    }
  }

  // Not under ThreadSanitizer: one thread, for two minutes.
  @Test("Where purges are the only evictions, another set takes the place of the former one")
  func drift() {
    // Where hits never age, most of the later sets are not found at all.
    for (limit, preferred) in [(1_000, 300), (60, 20)] {
      let found = (1...20).flatMap { Self.drift(limit: limit, preferred: preferred, seed: $0) }
      #expect(found.reduce(0, +) > 0.8 * Double(found.count), "limit \(limit)")
    }
  }

  @Test("A deep trim knows nothing of the one before", arguments: [1, 4], [nil, 4_000])
  func twoTrims(shards: Int, limit: Int?) {
    let cache =
      limit.map { Cache<Int, Int>(countLimit: $0, shards: shards) } ?? Cache(shards: shards)
    let local = limit.map { LocalCache<Int, Int>(countLimit: $0) } ?? LocalCache()
    func read(_ keys: Range<Int>, times: Int) {
      for _ in 0..<times { for key in keys { (_, _) = (cache[key], local[key]) } }
    }
    for key in 0..<1_000 { (cache[key], local[key]) = (key, key) }
    read(0..<1_000, times: 20)
    // The coldest of all these was read as often as can be counted.
    cache.trim(toCount: 500)
    local.trim(toCount: 500)
    let left = (0..<1_000).filter { cache.contains($0) }
    let localLeft = (0..<1_000).filter { local.contains($0) }
    for key in 1_000..<1_500 { (cache[key], local[key]) = (key, key) }
    read(1_000..<1_500, times: limit == nil ? 0 : 2)
    cache.trim(toCount: 500)
    local.trim(toCount: 500)
    #expect(left.count { cache.contains($0) } >= 370)
    #expect(localLeft.count { local.contains($0) } >= 370)
  }

  @Test(
    "What was read often stays before what was read twice, later", arguments: [1_000, 200, 100])
  func lukewarm(left: Int) {
    let cache = Cache<Int, Int>(countLimit: 2_000, shards: 1)
    let local = LocalCache<Int, Int>(countLimit: 2_000)
    for (keys, times) in [(0..<1_800, 15), (1_800..<2_001, 2)] {
      for key in keys { (cache[key], local[key]) = (key, key) }
      for _ in 0..<times { for key in keys { (_, _) = (cache[key], local[key]) } }
    }
    cache.trim(toCount: left)
    local.trim(toCount: left)
    // A part of the newest may stay as well.
    #expect((0..<1_800).count { cache.contains($0) } >= left * 3 / 4)
    #expect((0..<1_800).count { local.contains($0) } >= left * 3 / 4)
    cache.checkInvariants()
  }

  @Test("The steps of a deep trim are bounded", arguments: [1, 16])
  func steps(shards: Int) {
    let count = 20_000
    func steps(_ reads: (Int) -> Int) -> Int {
      let cache = Cache<Int, Int>(countLimit: count, shards: shards)
      for key in 0..<count { cache[key] = key }
      for key in 0..<count { for _ in 0..<reads(key) { _ = cache[key] } }
      let held = cache.count
      let steps = cache.victimSteps
      cache.trim(toCount: held / 10)
      return (cache.victimSteps - steps) / (held - cache.count)
    }
    var random = SplitMix64(seed: 3)
    #expect(steps { _ in 0 } <= 2)
    #expect(steps { _ in 20 } <= 4)
    #expect(steps { $0 == count / 2 ? 1 : 20 } <= 4)
    #expect(steps { $0 % 16 } <= 16)
    #expect(steps { _ in min(20, 20 / Int(random.next() % 20 + 1)) } <= 16)
  }

  @Test("Entries without a cost are passed over where costs are to go", arguments: [1, 4])
  func freeEntries(shards: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 10_000, shards: shards)
    let local = LocalCache<Int, Int>(totalCostLimit: 10_000)
    for key in 0..<1_000 {
      cache.insert(key, forKey: key, cost: key % 10 == 0 ? 0 : 1)
      local.insert(key, forKey: key, cost: key % 10 == 0 ? 0 : 1)
    }
    for key in 0..<1_000 where key % 10 != 0 {
      for _ in 0..<key % 10 { (_, _) = (cache[key], local[key]) }
    }
    cache.trim(toCost: 300)
    local.trim(toCost: 300)
    // After sixteen in a row, one goes.
    #expect((0..<1_000).count { $0 % 10 == 0 && cache.contains($0) } >= 90)
    #expect((0..<1_000).count { $0 % 10 == 0 && local.contains($0) } >= 90)
    #expect(cache.totalCost == 300 && local.totalCost == 300)
    cache.checkInvariants()
    local.checkInvariants()
  }

  @Test("Where nothing was read, the newest stay")
  func unread() {
    for limit in [10, 100, 1_000] {
      let cache = Cache<Int, Int>(countLimit: limit)
      for key in 0..<3 * limit { cache[key] = key }
      cache.trim(toCount: limit / 2)
      let newest = (3 * limit - limit / 2)..<3 * limit
      #expect(newest.count { cache.contains($0) } >= newest.count * 9 / 10)
    }
  }
}

/// Keys whose popularity falls by 1/n.
private struct Zipf {
  private let upTo: [Double]

  init(_ keys: Int) {
    var sum = 0.0
    upTo = (1...keys).map { rank in
      sum += 1 / Double(rank)
      return sum
    }
  }

  func draw(_ random: inout SplitMix64) -> Int {
    let wanted = Double(random.next() >> 11) * 0x1p-53 * upTo.last!
    var low = 0
    var high = upTo.count - 1
    while low < high {
      let middle = (low + high) / 2
      if upTo[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
