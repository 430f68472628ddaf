// SPDX-License-Identifier: Apache-2.0
import CLarder
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// What a test of compaction looks at.
enum Sparse {
  /// So many entries of two integers take 3 to 6 MB.
  static let many = Stress.scaled(200_000, atLeast: 100_000)

  /// Removes all but one entry in `part`. What is left lies in all pages.
  static func thin<Value>(_ cache: Cache<Int, Value>, keepingOneIn part: Int) {
    for key in 0..<many where key % part != 0 { cache.removeValue(forKey: key) }
  }

  /// The bytes of the pages that entries lie in.
  static func pool<Value>(_ cache: Cache<Int, Value>) -> Int {
    cache.withCore { Int(lrd_cache_statistics($0).pool_bytes) }
  }

  /// The entries that were ever moved.
  static func moved<Value>(_ cache: Cache<Int, Value>) -> Int {
    cache.withCore { Int(lrd_cache_moved($0)) }
  }

  /// Whether entries lie as densely as they can, but for an eighth, after a pool of so many entries
  /// had `full` bytes.
  static func isDense<Value>(_ cache: Cache<Int, Value>, full: Int) -> Bool {
    let needed = full / many * cache.count
    return pool(cache) < needed + needed / 8 + 65_536
  }
}

/// Entries that are left when most are gone are moved together, and nobody notices.
@Suite("Compaction", .timeLimit(.minutes(20)))
struct CompactionTests {
  typealias Numbers = Cache<Int, Int>

  // Not under ThreadSanitizer: one thread, for two minutes.
  @Test(
    "reclaim() leaves pages that fit, and every policy its order",
    arguments: EvictionPolicy.allCases, [1, 4])
  func order(policy: EvictionPolicy, shards: Int) {
    var options = Numbers.Options()
    options.hashSeeds = (1, 2)
    let caches = (0..<2).map { _ in
      Numbers(totalCostLimit: 1 << 40, policy: policy, shards: shards, options: options)
    }
    var full = 0
    for cache in caches {
      for key in 0..<Sparse.many { cache.insert(key, forKey: key, cost: 1 + key % 3) }
      full = Sparse.pool(cache)
      for key in 0..<Sparse.many where key % 30 == 0 { _ = cache[key] }
      for key in 0..<Sparse.many where key % 90 == 0 { _ = cache[key] }
      Sparse.thin(cache, keepingOneIn: 10)
    }
    let (cache, other) = (caches[0], caches[1])
    // Hits that wait in the batch of this thread are noted, too.
    let hits = [Sparse.many / 2 + 10, Sparse.many / 4 * 3 + 50, Sparse.many - 10]
    for each in caches { for key in hits { _ = each[key] } }
    cache.reclaim()
    cache.checkInvariants()
    #expect(Sparse.isDense(cache, full: full), "\(Sparse.pool(cache)) of \(full)")
    #expect(Sparse.moved(cache) > cache.count / 2)
    #expect(cache.totalCost == other.totalCost && cache.count == other.count)
    #expect(cache.statistics == other.statistics)
    #expect(cache.keys == other.keys)
    // What the policy knows beyond that shows by what it evicts next.
    for each in caches {
      for key in 0..<Sparse.many / 10 { each.insert(key, forKey: -1 - key, cost: 1) }
      each.trim(toCount: Sparse.many / 40 * 3)
    }
    #expect(cache.keys == other.keys)
    for key in cache.keys where key >= 0 { #expect(cache.peek(forKey: key) == key) }
    cache.checkInvariants()
  }

  enum Room: CaseIterable {
    case costs, deadlines, idleTimes, costsLater, deadlinesLater, idleLater
  }

  // Not under ThreadSanitizer: one thread, for most of a minute.
  @Test("Costs, deadlines and idle times are those of before", arguments: Room.allCases, [1, 4])
  func fields(room: Room, shards: Int) {
    let clock = ManualClock()
    let expiration: Expiration =
      switch room {
      case .deadlines, .idleLater: .afterWrite(.seconds(1_000), jitter: 0.5)
      case .idleTimes: Expiration(afterWrite: .seconds(1_000), afterAccess: .seconds(300))
      default: .never
      }
    let cache = Numbers(
      totalCostLimit: room == .costs ? 1 << 40 : 0, shards: shards, expiration: expiration,
      options: .init(clock: .manual(clock)))
    func lifetime(_ key: Int) -> Duration? { key % 4 == 1 ? .seconds(100 + key % 60) : nil }
    for key in 0..<Sparse.many {
      let timed = room == .deadlinesLater && key % 50 != 0 ? nil : lifetime(key)
      cache.insert(key, forKey: key, cost: key % 3, expiresAfter: room == .costsLater ? nil : timed)
      if key % 1_000 == 0 { clock.advance(by: .milliseconds(100)) }
    }
    if room == .idleLater { cache.expiration = .afterAccess(.seconds(200)) }
    let full = Sparse.pool(cache)
    Sparse.thin(cache, keepingOneIn: 11)
    for key in 0..<Sparse.many where key % 33 == 0 { _ = cache[key] }
    clock.advance(by: .seconds(50))
    for key in 0..<Sparse.many where key % 66 == 0 { _ = cache[key] }
    clock.advance(by: .seconds(20))
    let keys = (0..<Sparse.many).filter { $0 % 11 == 0 }
    let before = keys.map { cache.remainingLifetime(forKey: $0) }
    let (count, cost) = (cache.count, cache.totalCost)
    cache.reclaim()
    cache.checkInvariants()
    #expect(Sparse.isDense(cache, full: full), "\(Sparse.pool(cache)) of \(full)")
    #expect(Sparse.moved(cache) > count / 2)
    #expect(keys.map { cache.remainingLifetime(forKey: $0) } == before)
    #expect(cache.count == count && cache.totalCost == cost)
    // The wheels have them all, at their times.
    let pause = Duration.seconds(60)
    clock.advance(by: pause)
    let live = zip(keys, before).filter { $1.map { $0 > pause } ?? true }.map(\.0)
    cache.removeExpired()
    #expect(cache.keys.sorted() == live)
    cache.checkInvariants()
  }

  @Test("Values die once, and only when they have left", arguments: [false, true])
  func lives(isLent: Bool) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(options: .init(remembersAge: true))
    for key in 0..<Sparse.many { cache[key] = tracker.make(key) }
    Sparse.thin(cache, keepingOneIn: 20)
    let alive = cache.count
    if isLent {
      cache.withValue(forKey: 20) { value in
        cache.reclaim()
        #expect(value.isIntact && cache[20] === value)
        cache.removeValue(forKey: 20)
        #expect(value.isIntact)
      }
      cache.reclaim()
    } else {
      cache.reclaim()
      #expect(tracker.live == alive, "no copy waits")
      cache.removeValue(forKey: 20)
    }
    #expect(Sparse.moved(cache) > alive / 2)
    #expect(settles(tracker, at: alive - 1, cache))
    // The order by age, and what nobody else holds.
    cache.trimOldest(toCount: 1_000)
    #expect(cache.keys.min()! == Sparse.many - 1_000 * 20)
    #expect(cache.removeUnreferenced() == 1_000)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  /// What a receiver of values knows.
  private final class Receiver: Sendable {
    let cache = Mutex<Numbers?>(nil)
    let depth = Atomic(0)
    let deepest = Atomic(0)

    /// Calls reclaim() from within, as code of users may.
    func receive(_ batch: ReleaseBatch<Int>) {
      let now = depth.add(1, ordering: .relaxed).newValue
      if now > deepest.load(ordering: .relaxed) { deepest.store(now, ordering: .relaxed) }
      cache.withLock { $0 }?.reclaim()
      batch.release()
      depth.subtract(1, ordering: .relaxed)
    }
  }

  @Test("A receiver of values that calls reclaim() is not called ever deeper inside itself")
  func nested() {
    let receiver = Receiver()
    let cache = Numbers(
      shards: 1, options: .init(release: ValueRelease { receiver.receive($0) }))
    for key in 0..<Sparse.many { cache[key] = key }
    Sparse.thin(cache, keepingOneIn: 4)
    receiver.cache.withLock { $0 = cache }
    cache.reclaim()
    receiver.cache.withLock { $0 = nil }
    #expect(Sparse.moved(cache) > cache.count / 2)
    #expect(receiver.deepest.load(ordering: .relaxed) <= 32)
    cache.checkInvariants()
  }

  @Test("What a closure is asked about is found again after it", arguments: [1, 4])
  func judged(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    for key in 0..<Sparse.many { cache[key] = key }
    Sparse.thin(cache, keepingOneIn: 10)
    var asked = 0
    cache.removeAll { key, _ in
      asked += 1
      if asked == 1_000 { cache.reclaim() }
      return key % 20 == 0
    }
    #expect(Sparse.moved(cache) > Sparse.many / 20)
    #expect(asked == Sparse.many / 10)
    #expect(cache.keys.sorted() == Array(stride(from: 10, to: Sparse.many, by: 20)))
    cache.checkInvariants()
  }

  /// Calls `body` inside so many loans of one key.
  private static func inside(_ loans: Int, _ cache: Numbers, _ key: Int, _ body: () -> Void) {
    if loans == 0 { return body() }
    let found: Void? = cache.withValue(forKey: key) { _ in inside(loans - 1, cache, key, body) }
    precondition(found != nil)
  }

  @Test("So is what a thread asks about that has no loan left", arguments: [0, 32, 33])
  func judgedWithoutLoan(loans: Int) {
    let cache = Numbers(shards: 1)
    let other = Numbers()
    other[0] = 0
    for key in 0..<Sparse.many { cache[key] = key }
    Sparse.thin(cache, keepingOneIn: 100)
    let before = cache.count
    Self.inside(loans, other, 0) {
      var asked = 0
      cache.removeAll { _, _ in
        asked += 1
        if asked == 1 { cache.reclaim() }
        return true
      }
      #expect(asked - before <= 1, "what has moved is asked about once more")
    }
    #expect(Sparse.moved(cache) > 0 && cache.isEmpty)
    cache.checkInvariants()
  }
}
