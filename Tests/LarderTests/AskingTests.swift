// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Programs that ask in another way than by a lookup before they store. LRU is the measure: of the
/// keys of a window that moves on, a cache that keeps the newest finds most.
@Suite("Ways to ask before storing")
struct AskingTests {
  /// A cache of either kind.
  struct Asked {
    let contains: (Int) -> Bool
    let peek: (Int) -> Int?
    let insertIfAbsent: (Int) -> Bool
    let value: (Int) -> Int?
    let store: (Int) -> Void

    init(_ cache: Cache<Int, Int>) {
      contains = { cache.contains($0) }
      peek = { cache.peek(forKey: $0) }
      insertIfAbsent = { cache.insert($0, ifAbsentForKey: $0).inserted }
      value = { cache[$0] }
      store = { cache[$0] = $0 }
    }

    init(_ local: LocalCache<Int, Int>) {
      contains = { local.contains($0) }
      peek = { local.peek(forKey: $0) }
      insertIfAbsent = { local.insert($0, ifAbsentForKey: $0).inserted }
      value = { local[$0] }
      store = { local[$0] = $0 }
    }
  }

  enum Way: CaseIterable {
    case contains, peek, insertIfAbsent

    /// Loads a key that is absent. Returns whether it was there.
    func isHit(_ asked: Asked, _ key: Int) -> Bool {
      switch self {
      case .contains: if asked.contains(key) { return asked.value(key) != nil }
      case .peek: if asked.peek(key) != nil { return true }
      case .insertIfAbsent: return !asked.insertIfAbsent(key)
      }
      asked.store(key)
      return false
    }
  }

  /// The hits of the last half.
  static func hits(limit: Int, _ isHit: (Int) -> Bool) -> Int {
    var random = SplitMix64(seed: 3)
    let steps = 60 * limit
    return (0..<steps).count { step in
      // A new key with each third request, and each key's uses within a window of 0.9 limits.
      isHit(step / 3 + random.below(limit * 9 / 10)) && step >= steps / 2
    }
  }

  @Test("The default policy learns of what is lacking", arguments: Way.allCases, [100, 1_000])
  func learns(way: Way, limit: Int) {
    let lru = Cache<Int, Int>(countLimit: limit, policy: .lru)
    let best = Self.hits(limit: limit) { way.isHit(Asked(lru), $0) }
    for expiration in [.never, Expiration.afterWrite(.seconds(86_400))] {
      let cache = Cache<Int, Int>(
        countLimit: limit, shards: 1, expiration: expiration, options: .repeatable())
      let found = Self.hits(limit: limit) { way.isHit(Asked(cache), $0) }
      #expect(Double(found) > 0.9 * Double(best), "\(found) of \(best)")
      cache.checkInvariants()
    }
    let local = LocalCache<Int, Int>(countLimit: limit)
    let locally = Self.hits(limit: limit) { way.isHit(Asked(local), $0) }
    #expect(Double(locally) > 0.9 * Double(best), "\(locally) of \(best)")
  }

  @Test("To ask changes neither order nor statistics")
  func quiet() {
    let cache = Cache<Int, Int>(countLimit: 3, policy: .lru)
    for key in 1...3 { cache[key] = key }
    for key in 1...9 { _ = (cache.contains(key), cache.peek(forKey: key)) }
    #expect(cache.snapshot().map(\.key) == [3, 2, 1])
    #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
  }

  @Test("A value that is there already is used by inserting another one if there is none")
  func used() {
    let cache = Cache<Int, Int>(countLimit: 2, policy: .lru)
    for key in [1, 2, 1, 3] { cache.insert(key, ifAbsentForKey: key) }
    #expect(cache.snapshot().map(\.key) == [3, 1])
    #expect(cache.statistics.hits == 1 && cache.statistics.misses == 3)
    let local = LocalCache<Int, Int>(countLimit: 2, policy: .lru)
    for key in [1, 2, 1, 3] { local.insert(key, ifAbsentForKey: key) }
    #expect(local.snapshot().map(\.key) == [3, 1])
    #expect(local.statistics.hits == 1 && local.statistics.misses == 3)
  }

  @Test("It moves the deadline of what goes by its last use")
  func prolonged() {
    let clock = ManualClock()
    let cache = Cache<Int, Int>(
      expiration: .afterAccess(.seconds(10)), options: .init(clock: .manual(clock)))
    cache[1] = 1
    for _ in 0..<5 {
      clock.advance(by: .seconds(6))
      #expect(cache.insert(2, ifAbsentForKey: 1).current == 1)
    }
  }
}
