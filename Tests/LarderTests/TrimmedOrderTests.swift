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
    let cache = Cache<Int, Int>(countLimit: limit, shards: shards)
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

  @Test("Where purges are the only evictions, another set takes the place of the former one")
  func drift() {
    let options = Cache<Int, Int>.Options(preferredCount: 300)
    let cache = Cache<Int, Int>(countLimit: 1_000, options: options)
    var others = 1_000_000
    /// Reads through 200 keys, again and again, beside keys that never come back, so many that every
    /// round brings a purge. Returns how many the last ten rounds found.
    func work(from first: Int) -> Int {
      var found = 0
      for round in 0..<40 {
        if round == 30 { found = 0 }
        for key in first..<first + 200 {
          if cache[key] != nil { found += 1 } else { cache[key] = key }
        }
        for key in others..<others + 600 { cache[key] = key }
        others += 600
      }
      return found
    }
    for first in [0, 10_000, 20_000, 30_000] { #expect(work(from: first) > 1_000) }
    cache.checkInvariants()
  }

  @Test("A deep trim knows nothing of the one before", arguments: [1, 4])
  func twoTrims(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    let local = LocalCache<Int, Int>()
    for key in 0..<1_000 { (cache[key], local[key]) = (key, key) }
    for _ in 0..<20 { for key in 0..<1_000 { (_, _) = (cache[key], local[key]) } }
    // The coldest of all these was read as often as can be counted.
    cache.trim(toCount: 500)
    local.trim(toCount: 500)
    let read = ((0..<1_000).filter { cache.contains($0) }, (0..<1_000).filter { local.contains($0) })
    for key in 1_000..<1_500 { (cache[key], local[key]) = (key, key) }
    cache.trim(toCount: 500)
    local.trim(toCount: 500)
    // One of sixteen goes, until the unread ones are reached.
    #expect(read.0.count { cache.contains($0) } >= 450)
    #expect(read.1.count { local.contains($0) } >= 450)
  }

  @Test("What costs nothing goes after what costs, however often that is read")
  func freeEntries() {
    let cache = Cache<Int, Int>(totalCostLimit: 1_000)
    let local = LocalCache<Int, Int>(totalCostLimit: 1_000)
    for key in 0..<1_000 {
      cache.insert(key, forKey: key, cost: 1)
      local.insert(key, forKey: key, cost: 1)
    }
    for key in 2_000..<2_020 {
      cache.insert(key, forKey: key, cost: 0)
      local.insert(key, forKey: key, cost: 0)
    }
    for _ in 0..<3 {
      for key in 0..<1_000 {
        _ = cache[key]
        _ = local[key]
      }
    }
    cache.trim(toCost: 500)
    local.trim(toCost: 500)
    #expect((2_000..<2_020).count { cache.contains($0) } == 20)
    #expect((2_000..<2_020).count { local.contains($0) } == 20)
    #expect(cache.totalCost == 500 && local.totalCost == 500)
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
