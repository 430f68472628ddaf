// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// The members of `NSCache`, as its documentation describes them and as Apple's behaves.
@Suite("Object cache")
struct ObjectCacheTests {
  @Test("A new cache is empty, nameless and without limits, and evicts discarded objects")
  func defaultsOfANewCache() {
    let cache = ObjectCache<NSString, NSNumber>()
    #expect(cache.name == "")
    #expect(cache.countLimit == 0)
    #expect(cache.totalCostLimit == 0)
    #expect(cache.evictsObjectsWithDiscardedContent)
    #expect(cache.delegate == nil)
    #expect(cache.object(forKey: "a") == nil)
  }

  @Test("Settings keep their values; a negative limit means none")
  func settingsAreKept() {
    let cache = ObjectCache<NSString, NSNumber>()
    cache.name = "images"
    cache.countLimit = 3
    cache.totalCostLimit = .max
    cache.evictsObjectsWithDiscardedContent = false
    #expect(cache.name == "images")
    #expect(cache.countLimit == 3)
    #expect(cache.totalCostLimit == .max)
    #expect(!cache.evictsObjectsWithDiscardedContent)
    cache.countLimit = -1
    cache.totalCostLimit = .min
    #expect(cache.countLimit == 0)
    #expect(cache.totalCostLimit == 0)
  }

  @Test("An object is found until it is removed or replaced")
  func objectIsFoundUntilItLeaves() {
    let cache = ObjectCache<NSString, NSNumber>()
    cache.setObject(1, forKey: "one")
    cache.setObject(2, forKey: "two", cost: 5)
    #expect(cache.object(forKey: "one") == 1)
    #expect(cache.object(forKey: "two") == 2)
    cache.setObject(22, forKey: "two")
    #expect(cache.object(forKey: "two") == 22)
    cache.removeObject(forKey: "one")
    cache.removeObject(forKey: "three")
    #expect(cache.object(forKey: "one") == nil)
    #expect(cache.object(forKey: "two") == 22)
    cache.removeAllObjects()
    #expect(cache.object(forKey: "two") == nil)
  }

  @Test("The newest objects stay when a cache is full")
  func newestStay() {
    let byCount = ObjectCache<NSNumber, NSNumber>()
    byCount.countLimit = 3
    let byCost = ObjectCache<NSNumber, NSNumber>()
    byCost.totalCostLimit = 30
    for number in 0..<10 as Range<Int> {
      byCount.setObject(number as NSNumber, forKey: number as NSNumber)
      byCost.setObject(number as NSNumber, forKey: number as NSNumber, cost: 10)
    }
    #expect(ObjectCacheContents(of: byCount).allKeys == [9, 8, 7])
    #expect(ObjectCacheContents(of: byCost).allKeys == [9, 8, 7])
  }

  @Test("A lookup counts as a use, and the least recently used objects make room for cost")
  func leastRecentlyUsed() {
    let cache = ObjectCache<NSNumber, NSNumber>()
    cache.totalCostLimit = (0..<1_000).reduce(0, +)
    for cost in 0..<1_000 as Range<Int> {
      cache.setObject(cost as NSNumber, forKey: cost as NSNumber, cost: cost)
    }
    #expect(ObjectCacheContents(of: cache).count == 1_000)
    #expect(cache.object(forKey: 0) == 0)
    #expect(cache.object(forKey: 600) == 600)
    // 1 + 2 + … + 44 = 990 would not make room for it.
    cache.setObject(1_000, forKey: 1_000, cost: 1_000)
    for cost in 1...45 { #expect(cache.object(forKey: cost as NSNumber) == nil) }
    for cost in [0, 46, 600, 1_000] { #expect(cache.object(forKey: cost as NSNumber) != nil) }
  }

  @Test("Lowering a limit trims at once, raising one brings nothing back")
  func loweredLimits() {
    let cache = ObjectCache<NSNumber, NSNumber>()
    let contents = ObjectCacheContents(of: cache)
    for number in 0..<10 as Range<Int> {
      cache.setObject(number as NSNumber, forKey: number as NSNumber, cost: 10)
    }
    cache.countLimit = 7
    #expect(contents.allKeys == [9, 8, 7, 6, 5, 4, 3])
    cache.totalCostLimit = 45
    #expect(contents.allKeys == [9, 8, 7, 6])
    cache.countLimit = 100
    cache.totalCostLimit = 0
    #expect(contents.count == 4 && contents.totalCost == 40)
    cache.totalCostLimit = 9
    #expect(contents.count == 0)
  }

  @Test("Negative costs count as 0; huge costs neither overflow nor trap")
  func oddCosts() {
    let cache = ObjectCache<NSString, NSNumber>()
    let contents = ObjectCacheContents(of: cache)
    cache.setObject(1, forKey: "a", cost: -5)
    cache.setObject(2, forKey: "b", cost: .min)
    #expect(contents.totalCost == 0)
    cache.setObject(3, forKey: "c", cost: .max)
    cache.setObject(4, forKey: "d", cost: .max)
    #expect(contents.count == 4 && contents.totalCost == .max)
    cache.totalCostLimit = .max
    #expect(cache.object(forKey: "d") == 4)
    #expect(contents.totalCost == .max)
    cache.removeObject(forKey: "d")
    #expect(contents.totalCost == 0)
  }

  @Test("An object too costly for the cache leaves all others, but not the old one of its key")
  func objectTooCostlyIsRefused() {
    let cache = ObjectCache<NSString, NSNumber>()
    cache.totalCostLimit = 30
    for key in ["a", "b", "c"] as [NSString] { cache.setObject(1, forKey: key, cost: 10) }
    cache.setObject(2, forKey: "huge", cost: 31)
    cache.setObject(2, forKey: "b", cost: 31)
    #expect(Set(ObjectCacheContents(of: cache).allKeys) == ["a", "c"])
    cache.setObject(3, forKey: "exact", cost: 30)
    #expect(ObjectCacheContents(of: cache).allKeys == ["exact"])
  }

  @Test("A replacement changes the cost; storing the same object again evicts nothing")
  func replacementCost() {
    let cache = ObjectCache<NSString, NSNumber>()
    let contents = ObjectCacheContents(of: cache)
    let witness = Witness()
    cache.delegate = witness
    let object = NSNumber(value: 1.5)
    cache.setObject(object, forKey: "a", cost: 10)
    cache.setObject(object, forKey: "a", cost: 4)
    #expect(contents.totalCost == 4 && contents.count == 1)
    #expect(witness.evicted.isEmpty)
    cache.setObject(NSNumber(value: 2.5), forKey: "a", cost: 6)
    #expect(contents.totalCost == 6)
    #expect(witness.evicted.count == 1 && witness.evicted.first === object)
  }

  @Test("Contents list the most recently used object first")
  func contentsAreOrderedByUse() {
    let cache = ObjectCache<NSString, NSNumber>()
    let contents = ObjectCacheContents(of: cache)
    for (number, key) in ["a", "b", "c"].enumerated() {
      cache.setObject(number as NSNumber, forKey: key as NSString, cost: number)
    }
    _ = cache.object(forKey: "a")
    _ = cache.object(forKey: "z")
    #expect(contents.allKeys == ["a", "c", "b"])
    #expect(contents.allObjects == [0, 2, 1])
    #expect(contents.count == 3 && contents.totalCost == 3)
    #expect(contents.statistics.hits == 1 && contents.statistics.misses == 1)
  }
}
