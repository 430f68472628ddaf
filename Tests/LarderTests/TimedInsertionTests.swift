// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Insertions of entries that live long, and replacements and evictions by them: most of these take
/// the same short way as where nothing expires.
@Suite("Insertions of what expires much later")
struct TimedInsertionTests {
  private typealias Numbers = Cache<Int, Int>
  static let rules: [Expiration] = [
    .afterWrite(.seconds(3_600)), .afterAccess(.seconds(3_600)),
    Expiration(afterWrite: .seconds(7_200), afterAccess: .seconds(3_600), jitter: 0.25),
  ]

  @Test("All that stays has a deadline, and what was evicted has none", arguments: rules, [1, 4])
  func evictions(rule: Expiration, shards: Int) {
    let clock = ManualClock()
    let cache = Numbers(
      countLimit: 500, shards: shards, expiration: rule, options: .init(clock: .manual(clock)))
    for key in 0..<3_000 {
      cache[key] = key
      if key % 7 == 0 { cache[key] = -key }
      if key % 100 == 0 { clock.advance(by: .milliseconds(700)) }
    }
    cache.checkInvariants()
    #expect(cache.statistics.evictions + 500 == 3_000 && cache.count == 500)
    clock.advance(by: .seconds(7_200))
    #expect(cache.keys.isEmpty)
    #expect(cache.removeExpired() == 500 && cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("They grow the cache, and costs stay what they are", arguments: rules)
  func growth(rule: Expiration) {
    let clock = ManualClock()
    let cache = Numbers(expiration: rule, options: .init(clock: .manual(clock)))
    for key in 0..<20_000 { cache.insert(key, forKey: key, cost: key % 3 == 0 ? key : 0) }
    cache.checkInvariants()
    #expect(cache.totalCost == stride(from: 0, to: 20_000, by: 3).reduce(0, +))
    for key in 0..<20_000 { #expect(cache[key] == key) }
    clock.advance(by: .seconds(7_200))
    #expect(cache.removeExpired() == 20_000 && cache.totalCost == 0)
    cache.checkInvariants()
  }

  @Test("What is due goes first, whatever its neighbours live for", arguments: [1, 4])
  func due(shards: Int) {
    let clock = ManualClock()
    let cache = Numbers(
      countLimit: 200, policy: .lru, shards: shards, expiration: .afterWrite(.seconds(3_600)),
      options: .init(clock: .manual(clock)))
    for key in 0..<100 { cache[key] = key }
    for key in 100..<200 { cache.insert(key, forKey: key, expiresAfter: .seconds(5)) }
    clock.advance(by: .seconds(6))
    for key in 200..<300 { cache[key] = key }
    #expect(cache.statistics.evictions == 0 && cache.statistics.expirations == 100)
    cache[300] = 300
    #expect(cache.statistics.evictions == 1)
    cache.checkInvariants()
  }

  /// By the system's clock: a clock that is moved by hand is read at each hit.
  @Test("Hits are noted in the order where entries expire later", arguments: EvictionPolicy.exact)
  func order(policy: EvictionPolicy) {
    var options = Numbers.Options()
    options.hashSeeds = (1, 2)
    let caches = [Expiration.never, .afterWrite(.seconds(3_600)), .afterAccess(.seconds(3_600))].map
    {
      Numbers(
        countLimit: 100, totalCostLimit: 1 << 40, policy: policy, expiration: $0, options: options)
    }
    for cache in caches {
      // Among equal costs, what was stored last is the hottest.
      for key in 0..<100 { cache.insert(key, forKey: key, cost: 1 + key) }
      for key in 0..<300 where key % 3 == 0 { _ = cache[key % 100] }
      for key in 100..<140 { cache.insert(key, forKey: key, cost: 1 + key) }
      cache.checkInvariants()
    }
    #expect(caches[1].keys == caches[0].keys)
    #expect(caches[2].keys == caches[0].keys)
  }
}
