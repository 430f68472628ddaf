// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Lifetimes of a whole cache: after a write, after the last use, both, with jitter, and changed.
@Suite("Lifetimes of a whole cache")
struct ExpirationRuleTests {
  private let clock = ManualClock()
  private var resolution: Duration { ExpirationTests.resolution }

  private func make(_ expiration: Expiration, shards: Int = 1) -> Cache<Int, Int> {
    Cache(shards: shards, expiration: expiration, options: .init(clock: .manual(clock)))
  }

  @Test(
    "A use begins the idle time anew", arguments: EvictionPolicy.allCases.filter { !$0.needsCosts })
  func idle(policy: EvictionPolicy) {
    let cache = Cache<Int, Int>(
      countLimit: 1_000, policy: policy, expiration: .afterAccess(.seconds(64)),
      options: .init(clock: .manual(clock)))
    for key in 0..<6 { cache[key] = key }
    for _ in 0..<10 {
      clock.advance(by: .seconds(40))
      #expect(cache.value(forKey: 0) == 0)
      #expect(cache.withValue(forKey: 1) { $0 } == 1)
      #expect(cache.values(forKeys: [2]) == [2])
      cache.modifyValue(forKey: 3) { _ in }
      cache[4] = 4
      cache.removeExpired()
    }
    #expect(cache[5] == nil && cache.count == 5)
    // Lookups note what moves the deadline by more than a second.
    clock.advance(by: .seconds(62))
    #expect(cache.keys.sorted() == [0, 1, 2, 3, 4])
    clock.advance(by: .seconds(2))
    #expect(cache.keys.isEmpty && cache.removeExpired() <= 5 && cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("A lifetime of zero ends what is stored, whatever the jitter", arguments: [0, 0.5, 1])
  func zero(jitter: Double) {
    let rules = [
      Expiration.afterWrite(.zero, jitter: jitter), .afterWrite(.seconds(-1), jitter: jitter),
      .init(afterAccess: .zero, jitter: jitter),
    ]
    for rule in rules {
      let cache = make(.init(afterWrite: .seconds(10), afterAccess: .seconds(10)), shards: 4)
      for key in 0..<100 { cache[key] = key }
      cache.expiration = rule
      #expect((0..<100).allSatisfy { cache[$0] == nil })
      #expect(cache.removeExpired() == 100 && cache.insert(1, forKey: 1) == .expired)
    }
  }

  @Test("On the system's clock, a lookup right after a change goes by the new lifetime")
  func changedOnSystemClock() {
    let cache = Cache<Int, Int>(expiration: .afterWrite(.seconds(100)))
    for _ in 0..<100 {
      cache.expiration = .afterWrite(.seconds(100))
      cache[1] = 1
      #expect(cache[1] == 1)
      cache.expiration = .afterWrite(.zero)
      #expect(cache[1] == nil && cache.peek(forKey: 1) == nil && !cache.contains(1))
    }
  }

  @Test("Uses in quick succession never lengthen the idle time, and shorten it by a 64th at most")
  func frequentUses() {
    let cache = make(.afterAccess(.seconds(64)))
    cache[1] = 1
    for step in 1...1_000 {
      clock.advance(by: .milliseconds(step % 7 * 100))
      #expect(cache[1] == 1)
    }
    clock.advance(by: .seconds(63) - resolution)
    #expect(cache.contains(1))
    clock.advance(by: .seconds(1) + resolution)
    #expect(!cache.contains(1))
  }

  @Test("peek, contains, copies, statistics and questions about lifetimes do not use an entry")
  func noUse() {
    let cache = make(.afterAccess(.seconds(10)))
    cache[1] = 1
    for _ in 0..<2 {
      #expect(cache.peek(forKey: 1) == 1 && cache.contains(1) && cache.snapshot().count == 1)
      #expect(cache.keys == [1] && cache.statistics.hits == 0)
      #expect(cache.remainingLifetime(forKey: 1) != nil)
      cache.removeAll { _, _ in false }
      clock.advance(by: .seconds(5))
    }
    #expect(!cache.contains(1))
  }

  @Test("Of two deadlines the earlier one counts")
  func combined() throws {
    let cache = make(Expiration(afterWrite: .seconds(100), afterAccess: .seconds(30)))
    cache[1] = 1
    cache[2] = 2
    cache.insert(3, forKey: 3, expiresAfter: .seconds(50))
    for _ in 0..<4 {
      clock.advance(by: .seconds(24))
      _ = cache[1]
      _ = cache[3]
    }
    #expect(cache.keys == [1])
    let left = try #require(cache.remainingLifetime(forKey: 1))
    #expect(left <= .seconds(4) && left >= .seconds(4) - resolution)
    clock.advance(by: .seconds(4))
    #expect(cache[1] == nil && cache.removeExpired() <= 3)
    cache.checkInvariants()
  }

  @Test("A new rule holds for what is stored, by the time of its writing", arguments: [1, 4])
  func changedRule(shards: Int) {
    let cache = make(.afterWrite(.seconds(100)), shards: shards)
    for key in 0..<200 { cache[key] = key }
    cache.insert(0, forKey: 1_000, expiresAfter: .seconds(500))
    clock.advance(by: .seconds(50))
    for key in 200..<300 { cache[key] = key }
    cache.expiration = .afterWrite(.seconds(60))
    #expect(cache.expiration == .afterWrite(.seconds(60)))
    #expect(cache.keys.count == 301)
    clock.advance(by: .seconds(10))
    #expect(cache.keys.count == 101)
    cache.expiration = .afterWrite(.seconds(10))
    #expect(cache.keys == [1_000])
    #expect(cache.removeExpired() <= 300)
    cache[1] = 1
    cache.expiration = .afterWrite(.seconds(1_000))
    clock.advance(by: .seconds(900))
    #expect(cache.keys == [1])
    cache.expiration = .never
    clock.advance(by: .seconds(1_000_000))
    #expect(cache.keys == [1] && cache.remainingLifetime(forKey: 1) == nil)
    cache.expiration = .afterWrite(.seconds(2_000_000))
    #expect(cache.keys == [1])
    cache.expiration = .afterWrite(.seconds(1_000_000))
    #expect(cache.keys.isEmpty)
    cache.checkInvariants()
  }

  @Test("A new idle time counts from the last use, as far as that is known")
  func changedIdleTime() {
    let cache = make(.afterWrite(.seconds(1_000)))
    for key in 0..<100 { cache[key] = key }
    clock.advance(by: .seconds(10))
    cache.expiration = .afterAccess(.seconds(60))
    clock.advance(by: .seconds(40))
    #expect(cache[1] == 1)
    clock.advance(by: .seconds(40))
    #expect(cache.keys == [1])
    cache.expiration = .afterAccess(.seconds(20))
    #expect(cache.keys.isEmpty)
    cache.checkInvariants()
  }

  @Test("Under a shorter idle time nothing lives longer than that after its use")
  func shorterIdleTime() throws {
    let cache = make(.afterAccess(.seconds(3_600)))
    cache[1] = 1
    clock.advance(by: .seconds(20))
    cache[2] = 2
    // Less than a 64th later: not noted.
    #expect(cache[1] == 1)
    clock.advance(by: .seconds(5))
    cache.expiration = .afterAccess(.seconds(30))
    for (key, seconds) in [(1, 5), (2, 25)] {
      let left = try #require(cache.remainingLifetime(forKey: key))
      #expect(left <= .seconds(seconds) && left >= .seconds(seconds) - resolution)
    }
    clock.advance(by: .seconds(25))
    #expect(cache.keys.isEmpty)
    cache.checkInvariants()
  }

  @Test("Jitter shortens lifetimes, evenly, by no more than its fraction")
  func jitter() {
    // Hashes decide how much each lifetime is shortened.
    var options = Cache<Int, Int>.Options.repeatable()
    options.clock = .manual(clock)
    let cache = Cache<Int, Int>(
      expiration: .afterWrite(.seconds(100), jitter: 0.5), options: options)
    for key in 0..<4_000 { cache[key] = key }
    clock.advance(by: .seconds(50) - resolution)
    #expect(cache.keys.count == 4_000)
    for step in 1...9 {
      clock.advance(by: .seconds(5))
      let gone = 4_000 - cache.keys.count
      #expect(abs(gone - 400 * step) < 150)
    }
    clock.advance(by: .seconds(5) + resolution)
    #expect(cache.keys.isEmpty)
    #expect(cache.removeExpired() <= 4_000 && cache.isEmpty)
  }

  @Test("What has expired goes before anything else when room is needed", arguments: [1, 4, 64])
  func expiredFirst(shards: Int) {
    let cache = Cache<Int, Int>(
      countLimit: 1_000, totalCostLimit: 1_000, policy: .lru, shards: shards,
      expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    for key in 0..<500 { cache.insert(key, forKey: key, expiresAfter: .seconds(60)) }
    for key in 500..<1_000 { cache[key] = key }
    // In whatever shard it is: no key of these is where all expired ones are.
    clock.advance(by: .seconds(10))
    for key in 1_000..<1_300 { cache[key] = key }
    // Replacements that need room, too.
    for key in 0..<100 { cache.insert(key, forKey: key, cost: 3, expiresAfter: .seconds(60)) }
    #expect(cache.statistics.evictions == 0 && cache.statistics.expirations == 500)
    #expect(Set(cache.keys) == Set(0..<500).union(1_000..<1_300))
    // Nothing has expired any more, by this rule. By another one something has.
    cache.insert(0, forKey: 1_300)
    #expect(cache.statistics.evictions == 1)
    cache.expiration = .afterWrite(.zero)
    cache.insert(0, forKey: 1_301, expiresAfter: .seconds(60))
    #expect(cache.statistics.evictions == 1 && cache.contains(1_301))
    cache.checkInvariants()
  }

  @Test("One that needs much room takes all that has expired before it", arguments: [1, 2, 4, 64])
  func muchRoom(shards: Int) {
    let cache = Cache<Int, Int>(
      totalCostLimit: 2_000, shards: shards, expiration: .afterWrite(.seconds(10)),
      options: .init(clock: .manual(clock)))
    for key in 0..<1_000 { cache.insert(key, forKey: key, expiresAfter: .seconds(60)) }
    for key in 1_000..<2_000 { cache[key] = key }
    clock.advance(by: .seconds(10))
    #expect(cache.insert(0, forKey: 2_000, cost: 950) == .inserted)
    #expect(cache.statistics.evictions == 0 && cache.statistics.expirations >= 950)
    #expect(cache.insert(0, forKey: 2_001, cost: 900) == .inserted)
    #expect(cache.statistics.expirations == 1_000 && cache.totalCost <= 2_000)
    #expect(cache.contains(2_001))
    cache.checkInvariants()
  }

  @Test("A new idle time counts from the last use, however late it is on the clock")
  func endOfTime() {
    let year = 365 * 86_400
    let clock = ManualClock()
    let cache = Cache<Int, Int>(
      expiration: .afterAccess(.seconds(60 * year)), options: .init(clock: .manual(clock)))
    for _ in 0..<2 {
      cache.expiration = .afterAccess(.seconds(60 * year))
      cache.insert(1, forKey: 1, expiresAfter: .seconds(200 * year))
      #expect(cache[1] == 1)
      cache.expiration = .afterAccess(.seconds(1))
      clock.advance(by: .seconds(10))
      #expect(cache[1] == nil)
      // From here on an idle time of sixty years ends after the clock does.
      clock.advance(by: .seconds(100 * year))
    }
    cache.checkInvariants()
  }
}
