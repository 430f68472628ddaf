// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

@Suite("Removal of unreferenced objects", .timeLimit(.minutes(20)))
struct UnreferencedTests {
  typealias TrackedCache = Cache<Int, Tracked>

  @Test(
    "Objects held elsewhere stay, and all others are removed", arguments: [1, 4], [0, 1, 70, 3_000])
  func heldObjectsStay(shards: Int, count: Int) {
    let tracker = LifetimeTracker()
    let removed = Protected<Set<Int>>([])
    let cache = TrackedCache(shards: shards) { key, value, _, cause in
      precondition(value.isIntact && cause == .removed)
      removed.withLock { _ = $0.insert(key) }
    }
    var holders: [Tracked] = []
    for key in 0..<count {
      let value = tracker.make(key)
      if key % 3 == 0 { holders.append(value) }
      cache[key] = value
    }
    let expected = (0..<count).filter { $0 % 3 != 0 }
    #expect(cache.removeUnreferenced() == expected.count)
    #expect(removed.withLock { $0 } == Set(expected))
    #expect(Set(cache.keys) == Set((0..<count).filter { $0 % 3 == 0 }))
    #expect(cache.removeUnreferenced() == 0)
    #expect(settles(tracker, at: holders.count, cache))
    holders = []
    #expect(cache.removeUnreferenced() == count - expected.count)
    #expect(cache.isEmpty)
    cache.checkInvariants()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  /// A lookup goes by a time that may be two milliseconds old.
  @Test("What has just expired is not found afterwards")
  func removedAtItsDeadline() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(expiration: .afterWrite(.milliseconds(2)))
    let time = ContinuousClock()
    for round in 0..<Stress.scaled(500, atLeast: 100) {
      cache[1] = tracker.make(round)
      let end = time.now + .microseconds(2_000 + round % 30)
      while time.now < end { _ = cache[1] }
      cache.removeUnreferenced()
      #expect(cache[1] == nil, "in round \(round)")
    }
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("Keys of one hash are removed even if a slice has no room for all of them")
  func manyKeysOfOneHash() {
    let tracker = LifetimeTracker()
    let cache = Cache<Collider, Tracked>()
    var holders: [Tracked] = []
    for id in 0..<300 {
      let value = tracker.make(id)
      if id % 2 == 0 { holders.append(value) }
      cache[Collider(id)] = value
    }
    #expect(cache.removeUnreferenced() == 150)
    #expect(cache.count == 150 && holders.count == 150)
    cache.checkInvariants()
  }

  @Test("Weak references do not hold an object; loans and second keys do")
  func kindsOfReferences() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache()
    cache[1] = tracker.make(1)
    weak var weakly: Tracked?
    weakly = cache[1]
    cache[2] = tracker.make(2)
    cache[3] = cache[2]
    cache[4] = tracker.make(4)
    let removed = cache.withValue(forKey: 4) { lent in
      let removed = cache.removeUnreferenced()
      #expect(lent.isIntact && cache.contains(4))
      return removed
    }
    #expect(removed == 1 && cache.count == 3)
    #expect(settles(tracker, at: 2, cache))
    #expect(weakly == nil)
    cache.removeValue(forKey: 2)
    cache.reclaim()
    #expect(settles(tracker, at: 2, cache))
    #expect(cache.removeUnreferenced() == 2)
  }

  @Test("An observer and a deinit may call removeUnreferenced() again")
  func observerAndDeinitMayCallAgain() {
    let tracker = LifetimeTracker()
    let home = Protected<TrackedCache?>(nil)
    let cache = TrackedCache { key, _, _, _ in
      guard let cache = home.withLock({ $0 }), key < 100 else { return }
      cache.removeUnreferenced()
      cache[key + 100] = tracker.make(key)
    }
    home.withLock { $0 = cache }
    for key in 0..<100 {
      cache[key] = tracker.make(key) { home.withLock { $0 }?.removeUnreferenced() }
    }
    cache.removeUnreferenced()
    #expect(cache.keys.allSatisfy { $0 >= 100 })
    home.withLock { $0 = nil }
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  /// A value held since before a call began outlives the call in the cache, even while the table
  /// grows and shrinks. A reader gets an intact value meanwhile.
  @Test("Readers, writers and removals may run at once", arguments: [1, 4])
  func readersWritersAndRemovalsAtOnce(shards: Int) {
    let tracker = LifetimeTracker()
    do {
      let cache = TrackedCache(policy: .lru, shards: shards)
      let calls = Atomic(0)
      let working = Atomic(3)
      onThreads(5) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        if thread == 0 {
          while working.load(ordering: .acquiring) > 0 {
            cache.removeUnreferenced()
            calls.add(1, ordering: .sequentiallyConsistent)
          }
          return
        }
        if thread == 4 {
          while working.load(ordering: .acquiring) > 0 {
            if let value = cache.value(forKey: random.below(500)) { precondition(value.isIntact) }
            cache.withValue(forKey: random.below(500)) { precondition($0.isIntact) }
          }
          return
        }
        let own = thread * 100  // only this thread writes keys from here on
        for round in 0..<Stress.scaled(300, atLeast: 30) {
          for key in own..<own + 99 { cache[key] = tracker.make(key) }
          let held = tracker.make(round)
          cache[own + 99] = held
          let before = calls.load(ordering: .sequentiallyConsistent)
          while calls.load(ordering: .sequentiallyConsistent) < before + 2 { sleepBriefly() }
          precondition(cache.peek(forKey: own + 99) === held, "a value in use was removed")
        }
        working.subtract(1, ordering: .releasing)
      }
      cache.checkInvariants()
      #expect(settles(tracker, at: cache.count, cache))
    }
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }
}
