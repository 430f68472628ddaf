// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// Objects in a cache whose users count wrongly, and delegates that empty the cache in a callback.
@Suite("Miscounted content")
struct MiscountTests {
  /// Content that trusts its users' counting.
  final class Trusting: NSObject, DiscardableContent {
    let life: Tracked
    private(set) var users = 1
    private(set) var isGone = false
    init(_ life: Tracked) { self.life = life }
    func beginContentAccess() -> Bool {
      users += 1
      return !isGone
    }
    func endContentAccess() { users -= 1 }
    func discardContentIfPossible() { if users <= 0 { isGone = true } }
    func isContentDiscarded() -> Bool { isGone }
  }

  @Test("Accesses that are ended too often, or never, harm no other object", arguments: -3...3)
  func wrongCounts(extra: Int) {
    let tracker = LifetimeTracker()
    let cache = ObjectCache<NSNumber, Trusting>()
    cache.countLimit = 20
    for number in 0..<100 as Range<Int> {
      let object = Trusting(tracker.make(number))
      cache.setObject(object, forKey: number as NSNumber)
      for _ in 0..<max(extra, 0) { _ = object.beginContentAccess() }
      for _ in 0..<max(-extra, 0) { object.endContentAccess() }
      object.discardContentIfPossible()
      // Found exactly if its content is there.
      #expect((cache.object(forKey: number as NSNumber) === object) == (extra >= 0))
      #expect(object.isGone == (extra < 0))
    }
    #expect(ObjectCacheContents(of: cache).count == (extra >= 0 ? 20 : 0))
    cache.removeAllObjects()
    waitUntil("all objects are released") {
      ObjectCacheContents(of: cache).reclaim()
      return tracker.live == 0
    }
    #expect(tracker.faults.isEmpty)
  }

  @Test("A delegate may remove everything, on every path", arguments: 0..<6)
  func emptiedInCallback(kind: Int) {
    let tracker = LifetimeTracker()
    let cache = ObjectCache<NSNumber, Tracked>()
    let witness = Witness()
    cache.delegate = witness
    cache.countLimit = 8
    witness.then = { cache, _ in cache.removeAllObjects() }
    for number in 0..<8 as Range<Int> {
      cache.setObject(tracker.make(number), forKey: number as NSNumber, cost: 1)
    }
    switch kind {
    case 0: cache.setObject(tracker.make(8), forKey: 8)
    case 1: cache.setObject(tracker.make(8), forKey: 3)
    case 2: cache.removeObject(forKey: 3)
    case 3: cache.countLimit = 2
    case 4: cache.totalCostLimit = 2
    default:
      cache.totalCostLimit = 8
      cache.setObject(tracker.make(8), forKey: 3, cost: 9)
    }
    // The call that evicted had stored its object by then, so that went with the rest. The delegate
    // is told of each object once.
    #expect(ObjectCacheContents(of: cache).count == 0)
    #expect(witness.payloads.sorted() == Array(0..<(tracker.created)))
    witness.then = nil
    cache.setObject(tracker.make(100), forKey: 1)
    #expect(cache.object(forKey: 1)?.payload == 100)
    cache.removeAllObjects()
    witness.forget()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }
}
