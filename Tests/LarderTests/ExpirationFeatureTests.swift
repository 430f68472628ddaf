// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Every optional feature keeps its word in a cache whose entries expire.
@Suite("Expiration beside other features", .timeLimit(.minutes(20)))
struct ExpirationFeatureTests {
  private typealias Numbers = Cache<Int, Int>
  private typealias Objects = Cache<Int, Tracked>
  private let clock = ManualClock()

  @Test("What has expired was not evicted, and what was evicted stays so")
  func wasEvicted() {
    let cache = Numbers(
      countLimit: 10, policy: .lru, expiration: .afterWrite(.seconds(10)),
      options: .init(rememberedEvictions: 100, clock: .manual(clock)))
    for key in 0..<15 { cache[key] = key }
    clock.advance(by: .seconds(10))
    cache.removeExpired()
    #expect((0..<5).allSatisfy { cache.wasEvicted($0) })
    #expect((5..<15).allSatisfy { !cache.wasEvicted($0) })
  }

  @Test(
    "What has expired is no eviction, though many before it were used",
    arguments: EvictionPolicy.allCases.filter { !$0.needsCosts })
  func usedBefore(policy: EvictionPolicy) {
    let clock = ManualClock()
    let causes = Protected<[RemovalCause: Int]>([:])
    let cache = Cache<Int, Int>(
      countLimit: 400, policy: policy, shards: 1, expiration: .afterAccess(.seconds(10)),
      options: .init(
        onRemoval: { _, _, _, cause in causes.withLock { $0[cause, default: 0] += 1 } },
        rememberedEvictions: 100, clock: .manual(clock)))
    for key in 0..<400 { cache[key] = key }
    clock.advance(by: .seconds(9))
    for key in 200..<400 { _ = cache[key] }
    clock.advance(by: .seconds(2))
    for key in 1_000..<1_200 { cache[key] = key }
    #expect(causes.withLock { $0 } == [.expired: 200])
    #expect(cache.statistics.evictions == 0 && cache.statistics.expirations == 200)
    #expect(!(0..<200).contains(where: cache.wasEvicted))
    cache.checkInvariants()
  }

  @Test("Only what lives is asked about before an eviction, and only if room is short")
  func veto() {
    let asked = Protected<[Int]>([])
    let cache = Numbers(
      countLimit: 20, policy: .lru, expiration: .afterWrite(.seconds(10)),
      options: .init(
        shouldEvict: { key, _ in
          asked.withLock { $0.append(key) }
          return true
        }, clock: .manual(clock)))
    for key in 0..<15 { cache[key] = key }
    clock.advance(by: .seconds(5))
    for key in 15..<20 { cache[key] = key }
    clock.advance(by: .seconds(5))
    for key in 20..<35 { cache[key] = key }
    #expect(asked.withLock { $0 } == [])
    #expect(Set(cache.keys) == Set(15..<35))
    cache[35] = 35
    #expect(asked.withLock { $0 } == [15])
    cache.checkInvariants()
  }

  @Test("A group counts what has expired until it is gone, and evicts it before what lives")
  func groups() {
    let causes = Protected<[Int: RemovalCause]>([:])
    let cache = Numbers(
      onRemoval: { key, _, _, cause in causes.withLock { $0[key] = cause } },
      expiration: .afterWrite(.seconds(10)),
      options: .init(groups: .by({ $0 / 100 }, quota: { _ in 3 }), clock: .manual(clock)))
    cache.insert(0, forKey: 0, expiresAfter: .seconds(60))
    cache[1] = 1
    cache[2] = 2
    cache[101] = 1
    clock.advance(by: .seconds(10))
    cache[3] = 3
    cache[4] = 4
    #expect(Set(cache.keys) == [0, 3, 4])
    cache.removeExpired()
    #expect(cache.count(inGroup: 0) == 3 && cache.count(inGroup: 1) == 0 && cache.groupCount == 1)
    #expect(causes.withLock { $0 } == [1: .expired, 2: .expired, 101: .expired])
    clock.advance(by: .seconds(10))
    cache.removeAll(inGroup: 0)
    #expect(cache.groupCount == 0 && cache.isEmpty)
    #expect(causes.withLock { $0[0] == .removed && $0[3] == .expired })
  }

  @Test("An evicted object comes back with its old deadline, and never after it")
  func secondChances() {
    let tracker = LifetimeTracker()
    var options = Objects.Options(clock: .manual(clock))
    options.secondChances = 100
    let cache = Objects(policy: .lru, expiration: .afterWrite(.seconds(10)), options: options)
    let held = (0..<4).map { tracker.make($0) }
    cache[0] = held[0]
    cache.insert(held[1], forKey: 1, cost: 5, expiresAfter: .seconds(20))
    cache.insert(held[2], forKey: 2, expiresAfter: .seconds(Int64.max))
    clock.advance(by: .seconds(6))
    cache.trim(toCount: 0)
    #expect((0..<3).allSatisfy { cache.survivingValue(forKey: $0) === held[$0] })
    #expect(cache.totalCost == 5)
    clock.advance(by: .seconds(4))
    #expect(cache.survivingValue(forKey: 0) == nil && cache.survivingValue(forKey: 1) === held[1])
    cache[3] = held[3]
    cache.trim(toCount: 0)
    clock.advance(by: .seconds(10))
    #expect(cache.survivingValue(forKey: 1) == nil && cache.survivingValue(forKey: 3) == nil)
    #expect(cache.survivingValue(forKey: 2) === held[2] && cache.keys == [2])
    clock.advance(by: .seconds(1_000_000))
    #expect(cache.survivingValue(forKey: 2) === held[2])
    cache.checkInvariants()
  }

  @Test("What has expired gets no second chance, nor does what a new rule forbids")
  func noSecondChance() {
    let tracker = LifetimeTracker()
    var options = Objects.Options(clock: .manual(clock))
    options.secondChances = 100
    let cache = Objects(expiration: .afterWrite(.seconds(10)), options: options)
    let held = (0..<20).map { tracker.make($0) }
    for key in 0..<10 { cache[key] = held[key] }
    clock.advance(by: .seconds(10))
    cache.trim(toCount: 0)
    cache.removeExpired()
    #expect(cache.secondChanceCount == 0)
    for key in 10..<20 { cache[key] = held[key] }
    cache.trim(toCount: 0)
    clock.advance(by: .seconds(5))
    cache.expiration = .afterWrite(.seconds(4))
    #expect((0..<20).allSatisfy { cache.survivingValue(forKey: $0) == nil })
  }

  @Test("Trims take what has expired first", arguments: [0, 1, 2, 3, 4], [1, 4])
  func trims(way: Int, shards: Int) {
    let cache = Numbers(
      policy: .lru, shards: shards, expiration: .afterWrite(.seconds(10)),
      options: .init(remembersAge: true, clock: .manual(clock)))
    for key in 0..<10 { cache.insert(key, forKey: key, cost: 1, expiresAfter: .seconds(60)) }
    for key in 10..<20 { cache.insert(key, forKey: key, cost: 1) }
    clock.advance(by: .seconds(10))
    switch way {
    case 0: cache.trim(toCount: 10)
    case 1: cache.trim(toCost: 10)
    case 2: cache.trimCostliest(toCost: 10)
    case 3: cache.trimOldest(toCount: 10)
    default: cache.countLimit = 10
    }
    #expect(Set(cache.keys) == Set(0..<10) && cache.count == 10)
    #expect(cache.statistics.expirations == 10 && cache.statistics.evictions == 0)
    cache.checkInvariants()
  }

  @Test("A purge counts what has expired until it is gone, and takes it first")
  func purge() {
    let cache = Numbers(
      countLimit: 20, policy: .lru, expiration: .afterWrite(.seconds(10)),
      options: .init(preferredCount: 10, clock: .manual(clock)))
    for key in 0..<8 { cache.insert(key, forKey: key, expiresAfter: .seconds(60)) }
    for key in 8..<20 { cache[key] = key }
    clock.advance(by: .seconds(10))
    cache[20] = 20
    #expect(Set(cache.keys) == Set(0..<8).union([20]))
    #expect(cache.statistics.evictions == 0)
    cache.checkInvariants()
  }

  @Test("Values that expire are released where the cache releases values")
  func release() async {
    await #expect(processExitsWith: .success) {
      let clock = ManualClock()
      let tracker = LifetimeTracker()
      let sink = ReleaseTests.Sink()
      let cache = Objects(
        expiration: .afterWrite(.seconds(10)),
        options: .init(release: sink.release, clock: .manual(clock)))
      for key in 0..<50 { cache[key] = tracker.make(key) }
      clock.advance(by: .seconds(10))
      precondition(cache[0] == nil && cache.peek(forKey: 1) == nil)
      precondition(cache.updateValue(tracker.make(), forKey: 2) == nil)
      precondition(cache.removeValue(forKey: 3) == nil)
      cache.insert(tracker.make(), forKey: 4, expiresAfter: .zero)
      cache.removeExpired()
      cache.reclaim()
      precondition(cache.count == 1 && tracker.live == 52)
      sink.releaseAll()
      precondition(tracker.live == 1 && tracker.faults.isEmpty)
    }
  }

  @Test("A value on loan lives on while its entry expires")
  func loan() {
    let tracker = LifetimeTracker()
    let cache = Objects(
      expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    cache[1] = tracker.make(1)
    let intact = cache.withValue(forKey: 1) { value in
      clock.advance(by: .seconds(10))
      cache.removeExpired()
      return value.isIntact && cache.isEmpty && cache[1] == nil
    }
    #expect(intact == true)
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("Objects that nobody holds are removed, unless they have expired before")
  func unreferenced() {
    let tracker = LifetimeTracker()
    let cache = Objects(
      expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    for key in 0..<5 { cache[key] = tracker.make(key) }
    clock.advance(by: .seconds(10))
    for key in 5..<10 { cache[key] = tracker.make(key) }
    #expect(cache.removeUnreferenced() == 5)
    cache.removeExpired()
    #expect(cache.statistics.expirations == 5 && cache.statistics.removals == 5 && cache.isEmpty)
  }

  @Test("Insertions are observed with values that expire at once, too")
  func insertionObserver() {
    let stored = Protected<[Int]>([])
    let clock = clock
    let cache = Numbers(
      onInsertion: { key, value, _ in
        clock.advance(by: .seconds(60))
        stored.withLock { $0.append(value) }
      }, expiration: .afterWrite(.seconds(10)), options: .init(clock: .manual(clock)))
    #expect(cache.insert(1, forKey: 1) == .inserted)
    #expect(cache.insert(2, forKey: 2, expiresAfter: .zero) == .expired)
    #expect(cache.insert(3, forKey: 3, expiresAfter: .seconds(10)) == .inserted)
    #expect(stored.withLock { $0 } == [1, 3] && cache.keys.isEmpty)
  }

  @Test("What is refused for its lifetime evicts nothing", arguments: [0, 1, 2])
  func refused(way: Int) {
    for vetoes in [true, false] {
      var options = Numbers.Options(clock: .manual(clock))
      if vetoes { options.shouldEvict = { _, _ in true } } else { options.preferredCount = 1 }
      if way == 1 { options.lifetime = { _, value in value == 9 ? .zero : nil } }
      let cache = Numbers(countLimit: 3, policy: .lru, options: options)
      for key in 0..<3 { cache.insert(key, forKey: key, expiresAfter: .seconds(60)) }
      switch way {
      case 0: #expect(cache.insert(9, forKey: 9, expiresAfter: .zero) == .expired)
      case 1: #expect(cache.insert(9, forKey: 9) == .expired)
      default:
        cache.expiration = .afterWrite(.zero)
        #expect(cache.modifyValue(forKey: 9, default: 8) { $0 += 1 } == .expired)
      }
      #expect(cache.keys.sorted() == [0, 1, 2])
      cache.insert(3, forKey: 2, expiresAfter: .seconds(60))
      #expect(cache.count == 3, "no purge has begun")
      #expect(cache.statistics.evictions == 0)
      cache.checkInvariants()
    }
  }

  @Test("print and dump tell of expiration where there is any")
  func description() {
    let cache = Numbers(
      countLimit: 10, policy: .lru, expiration: .afterWrite(.seconds(10)),
      options: .init(clock: .manual(clock)))
    cache[1] = 1
    #expect("\(cache)" == "Cache: 1 of 10 entries, lru")
    clock.advance(by: .seconds(10))
    cache.removeExpired()
    #expect("\(cache)" == "Cache: 0 of 10 entries, lru, 1 expired")
    let mirror = Mirror(reflecting: cache).descendant("expiration") as? Expiration
    #expect(mirror == .afterWrite(.seconds(10)))
  }
}
