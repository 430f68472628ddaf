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
