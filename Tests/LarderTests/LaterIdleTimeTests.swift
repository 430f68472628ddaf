// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Caches that were created with lifetimes, but without an idle time, and are given one while they
/// are in use.
@Suite("An idle time that comes later")
struct LaterIdleTimeTests {
  private typealias Numbers = Cache<Int, Int>
  private let clock = ManualClock()

  private func make(
    shards: Int = 1, _ expiration: Expiration = .afterWrite(.seconds(1_000))
  ) -> Numbers {
    Numbers(shards: shards, expiration: expiration, options: .init(clock: .manual(clock)))
  }

  @Test("It holds for what is stored, and what is stored keeps its deadline", arguments: [1, 4])
  func rule(shards: Int) throws {
    let cache = make(shards: shards)
    for key in 0..<500 { cache.insert(key, forKey: key, cost: key % 3) }
    cache.insert(7, forKey: 7, expiresAfter: .seconds(130))
    clock.advance(by: .seconds(40))
    let before = cache.statistics
    let cost = cache.totalCost
    cache.expiration = Expiration(afterWrite: .seconds(1_000), afterAccess: .seconds(64))
    cache.checkInvariants()
    #expect(cache.count == 500 && cache.totalCost == cost)
    #expect(cache.statistics.insertions == before.insertions)
    #expect(cache.statistics.replacements == before.replacements)
    // Nobody knows when they were used.
    let left = try #require(cache.remainingLifetime(forKey: 8))
    #expect(left <= .seconds(64) && left > .seconds(63))
    clock.advance(by: .seconds(40))
    for key in 0..<250 { #expect(cache[key] == key) }
    // What is stored from now on, with and without a lifetime, is like the rest.
    for key in 400..<600 { cache[key] = key }
    cache.insert(600, forKey: 600, expiresAfter: .seconds(30))
    clock.advance(by: .seconds(24))
    #expect(Set(cache.keys) == Set(0..<250).union(400...600))
    clock.advance(by: .seconds(24))
    #expect(cache[600] == nil && cache[1] == 1 && cache[400] == 400)
    // Its own lifetime ends, though it is used.
    #expect(cache[7] == 7)
    clock.advance(by: .seconds(2))
    #expect(cache[7] == nil)
    for _ in 0..<40 {
      clock.advance(by: .seconds(50))
      _ = cache[1]
    }
    #expect(cache.keys.isEmpty)
    cache.removeExpired()
    #expect(cache.isEmpty && cache.totalCost == 0)
    cache.checkInvariants()
  }

  @Test("It can be taken away and given again; what has expired does not come back")
  func changes() {
    let cache = make(.afterWrite(.seconds(100)))
    for key in 0..<100 { cache[key] = key }
    for round in 0..<5 {
      cache.expiration = .afterAccess(.seconds(10))
      clock.advance(by: .seconds(8))
      for key in 0..<(50 - round) { #expect(cache[key] == key) }
      cache.setLifetime(.seconds(200), forKey: round)
      clock.advance(by: .seconds(4))
      #expect(cache.keys.count == 50 - round)
      cache.expiration = .afterWrite(.seconds(1_000))
      #expect(cache.keys.count == 50 - round)
      cache.checkInvariants()
    }
    cache.expiration = Expiration(afterWrite: .seconds(1_000), afterAccess: .seconds(10))
    cache.expiration = .never
    cache.setLifetime(.seconds(5), forKey: 9)
    clock.advance(by: .seconds(5))
    #expect(!cache.contains(9) && cache.contains(8))
    clock.advance(by: .seconds(10_000))
    cache.expiration = .afterAccess(.seconds(10))
    clock.advance(by: .seconds(9))
    #expect(cache[8] == 8 && cache.keys.count == 40)
    clock.advance(by: .seconds(9))
    #expect(cache.keys == [8])
    cache.checkInvariants()
  }

  @Test("The order stays as it was", arguments: EvictionPolicy.exact)
  func order(policy: EvictionPolicy) {
    let caches = (0..<2).map { _ in
      var options = Numbers.Options(clock: .manual(clock))
      options.hashSeeds = (1, 2)
      return Numbers(
        countLimit: 100, totalCostLimit: 1 << 40, policy: policy,
        expiration: .afterWrite(.seconds(9)), options: options)
    }
    for each in caches {
      for key in 0..<100 { each.insert(key, forKey: key, cost: 1 + key) }
      for key in 0..<100 where key % 3 == 0 { _ = each[key] }
    }
    caches[0].expiration = .afterAccess(.seconds(9))
    #expect(caches[0].keys == caches[1].keys)
    for each in caches { for key in 100..<150 { each[key] = key } }
    #expect(caches[0].keys == caches[1].keys)
    caches[0].checkInvariants()
  }

  @Test("Each value dies once, ages are known still, and loans are kept")
  func lives() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      expiration: .afterWrite(.seconds(60)),
      options: .init(remembersAge: true, clock: .manual(clock)))
    for key in 0..<300 { cache[key] = tracker.make(key) }
    cache.withValue(forKey: 5) { value in
      cache.expiration = .afterAccess(.seconds(10))
      precondition(value.isIntact && cache[5] === value)
      cache.removeValue(forKey: 5)
      precondition(value.isIntact)
    }
    cache.trimOldest(toCount: 200)
    #expect(cache.keys.min() == 100)
    #expect(settles(tracker, at: 200, cache))
    clock.advance(by: .seconds(10))
    #expect(cache.keys.isEmpty)
    cache.removeExpired()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("An evicted object comes back with both of its deadlines")
  func secondChance() {
    let tracker = LifetimeTracker()
    var options = Cache<Int, Tracked>.Options(clock: .manual(clock))
    options.secondChances = 100
    let cache = Cache<Int, Tracked>(expiration: .afterWrite(.seconds(60)), options: options)
    let kept = (0..<20).map { tracker.make($0) }
    cache.expiration = Expiration(afterWrite: .seconds(60), afterAccess: .seconds(10))
    for object in kept { cache[object.payload] = object }
    clock.advance(by: .seconds(5))
    cache.trim(toCount: 0)
    #expect(cache.survivingValue(forKey: 1) === kept[1])
    clock.advance(by: .seconds(5))
    #expect(cache.survivingValue(forKey: 2) == nil && cache[1] === kept[1])
    for _ in 0..<5 {
      clock.advance(by: .seconds(9))
      _ = cache[1]
    }
    clock.advance(by: .seconds(5))
    #expect(cache[1] == nil)
    cache.checkInvariants()
  }

  @Test("Threads find all that lives meanwhile, and nothing that is too old", arguments: [1, 4])
  func threads(shards: Int) {
    for round in 0..<Stress.scaled(60, atLeast: 6) {
      let clock = ManualClock()
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(
        shards: shards, expiration: .afterWrite(.seconds(500)),
        options: .init(clock: .manual(clock)))
      raceForTokens(in: cache, clock, tracker, seed: round) { token in
        cache.expiration = Expiration(afterWrite: .seconds(500), afterAccess: .seconds(90))
        cache[token] = tracker.make(-1)
        cache.setLifetime(.seconds(5), forKey: token)
      }
      cache.removeExpired()
      #expect(cache.count == 400 && cache.statistics.expirations == 2)
      clock.advance(by: .seconds(90))
      #expect(cache.keys.isEmpty)
      cache.removeExpired()
      #expect(settles(tracker, at: 0, cache))
      #expect(tracker.faults.isEmpty)
    }
  }
}
