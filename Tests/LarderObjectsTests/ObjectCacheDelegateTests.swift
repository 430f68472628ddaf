// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// The delegate is told of every object that leaves, outside locks, and may use the cache.
@Suite("Object cache delegate")
struct ObjectCacheDelegateTests {
  typealias TrackedCache = ObjectCache<NSNumber, Tracked>

  private func filled(_ count: Int, _ tracker: LifetimeTracker) -> (TrackedCache, Witness) {
    let cache = TrackedCache()
    let witness = Witness()
    cache.delegate = witness
    for number in 0..<count {
      cache.setObject(tracker.make(number), forKey: number as NSNumber, cost: 10)
    }
    return (cache, witness)
  }

  @Test(
    "Each way out is told once: eviction, removal, replacement, refusal, lowered limits"
  )
  func everyWayOut() {
    let tracker = LifetimeTracker()
    let (cache, witness) = filled(10, tracker)
    #expect(witness.payloads == [])
    cache.countLimit = 8
    #expect(witness.payloads == [0, 1])
    cache.setObject(tracker.make(10), forKey: 10, cost: 10)
    #expect(witness.payloads == [0, 1, 2])
    cache.removeObject(forKey: 5)
    #expect(witness.payloads == [0, 1, 2, 5])
    cache.removeObject(forKey: 5)
    cache.setObject(tracker.make(66), forKey: 6, cost: 10)
    #expect(witness.payloads == [0, 1, 2, 5, 6])
    cache.totalCostLimit = 60
    #expect(witness.payloads == [0, 1, 2, 5, 6, 3])
    // It is told of the old object, then of the new one, which is not stored.
    cache.setObject(tracker.make(77), forKey: 7, cost: 61)
    #expect(witness.payloads == [0, 1, 2, 5, 6, 3, 7, 77])
    cache.removeAllObjects()
    #expect(witness.payloads.dropFirst(8).sorted() == [4, 8, 9, 10, 66])
    #expect(witness.payloads.count == tracker.created)
    #expect(witness.caches.allSatisfy { $0 === cache })
  }

  @Test("An object whose cost changes is told of once, if the delegate removes it meanwhile")
  func removedWhileStoredAgain() {
    let tracker = LifetimeTracker()
    let (cache, witness) = filled(0, tracker)
    cache.totalCostLimit = 10
    let (first, second) = (tracker.make(1), tracker.make(2))
    witness.then = { cache, object in
      if object === second { cache.removeObject(forKey: 1 as NSNumber) }
    }
    cache.setObject(first, forKey: 1, cost: 1)
    cache.setObject(second, forKey: 2, cost: 9)
    cache.setObject(first, forKey: 1, cost: 5)
    #expect(witness.payloads == [2, 1])
  }

  @Test("An object that is replaced is told of, although the delegate stores it again")
  func storedAgainWhileReplaced() {
    let tracker = LifetimeTracker()
    let (cache, witness) = filled(0, tracker)
    let (first, second) = (tracker.make(1), tracker.make(2))
    witness.then = { [unowned witness] cache, object in
      witness.then = nil
      cache.setObject(object, forKey: 1 as NSNumber)
    }
    cache.setObject(first, forKey: 1)
    cache.setObject(second, forKey: 1)
    #expect(witness.payloads == [1, 2])
    #expect(cache.object(forKey: 1) === first)
  }

  @Test("A cache that is dropped, or has no delegate, tells nobody")
  func nobodyIsTold() {
    let tracker = LifetimeTracker()
    let witness = Witness()
    do {
      let cache = TrackedCache()
      cache.delegate = witness
      for number in 0..<10 { cache.setObject(tracker.make(), forKey: number as NSNumber) }
      cache.delegate = nil
      cache.removeObject(forKey: 0)
      cache.delegate = witness
    }
    waitUntil("all objects are released") { tracker.live == 0 }
    #expect(witness.evicted.isEmpty)
  }

  @Test("The delegate is not retained")
  func weakDelegate() {
    let tracker = LifetimeTracker()
    let (cache, _) = filled(3, tracker)
    #expect(cache.delegate == nil)
    cache.removeAllObjects()
    weak var gone: Witness?
    do {
      let witness = Witness()
      cache.delegate = witness
      gone = witness
      #expect(cache.delegate === witness)
    }
    #expect(gone == nil && cache.delegate == nil)
  }

  @Test("A delegate without the method does nothing")
  func emptyDelegate() {
    final class Empty: NSObject, ObjectCacheDelegate {}
    let empty = Empty()
    let cache = ObjectCache<NSString, NSNumber>()
    cache.delegate = empty
    cache.setObject(1, forKey: "a")
    cache.removeAllObjects()
    #expect(cache.object(forKey: "a") == nil)
  }

  @Test("The delegate may use every member, on every path", arguments: 0..<7)
  func delegateCallsTheCache(kind: Int) {
    let tracker = LifetimeTracker()
    let (cache, witness) = filled(8, tracker)
    cache.countLimit = 8
    var calls = 0
    witness.then = { cache, object in
      calls += 1
      guard calls < 400 else { return }
      let key = NSNumber(value: (object as? Tracked)?.payload ?? 0)
      switch kind {
      case 0: _ = cache.object(forKey: key)
      case 1: cache.setObject(tracker.make(-1), forKey: NSNumber(value: 1_000 + calls % 3))
      case 2: cache.removeObject(forKey: NSNumber(value: key.intValue + 1))
      case 3: cache.removeAllObjects()
      case 4: cache.countLimit = 8 - calls % 2
      case 5: cache.setObject(object, forKey: key)  // keeps an object that was to leave
      default:
        cache.name = "call \(calls)"
        cache.delegate = witness
        cache.evictsObjectsWithDiscardedContent.toggle()
      }
    }
    for number in 0..<100 as Range<Int> {
      cache.setObject(tracker.make(number), forKey: number as NSNumber, cost: 1)
      cache.setObject(tracker.make(number), forKey: number / 2 as NSNumber, cost: 1)
      cache.removeObject(forKey: number / 3 as NSNumber)
      cache.totalCostLimit = number % 5 == 0 ? 6 : 0
      #expect(ObjectCacheContents(of: cache).count <= 8)
    }
    #expect(calls > 50)
    witness.then = nil
    cache.removeAllObjects()
    witness.forget()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("A delegate may remove everything while everything is removed")
  func removeAllInside() {
    let tracker = LifetimeTracker()
    let (cache, witness) = filled(100, tracker)
    witness.then = { cache, _ in cache.removeAllObjects() }
    cache.removeAllObjects()
    #expect(witness.payloads.sorted() == Array(0..<100))
    cache.setObject(tracker.make(7), forKey: 7)
    cache.removeObject(forKey: 7)
    #expect(witness.payloads.last == 7)
  }

  @Test("The deinit of an object may use the cache, on every path", arguments: 0..<4)
  func deinitCallsTheCache(kind: Int) {
    final class Home: @unchecked Sendable { weak var cache: TrackedCache? }
    let tracker = LifetimeTracker()
    let home = Home()
    let cache = TrackedCache()
    home.cache = cache
    cache.countLimit = 8
    let calls = Protected(0)
    for number in 0..<300 {
      let object = tracker.make(number) {
        let call = calls.withLock { count in
          count += 1
          return count
        }
        guard let cache = home.cache, call < 200 else { return }
        switch kind {
        case 0: cache.setObject(tracker.make(-1), forKey: call % 30 as NSNumber)
        case 1: cache.removeObject(forKey: call % 30 as NSNumber)
        case 2: cache.removeAllObjects()
        default: _ = cache.object(forKey: call % 30 as NSNumber)
        }
      }
      cache.setObject(object, forKey: number % 30 as NSNumber)
      #expect(ObjectCacheContents(of: cache).count <= 8)
    }
    cache.removeObject(forKey: 299)
    cache.removeAllObjects()
    ObjectCacheContents(of: cache).reclaim()
    #expect(calls.withLock { $0 } > 0)
    home.cache = nil
    // A deinit on the background thread may have found the cache before, and store there still.
    waitUntil("all objects are released") {
      cache.removeAllObjects()
      ObjectCacheContents(of: cache).reclaim()
      return tracker.live == 0
    }
  }

  @Test("A subclass may empty itself in its deinit, and the delegate is told")
  func emptiedInDeinit() {
    final class Emptying: ObjectCache<NSNumber, Tracked> {
      deinit { removeAllObjects() }
    }
    let tracker = LifetimeTracker()
    // A delegate must not retain a cache that is being destroyed, so this one notes its name.
    final class Noting: NSObject, ObjectCacheDelegate {
      var names: [String] = []
      func cache(_ cache: ObjectCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
        names.append(cache.name)
      }
    }
    let noting = Noting()
    do {
      let cache = Emptying()
      cache.name = "emptying"
      cache.delegate = noting
      for number in 0..<5 { cache.setObject(tracker.make(number), forKey: number as NSNumber) }
    }
    #expect(noting.names == Array(repeating: "emptying", count: 5))
  }
}
