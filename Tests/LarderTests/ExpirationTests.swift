// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What each call makes of an entry whose time is over.
@Suite("Expiration")
struct ExpirationTests {
  /// The longest time by which an entry may expire too early.
  static let resolution = Duration.milliseconds(3)

  let clock = ManualClock()

  /// A cache whose entries live for ten seconds, and key 1 in it.
  private func aged(
    _ time: Duration = .seconds(10), observer: Cache<Int, Int>.RemovalObserver? = nil
  ) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(
      countLimit: 100, policy: .lru, onRemoval: observer, expiration: .afterWrite(.seconds(10)),
      options: .init(clock: .manual(clock)))
    cache[1] = 11
    clock.advance(by: time)
    return cache
  }

  enum Lookup: String, CaseIterable, Codable, Sendable {
    case value, subscripted, lent, batched, peek, contains

    func find(_ key: Int, in cache: Cache<Int, Int>) -> Bool {
      switch self {
      case .value: cache.value(forKey: key) != nil
      case .subscripted: cache[key] != nil
      case .lent: cache.withValue(forKey: key) { $0 } != nil
      case .batched: cache.values(forKeys: [key])[0] != nil
      case .peek: cache.peek(forKey: key) != nil
      case .contains: cache.contains(key)
      }
    }

    var counts: Bool { self != .peek && self != .contains }
  }

  @Test("A lookup finds a value until its deadline, and no later", arguments: Lookup.allCases)
  func lookups(lookup: Lookup) {
    let cache = aged(.seconds(10) - Self.resolution)
    #expect(lookup.find(1, in: cache) && lookup.find(1, in: cache))
    #expect(cache.statistics.hits == (lookup.counts ? 2 : 0))
    clock.advance(by: Self.resolution)
    #expect(!lookup.find(1, in: cache) && !lookup.find(1, in: cache))
    #expect(cache.statistics.misses == (lookup.counts ? 2 : 0))
    cache.checkInvariants()
  }

  @Test("Lookups of keys whose hashes are equal see deadlines", arguments: [false, true])
  func collidingKeys(nested: Bool) {
    let cache = Cache<Collider, Int>(
      expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    cache[Collider(1)] = 1
    clock.advance(by: .seconds(5))
    cache[Collider(2)] = 2
    clock.advance(by: .seconds(5))
    #expect(cache[Collider(1)] == nil && cache[Collider(2)] == 2)
    #expect(cache.peek(forKey: Collider(1)) == nil && cache.peek(forKey: Collider(2)) == 2)
    #expect(!cache.contains(Collider(1)) && cache.contains(Collider(2)))
    #expect(cache.values(forKeys: [Collider(1), Collider(2)]) == [nil, 2])
    #expect(cache.withValue(forKey: Collider(1)) { $0 } == nil)
    #expect(cache.withValue(forKey: Collider(2)) { $0 } == 2)
    cache.checkInvariants()
  }

  @Test("A write begins a new life", arguments: [0, 1, 2, 3])
  func writes(way: Int) {
    let cache = aged(.seconds(9))
    switch way {
    case 0: #expect(cache.insert(12, forKey: 1) == .replaced)
    case 1: #expect(cache.updateValue(12, forKey: 1) == 11)
    case 2: cache[1] = 12
    default: #expect(cache.modifyValue(forKey: 1) { $0 += 1 } == .replaced)
    }
    clock.advance(by: .seconds(9))
    #expect(cache[1] == 12)
    clock.advance(by: .seconds(1))
    #expect(cache[1] == nil)
  }

  @Test("What has expired is not replaced, updated, modified or removed")
  func expiredValueIsGone() {
    let removed = Protected<[String]>([])
    func observed() -> Cache<Int, Int> {
      aged { key, value, _, cause in removed.withLock { $0.append("\(key) \(value) \(cause)") } }
    }
    #expect(observed().insert(12, forKey: 1) == .inserted)
    #expect(observed().updateValue(12, forKey: 1) == nil)
    #expect(observed().removeValue(forKey: 1) == nil)
    #expect(observed().modifyValue(forKey: 1) { $0 += 1 } == nil)
    let cache = observed()
    #expect(cache.modifyValue(forKey: 1, default: 0) { $0 += 1 } == .inserted && cache[1] == 1)
    #expect(removed.withLock { $0 }.prefix(3) == ["1 11 expired", "1 11 expired", "1 11 expired"])
    let statistics = cache.statistics
    #expect(statistics.replacements == 0 && statistics.removals == 0)
    #expect(statistics.insertions == 2 && statistics.expirations == 1 && statistics.evictions == 0)
    cache.checkInvariants()
  }

  @Test("A change in place by the subscript starts from nothing once the value has expired")
  func subscriptChange() {
    let cache = aged()
    cache[1]? += 1
    #expect(cache[1] == nil)
    cache[1] = 5
    cache[1]! += 1
    #expect(cache[1] == 6)
  }

  @Test("Copies, walks and removals by closure leave out what has expired", arguments: [1, 4])
  func copies(shards: Int) {
    let cache = Cache<Int, Int>(
      countLimit: 100, shards: shards, expiration: .afterWrite(.seconds(10)),
      options: .init(clock: .manual(clock)))
    for key in 0..<20 { cache[key] = key }
    clock.advance(by: .seconds(5))
    for key in 20..<30 { cache[key] = key }
    clock.advance(by: .seconds(5))
    let living = Set(20..<30)
    #expect(Set(cache.snapshot().map(\.key)) == living)
    #expect(Set(cache.keys) == living && Set(cache.values) == living)
    #expect(Set(cache.hottest(10).map(\.key)) == living)
    #expect(Set(cache.coldest(10).map(\.key)) == living)
    #expect(cache.coldest(3).count == 3)
    var seen = Set<Int>()
    cache.removeAll { key, _ in
      seen.insert(key)
      return key % 2 == 0
    }
    #expect(seen == living)
    #expect(Set(cache.keys) == living.filter { $0 % 2 == 1 })
    cache.checkInvariants()
  }

  @Test("removeExpired() removes what is due, and says how much", arguments: [1, 4])
  func removal(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      shards: shards, expiration: .afterWrite(.seconds(10)),
      options: .init(clock: .manual(clock)))
    for key in 0..<5_000 { cache.insert(tracker.make(key), forKey: key, cost: key % 2) }
    clock.advance(by: .seconds(5))
    for key in 5_000..<5_100 { cache.insert(tracker.make(key), forKey: key, cost: 1) }
    #expect(cache.removeExpired() == 0)
    clock.advance(by: .seconds(5))
    #expect(cache.removeExpired() == 5_000)
    #expect(cache.count == 100 && cache.totalCost == 100)
    #expect(cache.statistics.expirations == 5_000)
    // The background thread may be about to destroy some.
    #expect(settles(tracker, at: 100, cache) && tracker.faults.isEmpty)
    #expect(cache.removeExpired() == 0)
    cache.checkInvariants()
    clock.advance(by: .seconds(1_000_000_000))
    #expect(cache.removeExpired() <= 100 && cache.isEmpty)
    cache.checkInvariants()
  }

  @Test(
    "What has just expired goes before what lives, among many of that millisecond",
    arguments: [(1, 3_000), (2, 20_000)])
  func justExpired(shards: Int, limit: Int) {
    let left = Protected<[Int: RemovalCause]>([:])
    let cache = Cache<Int, Int>(
      countLimit: limit, policy: .fifo, shards: shards,
      onRemoval: { key, _, _, cause in left.withLock { $0[key] = cause } },
      expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    for key in 0..<limit {
      let ticks = key == limit / 2 ? 100 : 200
      cache.insert(key, forKey: key, expiresAfter: .nanoseconds(ticks * 4_096))
    }
    clock.advance(by: .nanoseconds(110 * 4_096))
    cache[limit] = limit
    let first = left.withLock { $0 }
    #expect(first == [limit / 2: .expired])
    // Nothing else has expired.
    cache[limit + 1] = limit
    let evicted = left.withLock { $0.filter { $0.value == .limit } }
    #expect(evicted.count == 1)
    cache.checkInvariants()
  }

  @Test("An insertion removes two of what has expired, so that it dwindles")
  func dwindling() {
    let cache = Cache<Int, Int>(
      shards: 1, expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    for key in 0..<100 { cache[key] = key }
    clock.advance(by: .seconds(20))
    for added in 1...50 {
      cache[1_000 + added] = added
      #expect(cache.count == 100 - added)
    }
    #expect(cache.removeExpired() == 0)
    cache.checkInvariants()
  }

  @Test("Observers see the value alive, and why it left")
  func observers() {
    let seen = Protected<[Int: RemovalCause]>([:])
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      onRemoval: { key, value, _, cause in
        precondition(value.isIntact && value.payload == key)
        seen.withLock { $0[key] = cause }
      }, expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    for key in 0..<10 { cache[key] = tracker.make(key) }
    clock.advance(by: .seconds(10))
    cache[3] = tracker.make(3)
    cache[4] = nil
    #expect(cache.removeExpired() <= 8)
    #expect(
      seen.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, .expired) }))
    cache.removeAll()
    #expect(seen.withLock { $0[3] } == .removed)
  }

  @Test("The background thread removes what has expired, and tells the observer")
  func background() {
    let causes = Protected<[RemovalCause]>([])
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      onRemoval: { _, value, _, cause in
        precondition(value.isIntact)
        causes.withLock { $0.append(cause) }
      }, expiration: .afterWrite(.milliseconds(20)))
    for key in 0..<1_000 { cache[key] = tracker.make(key) }
    waitUntil("what has expired is gone") { cache.isEmpty && tracker.live == 0 }
    #expect(causes.withLock { $0.count { $0 == .expired } } == 1_000)
    #expect(tracker.faults.isEmpty)
  }

  /// Hits go by a time that may be two milliseconds old, which must not shorten what they give. A
  /// thread that stands still may find the entry gone; where it finds it, it can only live longer.
  @Test("Each use gives nearly the whole of an idle time, however short", arguments: [400, 3_000])
  func idleTime(microseconds: Int) {
    let idle = Duration.microseconds(microseconds)
    let cache = Cache<Int, Int>(expiration: .afterAccess(idle))
    let time = ContinuousClock()
    // Less a 64th, and a tick each of the deadline and of what is left of it.
    let least = idle * 63 / 64 - .microseconds(9)
    var random = SplitMix64(seed: 5)
    var found = 0
    for round in 0..<200 {
      cache[1] = round
      var used = time.now
      let end = used + .microseconds(random.below(3_000))
      repeat { used = time.now } while cache[1] != nil && used < end
      guard let left = cache.remainingLifetime(forKey: 1) else { continue }
      found += 1
      #expect(time.now + left - used >= least, "in round \(round)")
    }
    #expect(found > 0)
  }

  enum Removal: String, CaseIterable, Codable, Sendable {
    case one, matching, changed, ended, all, expired

    func remove(_ key: Int, from cache: Cache<Int, Int>) {
      switch self {
      case .one: cache.removeValue(forKey: key)
      case .matching: cache.removeAll { found, _ in found == key }
      case .changed: cache.updateValue(forKey: key) { $0 = nil }
      case .ended: cache.setLifetime(.zero, forKey: key)
      case .all: cache.removeAll()
      case .expired: cache.removeExpired()
      }
    }
  }

  /// A lookup goes by a time that may be two milliseconds old.
  @Test("What a removal takes for expired is not found after it", arguments: Removal.allCases)
  func removedAtItsDeadline(removal: Removal) {
    let cache = Cache<Int, Int>(expiration: .afterWrite(.milliseconds(2)))
    let time = ContinuousClock()
    for round in 0..<Stress.scaled(500, atLeast: 100) {
      cache[1] = round
      let end = time.now + .microseconds(2_000 + round % 30)
      while time.now < end { _ = cache[1] }
      // What has not expired by the exact time stays, but its time is over soon.
      if removal == .expired && cache.remainingLifetime(forKey: 1) != nil { continue }
      removal.remove(1, from: cache)
      #expect(cache[1] == nil, "in round \(round)")
    }
  }
}
