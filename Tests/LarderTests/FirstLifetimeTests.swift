// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Caches that were created without anything about time, and are given lifetimes all the same.
@Suite("The first lifetime of a cache")
struct FirstLifetimeTests {
  private typealias Numbers = Cache<Int, Int>
  private let clock = ManualClock()

  @Test("A plain cache keeps a token for its time")
  func plain() {
    let cache = Cache<String, String>(countLimit: 1_000)
    cache["page"] = "text"
    let start = Clock.now
    #expect(cache.insert("secret", forKey: "token", expiresAfter: .milliseconds(20)) == .inserted)
    if let left = cache.remainingLifetime(forKey: "token") {
      #expect(left <= .milliseconds(20))
    } else {
      #expect(Clock.now - start > 15_000_000, "it has expired")
    }
    waitUntil("the token is gone") { cache["token"] == nil }
    waitUntil("it is not counted") { cache.count == 1 }
    #expect(cache.statistics.expirations == 1)
    #expect(cache["page"] == "text" && cache.remainingLifetime(forKey: "page") == nil)
    cache.checkInvariants()
  }

  /// A key that does something when it is hashed.
  private struct Doing: Hashable, Sendable {
    let number: Int
    var deed: (@Sendable () -> Void)?

    static func == (left: Doing, right: Doing) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) {
      deed?()
      hasher.combine(number)
    }
  }

  @Test(
    "A batch looks at deadlines from the first lifetime on, like single lookups",
    arguments: [40, 41, 63, 64, 99])
  func batch(expiring: Int) {
    let cache = Cache<Doing, Int>(options: .init(clock: .manual(clock)))
    for number in 0..<100 { cache[Doing(number: number)] = number }
    var keys = (0..<100).map { Doing(number: $0) }
    keys[40].deed = { [clock] in
      guard cache.setLifetime(.seconds(1), forKey: Doing(number: expiring)) else { return }
      clock.advance(by: .seconds(2))
    }
    let values = cache.values(forKeys: keys)
    #expect(values.indices.allSatisfy { values[$0] == ($0 == expiring ? nil : $0) })
    #expect(cache.statistics.hits == 99 && cache.statistics.misses == 1)
    cache.checkInvariants()
  }

  @Test(
    "What a closure condemns goes, also when the first lifetime comes meanwhile",
    arguments: [1, 4])
  func condemned(shards: Int) {
    let cache = Numbers(shards: shards, options: .init(clock: .manual(clock)))
    for key in 0..<100 { cache[key] = key }
    cache.removeAll { key, _ in
      // Moves all entries, those on loan as well.
      if key == 10 { cache.setLifetime(.seconds(60), forKey: key) }
      return key % 10 == 0
    }
    #expect(cache.count == 90 && cache.keys.allSatisfy { $0 % 10 != 0 })
    let timed = Numbers(
      shards: shards, expiration: .afterWrite(.seconds(60)), options: .init(clock: .manual(clock)))
    for key in 0..<100 { timed[key] = key }
    timed.removeAll { key, _ in
      if key == 20 { timed.expiration = .afterAccess(.seconds(60)) }
      return key % 10 == 0
    }
    #expect(timed.count == 90 && timed.keys.allSatisfy { $0 % 10 != 0 })
    timed.checkInvariants()
    for key in [10, 20] {
      let other = Numbers(shards: shards, options: .init(clock: .manual(clock)))
      for key in 0..<100 { other[key] = key }
      let isRemoved = other.removeValue(forKey: key) { _ in
        other.setLifetime(.seconds(60), forKey: 50)
        return true
      }
      #expect(isRemoved && other.count == 99)
    }
    cache.checkInvariants()
  }

  @Test("No lifetime is none, and makes no room for one")
  func none() {
    let cache = Numbers(options: .init(clock: .manual(clock)))
    for key in 0..<10_000 { cache[key] = key }
    let memory = cache.memoryFootprint
    cache.expiration = .never
    cache.setExpiration(afterWrite: nil)
    cache.setExpiration(afterAccess: nil)
    #expect(cache.memoryFootprint == memory)
  }

  @Test("A value that is replaced after entries have moved is not the one that was condemned")
  func replaced() {
    let cache = Numbers(shards: 1, options: .init(clock: .manual(clock)))
    cache[1] = 1
    let isRemoved = cache.removeValue(forKey: 1) { value in
      cache.setLifetime(.seconds(60), forKey: 1)
      cache[1] = 2
      return value == 1
    }
    #expect(!isRemoved && cache[1] == 2)
  }

  @Test("The first lifetime may be of any kind", arguments: 0..<6, [1, 4])
  func kinds(kind: Int, shards: Int) {
    let causes = Protected<[RemovalCause: Int]>([:])
    let cache = Numbers(
      shards: shards,
      onRemoval: { _, _, _, cause in causes.withLock { $0[cause, default: 0] += 1 } },
      options: .init(clock: .manual(clock)))
    for key in 0..<500 { cache.insert(key, forKey: key, cost: key % 3) }
    clock.advance(by: .seconds(50))
    let before = cache.statistics
    switch kind {
    case 0: cache.insert(7, forKey: 7, expiresAfter: .seconds(10))
    case 1: #expect(cache.setLifetime(.seconds(10), forKey: 7))
    case 2: cache.expiration = .afterWrite(.seconds(10))
    case 3: cache.expiration = .afterAccess(.seconds(10))
    case 4: cache.trim(toAge: .seconds(10))
    default: #expect(cache.setLifetime(.zero, forKey: 7))
    }
    cache.checkInvariants()
    let isRule = kind == 2 || kind == 3
    #expect(cache.count == (kind == 5 ? 499 : 500))
    #expect(cache.statistics.insertions == before.insertions)
    #expect(cache.totalCost == 499 + (kind == 0 || kind == 5 ? -1 : 0))
    let told: [RemovalCause: Int] = kind == 0 ? [.replaced: 1] : kind == 5 ? [.expired: 1] : [:]
    #expect(causes.withLock { $0 } == told)
    for key in 0..<500 where kind != 5 || key != 7 { #expect(cache.peek(forKey: key) == key) }
    // What is stored plainly from now on is like the rest.
    for key in 400..<600 { cache.insert(key, forKey: key, cost: 1) }
    cache.checkInvariants()
    clock.advance(by: .seconds(10))
    for key in 0..<600 {
      let lives = !isRule && (key != 7 || kind == 4)
      #expect((cache[key] == key) == lives && cache.contains(key) == lives)
    }
    cache.removeExpired()
    #expect(cache.count == (isRule ? 0 : kind == 4 ? 600 : 599))
    #expect(cache.totalCost >= 0 && (!isRule || cache.totalCost == 0))
    #expect(causes.withLock { $0[.expired] ?? 0 } == cache.statistics.expirations)
    cache.trim(toAge: .seconds(9))
    #expect(cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("What the first call finds was stored then, to the tick", arguments: [0, 5, 9])
  func ages(microseconds age: Int) {
    for _ in 0..<300 {
      clock.advance(by: .microseconds(3))
      let cache = Numbers(options: .init(clock: .manual(clock)))
      cache[1] = 1
      cache.trim(toAge: .zero)
      #expect(cache.count == 1)
      clock.advance(by: .microseconds(age))
      cache.trim(toAge: .microseconds(age))
      #expect(cache.count == 1)
      clock.advance(by: .microseconds(20))
      cache.trim(toAge: .microseconds(age))
      #expect(cache.isEmpty)
    }
  }

  @Test("The order stays as it was", arguments: EvictionPolicy.exact)
  func order(policy: EvictionPolicy) {
    var options = Numbers.Options(clock: .manual(clock))
    options.hashSeeds = (1, 2)
    let caches = (0..<2).map { _ in
      Numbers(countLimit: 100, totalCostLimit: 1 << 40, policy: policy, options: options)
    }
    let (cache, other) = (caches[0], caches[1])
    for each in caches {
      // Among equal costs, what was stored last is the hottest.
      for key in 0..<100 { each.insert(key, forKey: key, cost: 1 + key) }
      for key in 0..<100 where key % 3 == 0 { _ = each[key] }
    }
    cache.setLifetime(.seconds(1), forKey: -1)
    #expect(cache.keys == other.keys)
    for each in caches { for key in 100..<150 { each[key] = key } }
    #expect(cache.keys == other.keys)
    cache.checkInvariants()
  }

  @Test("Each value dies once, and only when it has left")
  func lives() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      options: .init(remembersAge: true, clock: .manual(clock)))
    for key in 0..<300 { cache[key] = tracker.make(key) }
    cache.withValue(forKey: 5) { value in
      cache.setLifetime(.seconds(1), forKey: 5)
      precondition(value.isIntact && cache[5] === value)
      cache.removeValue(forKey: 5)
      precondition(value.isIntact)
    }
    cache.trimOldest(toCount: 200)
    #expect(cache.keys.min() == 100)
    #expect(settles(tracker, at: 200, cache))
    cache.expiration = .afterWrite(.seconds(1))
    clock.advance(by: .seconds(1))
    cache.removeExpired()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("Threads that look up meanwhile honour the deadline", arguments: [1, 4])
  func threads(shards: Int) {
    for round in 0..<Stress.scaled(60, atLeast: 6) {
      let clock = ManualClock()
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(shards: shards, options: .init(clock: .manual(clock)))
      raceForTokens(in: cache, clock, tracker, seed: round) { token in
        cache.insert(tracker.make(-1), forKey: token, expiresAfter: .seconds(5))
      }
      cache.removeExpired()
      #expect(cache.count == 400 && cache.statistics.expirations == 2)
      #expect(settles(tracker, at: 400, cache))
      #expect(tracker.faults.isEmpty)
    }
  }
}
