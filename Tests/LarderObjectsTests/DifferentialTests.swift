// SPDX-License-Identifier: Apache-2.0
import Foundation
import LarderObjects
import LarderTestSupport
import Testing

/// Random scripts of all members, on `ObjectCache` and on a plain model of `NSCache`'s contract.
@Suite("Differential")
struct DifferentialTests {
  static let keys = 12
  static let items = 30

  private func randomStep(_ random: inout SplitMix64) -> Step {
    let key = random.below(Self.keys)
    let item = random.below(Self.items)
    switch random.below(100) {
    case 0..<30: return .get(key)
    case 30..<45: return .set(key, item: item, cost: nil)
    case 45..<62: return .set(key, item: item, cost: random.below(15) - 2)
    case 62..<69: return .remove(key)
    case 69: return .removeAll
    case 70..<75: return .countLimit(random.below(Self.keys + 3) - 2)
    case 75..<80: return .costLimit(random.below(50) - 5)
    case 80..<83: return .evictsDiscarded(random.below(2) == 0)
    case 83..<87: return .begin(item)
    case 87..<95: return .end(item)
    default: return .discard(item)
    }
  }

  /// Runs one script, and compares everything visible after every step.
  private func check<Key: AnyObject>(seed: UInt64, _ makeKey: (Int) -> Key) throws {
    var random = SplitMix64(seed: seed)
    var model = ModelObjectCache(items: Self.items)
    let items = (0..<Self.items).map { Item($0) }
    let cache = ObjectCache<Key, Item>()
    let contents = ObjectCacheContents(of: cache)
    let witness = Witness()
    cache.delegate = witness
    let numbers = Dictionary(uniqueKeysWithValues: items.map { (ObjectIdentifier($0), $0.number) })
    for number in 0..<120 {
      let step = randomStep(&random)
      // One end too many is a mistake at which debug builds stop.
      if case .end(let item) = step, model.contents[item].users == 0 { continue }
      witness.forget()
      let expected = model.apply(step)
      var found: Item?
      switch step {
      case .get(let key): found = cache.object(forKey: makeKey(key))
      case .set(let key, let item, nil): cache.setObject(items[item], forKey: makeKey(key))
      case .set(let key, let item, let cost?):
        cache.setObject(items[item], forKey: makeKey(key), cost: cost)
      case .remove(let key): cache.removeObject(forKey: makeKey(key))
      case .removeAll: cache.removeAllObjects()
      case .countLimit(let limit): cache.countLimit = limit
      case .costLimit(let limit): cache.totalCostLimit = limit
      case .evictsDiscarded(let flag): cache.evictsObjectsWithDiscardedContent = flag
      case .begin(let item): _ = items[item].beginContentAccess()
      case .end(let item): items[item].endContentAccess()
      case .discard(let item): items[item].discardContentIfPossible()
      }
      let place: Comment = "seed \(seed), step \(number): \(step)"
      try #require(found?.number == expected, place)
      let told = witness.evicted.map { numbers[ObjectIdentifier($0)]! }
      try #require(told.sorted() == model.told.sorted(), place)
      try #require(contents.allObjects.map(\.number) == model.entries.map(\.item), place)
      try #require(contents.count == model.entries.count, place)
      try #require(contents.totalCost == model.totalCost, place)
      try #require(cache.countLimit == model.countLimit, place)
      try #require(cache.totalCostLimit == model.costLimit, place)
      try #require(items.map(\.content) == model.contents, place)
    }
  }

  // Several scripts in each case, because hundreds of cases at once would wait for each other.
  static let parts = 0..<10

  private func seeds(_ part: Int, _ first: Int, _ count: Int) -> [UInt64] {
    (0..<Stress.scaled(count)).map { UInt64(100 * part + first + $0) }
  }

  @Test("Scripts agree with strings as keys", arguments: parts)
  func stringKeys(part: Int) throws {
    for seed in seeds(part, 0, 30) { try check(seed: seed, string) }
  }

  @Test("Scripts agree with numbers as keys", arguments: parts)
  func numberKeys(part: Int) throws {
    for seed in seeds(part, 30, 20) { try check(seed: seed) { NSNumber(value: $0) } }
  }

  @Test("Scripts agree with keys of one hash", arguments: parts)
  func keysOfOneHash(part: Int) throws {
    for seed in seeds(part, 50, 10) { try check(seed: seed) { FoundationKey($0) } }
  }

  @Test("Scripts agree with Hashable objects as keys", arguments: parts)
  func hashableKeys(part: Int) throws {
    for seed in seeds(part, 60, 10) { try check(seed: seed) { NumberedKey($0) } }
  }

  @Test("Scripts agree with keys of any class", arguments: parts)
  func keysOfAnyClass(part: Int) throws {
    let plain = (0..<Self.keys).map { PlainKey($0) }
    for seed in seeds(part, 70, 10) {
      try check(seed: seed) { number -> AnyObject in
        switch number % 4 {
        case 0: string(number)
        case 1: NSNumber(value: number)
        case 2: NumberedKey(number)
        default: plain[number]
        }
      }
    }
  }
}
