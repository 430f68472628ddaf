// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Each stored value is released exactly once, whatever user code does in between.
@Suite("Lifetimes", .timeLimit(.minutes(20)))
struct LifetimeTests {
  typealias TrackedCache = Cache<Int, Tracked>

  struct Oops: Error, Equatable {}

  @Test("A cache that is dropped full releases everything", arguments: [1, 4])
  func droppedFullCacheReleasesAll(shards: Int) {
    let tracker = LifetimeTracker()
    do {
      let cache = TrackedCache(shards: shards)
      for key in 0..<1_000 { cache[key] = tracker.make(key) }
      for key in 0..<500 { cache[key] = tracker.make(key) }
      #expect(cache.count == 1_000)
    }
    #expect(tracker.created == 1_500)
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A dropped cache tells its observer nothing")
  func droppedCacheTellsNobody() {
    let calls = Protected(0)
    do {
      let cache = Cache<Int, Int>(onRemoval: { _, _, _, _ in calls.withLock { $0 += 1 } })
      for key in 0..<100 { cache[key] = key }
    }
    #expect(calls.withLock { $0 } == 0)
  }

  @Test("Keys are released like values")
  func keysAreReleased() {
    let tracker = LifetimeTracker()
    do {
      let cache = Cache<ClassKey, Int>(countLimit: 10, policy: .lru)
      for id in 0..<100 { cache[ClassKey(id, tracker)] = id }
      for id in 0..<100 { cache[ClassKey(id, tracker)] = id }
      #expect(settles(tracker, at: 10, cache))
      for id in 0..<100 {
        #expect(cache.value(forKey: ClassKey(id, tracker)) == (id < 90 ? nil : id))
      }
    }
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("On a lone thread, values removed by a predicate are released before the call returns")
  func removedByPredicate() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = TrackedCache()
      for key in 0..<1_000 { cache[key] = tracker.make(key) }
      cache.removeAll { key, _ in key % 2 == 0 }
      precondition(tracker.live == 500 && cache.retiredCount == 0)
    }
  }

  @Test("A refused value is released")
  func refusedValueIsReleased() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(totalCostLimit: 10)
    #expect(cache.insert(tracker.make(), forKey: 1, cost: 11) == .tooCostly)
    waitUntil("all values are released") { tracker.live == 0 }
    cache.insert(tracker.make(), forKey: 1, cost: 1)
    cache.updateValue(tracker.make(), forKey: 1, cost: 11)
    #expect(cache.isEmpty)
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("A copy outlives its entry, its replacement and its cache")
  func escapingCopy() {
    let tracker = LifetimeTracker()
    var copies: [Tracked] = []
    do {
      let cache = TrackedCache()
      cache[1] = tracker.make(1)
      copies.append(cache[1]!)
      copies.append(cache.value(forKey: 1)!)
      copies.append(cache.values(forKeys: [1])[0]!)
      copies.append(cache.peek(forKey: 1)!)
      copies.append(cache.snapshot()[0].value)
      copies.append(cache.withValue(forKey: 1) { $0 }!)
      copies.append(cache.updateValue(tracker.make(2), forKey: 1)!)
      copies.append(cache.removeValue(forKey: 1)!)
    }
    #expect(copies.allSatisfy { $0.isIntact })
    #expect(copies.map(\.payload) == [1, 1, 1, 1, 1, 1, 1, 2])
    #expect(tracker.live == 2)
    copies = []
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("When a closure throws, the value stays in the cache and is released once")
  func throwingClosureKeepsTheValue() {
    let tracker = LifetimeTracker()
    do {
      let cache = TrackedCache()
      cache[1] = tracker.make(1)
      for _ in 0..<1_000 {
        #expect(throws: Oops.self) {
          try cache.withValue(forKey: 1) { _ throws(Oops) -> Int in throw Oops() }
        }
      }
      #expect(throws: Oops.self) {
        try cache.withValue(forKey: 1) { _ throws(Oops) -> Int in
          cache.removeAll()
          throw Oops()
        }
      }
      #expect(settles(tracker, at: 0, cache))
      cache[2] = tracker.make(2)
      #expect(throws: Oops.self) { try cache.removeAll { _, _ in throw Oops() } }
      #expect(cache.count == 1)
      cache.checkInvariants()
    }
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A lent value survives its replacement, its removal and the removal of all entries")
  func lentValueSurvives() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(countLimit: 100)
    let attacks: [(TrackedCache) -> Void] = [
      { $0[1] = tracker.make(2) }, { $0.removeValue(forKey: 1) }, { $0.removeAll() },
      { $0.trim(toCount: 0) }, { $0.countLimit = 1 }, { $0.removeAll { _, _ in true } },
      { cache in for key in 2..<500 { cache[key] = tracker.make(key) } },
    ]
    for attack in attacks {
      cache.countLimit = 100
      cache[1] = tracker.make(1)
      let payload = cache.withValue(forKey: 1) { lent in
        attack(cache)
        cache[99] = tracker.make(99)
        cache.reclaim()
        #expect(lent.isIntact)
        return lent.payload
      }
      #expect(payload == 1)
      cache.checkInvariants()
    }
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(cache.retiredCount == 0)
    #expect(tracker.faults.isEmpty)
  }

  @Test("Loans nest, on one key and on many, and each stays valid")
  func nestedLoans() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache()
    for key in 0..<40 { cache[key] = tracker.make(key) }
    func borrow(_ depth: Int) -> Int {
      if depth == 40 {
        cache.removeAll()
        cache.reclaim()
        return 0
      }
      return cache.withValue(forKey: depth) { outer in
        let inner = borrow(depth + 1)
        #expect(outer.isIntact && outer.payload == depth)
        return inner + 1
      } ?? -1_000
    }
    #expect(borrow(0) == 40)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("On a lone thread, a lent value survives its eviction, and dies after the loan")
  func evictionOfALentValue() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 4, policy: .fifo, shards: 1)
      for key in 0..<4 { cache[key] = tracker.make(key) }
      _ = cache.value(forKey: 0)
      cache.withValue(forKey: 0) { value in
        for key in 4..<12 { cache[key] = tracker.make(key) }
        precondition(value.isIntact && tracker.isLive(0), "a lent value died")
        precondition(cache.retiredCount == 1, "its entry waits")
      }
      for key in 12..<14 { cache[key] = tracker.make(key) }
      precondition(tracker.live == 4 && tracker.faults.isEmpty)
    }
  }

  @Test("On a lone thread, values that insert others as they die all die before the call returns")
  func chainOfEvictions() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 1, policy: .fifo, shards: 1)
      let next = Protected(1)
      @Sendable func insertNext() {
        let key = next.withLock { next in
          next += 1
          return next
        }
        if key < 200 { cache[key] = tracker.make { insertNext() } }
      }
      for key in 0...1 { cache[key] = tracker.make { insertNext() } }
      precondition(tracker.live == 1 && next.withLock { $0 } == 200)
    }
  }

  @Test("A process with one thread releases removed values before the call returns")
  func synchronousRelease() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 10)
      for key in 0..<10 { cache[key] = tracker.make(key) }
      for key in 0..<1_000 {
        cache[key] = tracker.make(key)
        precondition(tracker.live == 10, "\(tracker.live) values live after insertion \(key)")
      }
      cache.removeValue(forKey: 999)
      precondition(tracker.live == 9)
      cache.removeAll()
      precondition(tracker.live == 0 && cache.retiredCount == 0)
    }
  }
}

/// A class as a key: equal by its number, tracked by its identity.
final class ClassKey: Hashable, Sendable {
  let id: Int
  private let token: Tracked

  init(_ id: Int, _ tracker: LifetimeTracker) {
    self.id = id
    token = tracker.make(id)
  }

  static func == (left: ClassKey, right: ClassKey) -> Bool { left.id == right.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
