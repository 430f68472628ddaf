// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Groups of keys", .timeLimit(.minutes(20)))
struct GroupTests {
  typealias Grouped = Cache<Int, Tracked>

  private func options(quota: @escaping @Sendable (Int) -> Int = { _ in 0 }) -> Grouped.Options {
    .init(groups: .by({ $0 / 1_000 }, quota: quota))
  }

  @Test("An observer may store the entry that a quota would have evicted next")
  func storedAmidAnInsertion() {
    let shelf = Protected<Cache<String, Int>?>(nil)
    let cache = Cache<String, Int>(
      shards: 1,
      options: .init(
        onInsertion: { key, _, _ in if key == "c" { shelf.withLock { $0 }?["a"] = 10 } },
        groups: .by({ _ in 0 }, quota: { _ in 2 })))
    shelf.withLock { $0 = cache }
    for key in ["a", "b", "c"] { cache[key] = 1 }
    #expect(Set(cache.keys) == ["a", "c"] && cache["a"] == 10)
    shelf.withLock { $0 = nil }
  }

  @Test("Removing a group removes its entries and no others", arguments: [1, 4])
  func groupIsRemoved(shards: Int) {
    let tracker = LifetimeTracker()
    let causes = Protected<[RemovalCause]>([])
    let cache = Grouped(
      shards: shards, onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } },
      options: options())
    for key in 0..<3_000 where key % 10 == 0 { cache[key] = tracker.make(key) }
    #expect(cache.groupCount == 3 && cache.count(inGroup: 1) == 100)
    cache.removeAll(inGroup: 1)
    #expect(cache.count == 200 && cache.keys.allSatisfy { $0 / 1_000 != 1 })
    #expect(causes.withLock { $0 == Array(repeating: .removed, count: 100) })
    #expect(cache.groupCount == 2 && cache.count(inGroup: 1) == 0)
    cache.removeAll(inGroup: 1)
    cache.removeAll(inGroup: 77)
    cache[0] = nil
    #expect(cache.count(inGroup: 0) == 99)
    cache.removeAll()
    #expect(cache.groupCount == 0)
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("A quota holds for its group, oldest first; a replacement makes an entry the newest")
  func quotaHolds() {
    let removals = Protected<[Int]>([])
    let cache = Cache<Int, String>(
      countLimit: 100, policy: .lru,
      onRemoval: { key, _, _, cause in
        if cause == .limit { removals.withLock { $0.append(key) } }
      },
      options: .init(groups: .by({ $0 / 1_000 }, quota: { $0 == 1 ? 3 : 0 })))
    for key in 1_000..<1_003 { cache[key] = "" }
    for key in 0..<50 { cache[key] = "" }
    cache[1_000] = "new"
    cache[1_003] = ""
    #expect(removals.withLock { $0 } == [1_001])
    _ = cache[1_002]
    cache[1_004] = ""
    cache[1_005] = ""
    #expect(removals.withLock { $0 } == [1_001, 1_002, 1_000])
    #expect(cache.count(inGroup: 1) == 3 && cache.count == 53)
    cache[1_005] = nil
    cache[1_006] = ""
    #expect(cache.count(inGroup: 1) == 3 && cache.contains(1_003))
    #expect(cache.statistics.countLimitEvictions == 3)
    cache.checkInvariants()
  }

  @Test("Quotas of one, and many groups of one entry, work; memory follows the entries")
  func extremeQuotas() {
    let cache = Cache<Int, Int>(
      countLimit: 50, policy: .lru, options: .init(groups: .by({ $0 }, quota: { _ in 1 })))
    for key in 0..<10_000 { cache[key] = key }
    #expect(cache.count == 50 && cache.groupCount == 50)
    let one = Cache<Int, Int>(options: .init(groups: .by({ _ in "all" }, quota: { _ in 1 })))
    for key in 0..<1_000 { one[key % 10] = key }
    #expect(one.keys == [9] && one.groupCount == 1)
    for key in 0..<1_000 { one[9] = key }
    #expect(one.keys == [9] && one[9] == 999)
  }

  @Test("Groups work with keys of equal hashes")
  func equalHashes() {
    let cache = Cache<Collider, Int>(
      options: .init(groups: .by({ $0.id % 3 }, quota: { _ in 10 })))
    for id in 0..<120 { cache[Collider(id)] = id }
    #expect(Set(cache.keys.map(\.id)) == Set(90..<120))
    cache.removeAll(inGroup: 0)
    #expect(cache.count == 20)
    cache.checkInvariants()
  }

  @Test("Keys and groups that do not equal themselves have no group and leave nothing behind")
  func keysUnequalToThemselves() {
    let cache = Cache<Double, Int>(
      countLimit: 10, options: .init(groups: .by({ $0 / 2 }, quota: { _ in 5 })))
    for number in 0..<1_000 { cache[.nan] = number }
    #expect(cache.count == 10 && cache.groupCount == 0)
    cache.removeAll()
    cache[3] = 3
    #expect(cache.count(inGroup: 1.5) == 1 && cache.groupCount == 1)
  }

  @Test("Integers name groups whatever their type, and strings do")
  func otherTypes() {
    let bytes = Cache<Int, Int>(options: .init(groups: .by { UInt8($0 % 4) }))
    for key in 0..<100 { bytes[key] = key }
    #expect(bytes.count(inGroup: 1) == 25 && bytes.count(inGroup: -1) == 0)
    bytes.removeAll(inGroup: 257)
    #expect(bytes.count == 100)
    bytes.removeAll(inGroup: 1)
    #expect(bytes.count == 75)
    let halves = Cache<Int, Int>(options: .init(groups: .by { Double($0 % 4) / 2 }))
    for key in 0..<100 { halves[key] = key }
    #expect(halves.count(inGroup: 1) == 25 && halves.count(inGroup: 0.5) == 25)
    let parts = Cache<String, Int>(options: .init(groups: .by { $0.prefix(1) }))
    let names = Cache<String, Int>(options: .init(groups: .by { String($0.prefix(1)) }))
    for cache in [parts, names] {
      for key in ["a/1", "a/2", "b/1"] { cache[key] = 1 }
      #expect(cache.count(inGroup: "a") == 2)
      cache.removeAll(inGroup: "a".prefix(1))
      #expect(Array(cache.keys) == ["b/1"])
    }
  }

  @Test("A group of another type, and a cache without groups, stop the process", arguments: 0..<5)
  func badCalls(number: Int) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [number = number as Int] in
      let cache = Cache<Int, Int>(options: .init(groups: .by { $0 % 4 }))
      switch number {
      case 0: cache.removeAll(inGroup: "1")
      case 1: _ = cache.count(inGroup: 1.5)
      case 2: cache.removeAll(inGroup: Optional(1))
      case 3: Cache<Int, Int>().removeAll(inGroup: 1)
      default: Cache<Int, Int>(options: .init(groups: .by({ $0 }, quota: { _ in -1 })))[1] = 1
      }
    }
    let reasons = [
      "Int, not String", "Int, not Double", "Int, not Optional<Int>", "no groups",
      "quota must not be negative",
    ]
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains(reasons[number]))
  }

  @Test("Class keys die outside the index's lock, and may use the cache as they do")
  func deinitsOfKeys() {
    let tracker = LifetimeTracker()
    do {
      let cache = Cache<ClassKey, Int>(
        countLimit: 20, options: .init(groups: .by({ $0.id % 4 }, quota: { _ in 3 })))
      for id in 0..<2_000 { cache[ClassKey(id % 100, tracker)] = id }
      #expect(cache.count == 12)
      cache.removeAll(inGroup: 2)
      #expect(cache.count == 9)
    }
    waitUntil("all keys are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  /// Afterwards each group is within its quota, and the index knows exactly which keys are stored.
  @Test("Many threads may store and remove within quotas", arguments: [1, 4])
  func manyThreadsKeepQuotas(shards: Int) {
    let tracker = LifetimeTracker()
    let threads = 4
    let over = Protected(0)
    let cache = Grouped(
      countLimit: 150, policy: .lru, shards: shards,
      options: options(quota: { $0 == 0 ? 20 : 60 }))
    onThreads(threads) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<Stress.scaled(6_000, atLeast: 500) {
        let key = random.below(4) * 1_000 + random.below(100)
        switch random.below(10) {
        case 0: cache.removeValue(forKey: key)
        case 1 where step % 100 == 0: cache.removeAll(inGroup: key / 1_000)
        case 2 where step % 200 == 0: cache.removeAll()
        case 3 where step % 20 == 0: cache.trim(toCount: 100)
        case 4: _ = cache[key]
        default: cache[key] = tracker.make(key)
        }
        // Only a single shard is listed as it is at one moment.
        if shards == 1 && step % 50 == 0 {
          let small = cache.keys.count { $0 < 1_000 }
          if small > 20 + threads { over.withLock { $0 = max($0, small) } }
        }
      }
    }
    #expect(over.withLock { $0 } == 0)
    let counts = Dictionary(grouping: cache.keys) { $0 / 1_000 }.mapValues(\.count)
    #expect(counts[0, default: 0] <= 20 && counts.values.allSatisfy { $0 <= 60 })
    for group in 0..<4 { #expect(cache.count(inGroup: group) == counts[group, default: 0]) }
    cache.checkInvariants()
    cache.removeAll()
    #expect(cache.groupCount == 0)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }
}
