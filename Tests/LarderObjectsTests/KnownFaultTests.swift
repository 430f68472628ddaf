// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// Faults seen in other caches of this kind. Each test shows that this cache does not have one.
@Suite("Faults of other caches")
struct KnownFaultTests {
  typealias TrackedCache = ObjectCache<NSNumber, Tracked>

  @Test("A cache that is dropped full releases every key and object")
  func droppedFull() {
    let tracker = LifetimeTracker()
    do {
      let cache = ObjectCache<Tracked, Tracked>()
      for number in 0..<1_000 {
        cache.setObject(tracker.make(number), forKey: tracker.make(number), cost: number)
      }
      #expect(tracker.live == 2_000)
    }
    waitUntil("all objects are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("Objects that were evicted, replaced, removed or refused are released")
  func everyPathReleases() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache()
    cache.countLimit = 100
    cache.totalCostLimit = 1_000
    for number in 0..<2_000 as Range<Int> {
      cache.setObject(tracker.make(), forKey: number / 2 as NSNumber, cost: 5)
      cache.setObject(tracker.make(), forKey: number / 3 as NSNumber, cost: 1_001)
      cache.removeObject(forKey: number / 4 as NSNumber)
    }
    cache.removeAllObjects()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("An object that is read often outlives colder and costlier ones")
  func hotObjectStays() {
    let cache = ObjectCache<NSNumber, NSNumber>()
    cache.totalCostLimit = 1_000
    cache.setObject(-1, forKey: -1, cost: 1)
    for number in 0..<1_000 as Range<Int> {
      #expect(cache.object(forKey: -1) == -1)
      cache.setObject(number as NSNumber, forKey: number as NSNumber, cost: 100)
    }
    #expect(cache.object(forKey: 0) == nil && cache.object(forKey: 999) != nil)
  }

  @Test("Objects of cost 0 need no room, and a full cost limit takes more of them")
  func zeroCosts() {
    let cache = ObjectCache<NSNumber, NSNumber>()
    cache.totalCostLimit = 30
    for number in 0..<3 as Range<Int> {
      cache.setObject(1, forKey: number as NSNumber, cost: 10)
    }
    for number in 10..<100 as Range<Int> { cache.setObject(0, forKey: number as NSNumber) }
    #expect(ObjectCacheContents(of: cache).count == 93)
  }

  @Test("Removing an object lowers the total cost and leaves the limit")
  func removedCost() {
    let cache = ObjectCache<NSNumber, NSNumber>()
    cache.totalCostLimit = 100
    for round in 0..<50 as Range<Int> {
      cache.setObject(1, forKey: round as NSNumber, cost: 90)
      cache.removeObject(forKey: round as NSNumber)
    }
    #expect(cache.totalCostLimit == 100)
    #expect(ObjectCacheContents(of: cache).totalCost == 0)
    cache.setObject(1, forKey: 0, cost: 100)
    #expect(cache.object(forKey: 0) == 1)
  }

  /// A key that counts how often it is hashed and compared.
  final class CountingKey: NSObject {
    nonisolated(unsafe) static var calls = 0
    let number: Int
    init(_ number: Int) { self.number = number }
    override var hash: Int {
      Self.calls += 1
      return number &* 0x9E37_79B9
    }
    override func isEqual(_ object: Any?) -> Bool {
      Self.calls += 1
      return (object as? CountingKey)?.number == number
    }
  }

  @Test("Storing, finding and removing ask a key equally often in caches of all sizes")
  func keysAreAskedEquallyOften() {
    func callsPerOperation(_ count: Int) -> Double {
      var random = SplitMix64(seed: 7)
      let cache = ObjectCache<CountingKey, NSNumber>()
      cache.countLimit = count
      CountingKey.calls = 0
      for number in 0..<2 * count {
        cache.setObject(1, forKey: CountingKey(number), cost: random.below(1_000))
        _ = cache.object(forKey: CountingKey(number))
        if number % 4 == 0 { cache.removeObject(forKey: CountingKey(number)) }
      }
      return Double(CountingKey.calls) / Double(2 * count)
    }
    let (small, large) = (callsPerOperation(1_000), callsPerOperation(64_000))
    #expect(small < 4 && large < small * 1.05, "\(small) and \(large) calls")
  }

  @Test("Replacing every object keeps count and cost right")
  func countAndCostAfterReplacements() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache()
    for round in 1...5 {
      for number in 0..<100 as Range<Int> {
        cache.setObject(tracker.make(), forKey: number as NSNumber, cost: round)
      }
      #expect(ObjectCacheContents(of: cache).count == 100)
      #expect(ObjectCacheContents(of: cache).totalCost == 100 * round)
      #expect(settles(tracker, at: 100, cache))
    }
  }

  @Test("Count, cost and lifetimes are right after threads did everything at once")
  func concurrentUse() {
    struct Shared: @unchecked Sendable {
      let cache: TrackedCache
      let witness: CountingWitness
    }
    let tracker = LifetimeTracker()
    let shared = Shared(cache: TrackedCache(), witness: CountingWitness())
    shared.cache.countLimit = 64
    shared.cache.totalCostLimit = 400
    shared.cache.delegate = shared.witness
    onThreads(4) { index in
      var random = SplitMix64(seed: UInt64(index))
      let cache = shared.cache
      for step in 0..<Stress.scaled(5_000) {
        let key = string(random.below(100))
        let number = NSNumber(value: random.below(100))
        switch random.below(10) {
        case 0..<5:
          if let object = cache.object(forKey: number) { precondition(object.isIntact) }
        case 5..<8:
          cache.setObject(tracker.make(), forKey: number, cost: random.below(12))
          shared.witness.stored.withLock { $0 += 1 }
        case 8: cache.removeObject(forKey: number)
        default:
          cache.name = "\(key)"
          cache.countLimit = 32 + random.below(64)
          if step % 100 == 0 { cache.removeAllObjects() }
          if step % 50 == 0 { cache.delegate = shared.witness }
          _ = (cache.name, cache.totalCostLimit, ObjectCacheContents(of: cache).allKeys.count)
        }
      }
    }
    let contents = ObjectCacheContents(of: shared.cache)
    #expect(contents.count <= 96 && contents.totalCost <= 400)
    #expect(contents.count == contents.allObjects.count)
    // Every object that was stored is there, or the delegate was told of it.
    let told = shared.witness.told.withLock { $0 }
    #expect(told + contents.count == shared.witness.stored.withLock { $0 })
    shared.cache.removeAllObjects()
    #expect(settles(tracker, at: 0, shared.cache))
    #expect(tracker.faults.isEmpty)
  }

  final class CountingWitness: NSObject, ObjectCacheDelegate, @unchecked Sendable {
    let stored = Protected(0)
    let told = Protected(0)
    func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
      precondition((obj as? Tracked)?.isIntact == true)
      told.withLock { $0 += 1 }
    }
  }
}
