// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Keys that break the rules of `Hashable` harm nobody but themselves.
@Suite("Keys that break the rules", .timeLimit(.minutes(20)))
struct OddKeyTests {
  @Test("NaN is stored, never found, and evicted like any other key", arguments: [1, 4])
  func notANumberAsKey(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Double, Tracked>(countLimit: 10, shards: shards)
    for _ in 0..<5 { #expect(cache.insert(tracker.make(), forKey: .nan) == .inserted) }
    #expect(cache.count == 5)
    #expect(cache[.nan] == nil)
    #expect(!cache.contains(.nan))
    #expect(cache.removeValue(forKey: .nan) == nil)
    #expect(cache.values(forKeys: [.nan, 1]).allSatisfy { $0 == nil })
    cache.checkInvariants()
    for key in 0..<100 { cache[Double(key)] = tracker.make() }
    #expect(cache.count == 10)
    #expect(settles(tracker, at: 10, cache))
    cache[.nan] = tracker.make()
    cache.trim(toCount: 0)
    cache[.nan] = tracker.make()
    cache.removeAll { key, _ in key.isNaN }
    #expect(cache.isEmpty)
    cache[.nan] = tracker.make()
    cache.removeAll()
    cache.checkInvariants()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("NaN keys survive the growth of the table")
  func manyNaNs() {
    let cache = Cache<Double, Int>()
    for number in 0..<2_000 {
      cache[Double(number)] = number
      if number % 10 == 0 { cache[.nan] = number }
    }
    #expect(cache.count == 2_200)
    #expect((0..<2_000).allSatisfy { cache[Double($0)] == $0 })
    cache.checkInvariants()
    cache.trim(toCount: 0)
    #expect(cache.isEmpty)
  }

  /// A key whose hash and equality can be changed under the cache's feet.
  final class Chameleon: Hashable, @unchecked Sendable {
    var id: Int  // changed by one thread only, while no call is running

    init(_ id: Int) { self.id = id }
    static func == (left: Chameleon, right: Chameleon) -> Bool { left.id == right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  @Test("A key that changes its hash loses only its own entry", arguments: [1, 4])
  func keyThatChangesItsHash(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Chameleon, Tracked>(countLimit: 200, policy: .lru, shards: shards)
    let keys = (0..<100).map(Chameleon.init)
    for key in keys { cache[key] = tracker.make(key.id) }
    for key in keys where key.id % 4 == 0 { key.id += 1_000 }
    for (index, key) in keys.enumerated() where index % 4 != 0 {
      #expect(cache[key]?.payload == index)
    }
    // Its entry cannot be reached by key, but is still counted, listed, evicted and released once.
    #expect(cache.count == 100)
    #expect(cache.snapshot().count == 100)
    for key in 2_000..<2_200 { cache[Chameleon(key)] = tracker.make(key) }
    #expect(cache.count == 200)
    #expect(settles(tracker, at: 200, cache))
    #expect((2_000..<2_200).allSatisfy { cache[Chameleon($0)]?.payload == $0 } || shards > 1)
    cache.trim(toCount: 0)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("Changed keys survive the growth of the table and removeAll")
  func changedHashAndGrowth() {
    let cache = Cache<Chameleon, Int>()
    let keys = (0..<50).map(Chameleon.init)
    for key in keys { cache[key] = key.id }
    for key in keys.prefix(25) { key.id += 1_000_000 }
    for key in 100..<3_000 { cache[Chameleon(key)] = key }
    #expect(cache.count == 2_950)
    #expect(keys.suffix(25).allSatisfy { cache[$0] == $0.id })
    #expect((100..<3_000).allSatisfy { cache[Chameleon($0)] == $0 })
    cache.removeAll()
    #expect(cache.isEmpty)
    #expect(cache.snapshot().isEmpty)
  }

  /// A key whose `==` runs a given action, once.
  struct Meddler: Hashable, Sendable {
    let id: Int
    let act = Protected<(@Sendable () -> Void)?>(nil)

    func hash(into hasher: inout Hasher) { hasher.combine(id) }

    static func == (a: Self, b: Self) -> Bool {
      for key in [a, b] {
        let act = key.act.withLock { act in
          defer { act = nil }
          return act
        }
        act?()
      }
      return a.id == b.id
    }
  }

  @Test("A hit whose own comparison evicted the entry is not recorded", arguments: [false, true])
  func hitThatEvictsItself(inBatch: Bool) {
    let cache = Cache<Meddler, Int>(countLimit: 2, policy: .lru)
    cache[Meddler(id: 1)] = 1
    cache[Meddler(id: 2)] = 2
    #expect(cache[Meddler(id: 2)] == 2)
    let key = Meddler(id: 1)
    key.act.withLock { $0 = { cache[Meddler(id: 3)] = 3 } }
    if inBatch {
      #expect(cache.values(forKeys: [key, Meddler(id: 2)]) == [1, 2])
    } else {
      #expect(cache[key] == 1)
    }
    cache[Meddler(id: 4)] = 4
    cache.checkInvariants()
    #expect(Set(cache.snapshot().map(\.value)) == (inBatch ? [2, 4] : [3, 4]))
  }

  /// A key that writes to its cache whenever it is hashed, as a `hash(into:)` may.
  struct Busybody: Hashable, Sendable {
    let id: Int
    let home: Protected<Cache<Busybody, Int>?>

    func hash(into hasher: inout Hasher) {
      // Only once at a time, because the inner call hashes keys as well.
      if let cache = home.withLock({ $0.take() }) {
        cache[Busybody(id: -1, home: home)] = nil
        home.withLock { $0 = cache }
      }
      hasher.combine(id)
    }

    static func == (a: Self, b: Self) -> Bool { a.id == b.id }
  }

  @Test("A key's hash may use the cache during a walk over all entries", arguments: [1, 4])
  func keyThatUsesTheCache(shards: Int) {
    onThreads(1, deadline: 60) { _ in
      let home = Protected<Cache<Busybody, Int>?>(nil)
      let cache = Cache<Busybody, Int>(shards: shards)
      let keys = (0..<20).map { Busybody(id: $0, home: home) }
      for key in keys { cache[key] = key.id }
      home.withLock { $0 = cache }
      // An entry that is asked about later was replaced, so it is not found by its address.
      var seen: Set<Int> = []
      cache.removeAll { key, value in
        if seen.isEmpty { for key in keys { cache[key] = key.id + 100 } }
        seen.insert(key.id)
        return value == key.id + 100
      }
      precondition(seen.count == 20 && cache.count == 1)
      for key in keys { cache[key] = key.id }
      func look(key: Busybody, _: Int) {
        if seen.count == 20 { for key in keys { cache[key] = 1 } }
        precondition(seen.remove(key.id) != nil)
      }
      cache.forEach(look)
      precondition(seen.isEmpty)
      cache.checkInvariants()
      home.withLock { $0 = nil }
    }
  }
}
