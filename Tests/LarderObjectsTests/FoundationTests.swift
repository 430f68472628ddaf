// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// The same scripts on `ObjectCache` and on Foundation's own `NSCache`, as far as that keeps its
/// promises. On Linux it does not when it evicts the newest of equally costly objects, keeps
/// objects above a lowered limit, and reports no removals. Scripts avoid these cases.
@Suite("Beside Foundation's cache")
struct FoundationTests {
  final class FoundationWitness: NSObject, NSCacheDelegate {
    var evicted: [NSNumber] = []
    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject obj: Any) {
      evicted.append(obj as! NSNumber)
    }
  }

  private func limit<Key, Object>(
    _ theirs: NSCache<Key, Object>, _ ours: ObjectCache<Key, Object>, count: Int, cost: Int
  ) {
    theirs.countLimit = count
    ours.countLimit = count
    theirs.totalCostLimit = cost
    ours.totalCostLimit = cost
  }

  @Test("Without eviction, all members answer as those of NSCache", arguments: 0..<10)
  func withoutEviction(part: Int) {
    for seed in 0..<20 { playWithoutEviction(seed: UInt64(20 * part + seed)) }
  }

  private func playWithoutEviction(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let theirs = NSCache<NSString, NSNumber>()
    let ours = ObjectCache<NSString, NSNumber>()
    let generous = random.below(2) == 0
    limit(theirs, ours, count: generous ? 100 : 0, cost: generous ? 10_000 : 0)
    for step in 0..<200 {
      let key = string(random.below(20))
      let object = NSNumber(value: step)
      let cost = random.below(100) - 10
      switch random.below(20) {
      case 0..<10:
        #expect(theirs.object(forKey: key) === ours.object(forKey: key), "seed \(seed)")
      case 10..<13:
        theirs.setObject(object, forKey: key)
        ours.setObject(object, forKey: key)
      case 13..<16:
        theirs.setObject(object, forKey: key, cost: cost)
        ours.setObject(object, forKey: key, cost: cost)
      case 16..<18:
        theirs.removeObject(forKey: key)
        ours.removeObject(forKey: key)
      case 18 where random.below(10) == 0:
        theirs.removeAllObjects()
        ours.removeAllObjects()
      default:
        theirs.name = "\(step)"
        ours.name = "\(step)"
        #expect(theirs.name == ours.name)
        #expect(theirs.countLimit == ours.countLimit)
        #expect(theirs.totalCostLimit == ours.totalCostLimit)
      }
    }
    for key in 0..<20 {
      #expect(theirs.object(forKey: string(key)) === ours.object(forKey: string(key)))
    }
    // Foundation's cache on Linux leaks the objects it still holds when it is released.
    theirs.removeAllObjects()
  }

  @Test(
    "If the oldest object is the cheapest, the same objects are evicted as by NSCache",
    arguments: 0..<10)
  func evictionByRisingCost(part: Int) {
    for seed in 0..<10 { playWithRisingCosts(seed: UInt64(10 * part + seed)) }
  }

  private func playWithRisingCosts(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let theirs = NSCache<NSNumber, NSNumber>()
    let ours = ObjectCache<NSNumber, NSNumber>()
    let (theirWitness, ourWitness) = (FoundationWitness(), Witness())
    theirs.delegate = theirWitness
    ours.delegate = ourWitness
    let (count, cost) = (random.below(30), random.below(3_000))
    limit(theirs, ours, count: count, cost: cost)
    var rising = 0
    for number in 0..<100 {
      let object = NSNumber(value: number)
      rising += 1 + random.below(3)
      guard cost == 0 || rising <= cost else { break }
      theirs.setObject(object, forKey: object, cost: rising)
      ours.setObject(object, forKey: object, cost: rising)
      #expect(theirWitness.evicted == ourWitness.evicted.map { $0 as? NSNumber }, "seed \(seed)")
    }
    for number in 0..<100 as Range<Int> {
      let key = number as NSNumber
      #expect(theirs.object(forKey: key) === ours.object(forKey: key), "seed \(seed)")
    }
    theirs.removeAllObjects()
  }
}
