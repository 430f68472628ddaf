// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

@Suite("Trimming the oldest first", .timeLimit(.minutes(20)))
struct OldestFirstTests {
  @Test(
    "trimOldest goes by insertion, whatever the policy and the use",
    arguments: EvictionPolicy.allCases, [1, 4])
  func trimsByInsertion(policy: EvictionPolicy, shards: Int) {
    let causes = Protected<[RemovalCause]>([])
    let cache = Cache<Int, String>(
      totalCostLimit: 10_000, policy: policy, shards: shards,
      onRemoval: { _, _, _, cause in causes.withLock { $0.append(cause) } },
      options: .init(remembersAge: true))
    for key in (0..<100).reversed() { cache.insert("\(key)", forKey: key, cost: key % 7) }
    for key in 50..<100 { for _ in 0..<3 { #expect(cache[key] == "\(key)") } }
    // A replacement counts as newly stored.
    for key in 90..<100 { cache.insert("new", forKey: key, cost: 1) }
    causes.withLock { $0 = [] }
    cache.trimOldest(toCount: 30)
    #expect(Set(cache.keys) == Set(0..<20).union(90..<100))
    #expect(causes.withLock { $0 == Array(repeating: .trimmed, count: 70) })
    cache.trimOldest(toCost: 13)
    #expect(Set(cache.keys) == Set(0..<3).union(90..<100) && cache.totalCost == 13)
    cache.trimOldest(toCount: 13)
    cache.trimOldest(toCost: 1_000)
    #expect(cache.count == 13)
    cache.trimOldest(toCount: 0)
    #expect(cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("The right ones go while entries are moved", arguments: [1, 4], [false, true])
  func trimsBesideCompaction(shards: Int, byCost: Bool) {
    for _ in 0..<Stress.scaled(30, atLeast: 4) {
      let cache = Cache<Int, Int>(shards: shards, options: .init(remembersAge: true))
      for key in 0..<30_000 { cache.insert(key, forKey: key, cost: byCost ? 30_000 - key : 0) }
      for key in 0..<30_000 where key % 3 != 0 { cache.removeValue(forKey: key) }
      let left = (29_000..<30_000).filter { $0 % 3 == 0 }
      let isOver = Atomic(false)
      onThreads(2) { thread in
        if thread == 0 {
          if byCost {
            cache.trimCostliest(toCost: left.reduce(0) { $0 + 30_000 - $1 })
          } else {
            cache.trimOldest(toCount: left.count)
          }
          isOver.store(true, ordering: .releasing)
        }
        while !isOver.load(ordering: .acquiring) { cache.reclaim() }
      }
      #expect(cache.keys.sorted() == left)
    }
  }

  @Test("An object that comes back from its eviction is the newest", arguments: [1, 4])
  func restoredObjectIsNewest(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      policy: .lru, shards: shards, options: .init(secondChances: 64, remembersAge: true))
    let held = (0..<20).map { tracker.make($0) }
    for key in 0..<10 { cache[key] = held[key] }
    cache.trim(toCount: 0)
    for key in 10..<20 { cache[key] = held[key] }
    for key in [7, 3] { #expect(cache.survivingValue(forKey: key) === held[key]) }
    cache.trimOldest(toCount: 4)
    #expect(Set(cache.keys) == [18, 19, 7, 3])
    cache.trimOldest(toCount: 1)
    #expect(cache.keys == [3])
    cache.checkInvariants()
  }

  @Test("The age lies behind keys and values of any size")
  func ageBesideAnyKeyAndValue() {
    func check<Key: Hashable & Sendable, Value: Sendable & Equatable>(
      _ keys: [Key], _ value: (Int) -> Value
    ) {
      let cache = Cache<Key, Value>(options: .init(remembersAge: true))
      for (number, key) in keys.enumerated() { cache[key] = value(number) }
      cache.trimOldest(toCount: 3)
      for (number, key) in keys.enumerated() {
        #expect(cache[key] == (number < keys.count - 3 ? nil : value(number)))
      }
    }
    check((0..<100).map { UInt8($0) }, { $0 % 2 == 0 })
    check(Array(0..<100), { "\($0)" })
    check((0..<100).map { "\($0)" }, { UInt8($0) })
    check((0..<100).map { Double($0) }, { SIMD4<Float>(repeating: Float($0)) })
    check((0..<100).map { Collider($0) }, { [$0] })
  }

  @Test("Many threads may trim, with all options at once")
  func manyThreadsWithAllOptions() {
    let tracker = LifetimeTracker()
    var options = Cache<Int, Tracked>.Options(
      preferredCount: 80, groups: .by { $0 % 5 }, rememberedEvictions: 100, remembersAge: true)
    options.secondChances = 32
    let cache = Cache<Int, Tracked>(
      countLimit: 100, shards: 4, onInsertion: { _, value, _ in precondition(value.isIntact) },
      options: options)
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for step in 0..<Stress.scaled(5_000, atLeast: 500) {
        let key = random.below(300)
        cache[key] = tracker.make(key)
        if step % 50 == 0 { cache.trimOldest(toCount: 50) }
        if step % 7 == 0 { _ = cache.survivingValue(forKey: random.below(300)) }
      }
    }
    cache.checkInvariants()
    cache.trimOldest(toCount: 0)
    #expect(cache.isEmpty && cache.groupCount == 0)
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("trimOldest works in the background, and without its option in the policy's order")
  func backgroundCallsAndMissingOption() async {
    let cache = Cache<Int, Int>(options: .init(remembersAge: true))
    for key in 0..<10 { cache.insert(key, forKey: key, cost: 1) }
    await cache.background.trimOldest(toCount: 5)
    #expect(await cache.background.trimOldest(toCost: 2))
    #expect(Set(cache.keys) == [8, 9])
    let plain = Cache<Int, Int>(policy: .lru)
    for key in 0..<10 { plain.insert(key, forKey: key, cost: 1) }
    _ = plain[0]
    #expect(!plain.trimOldest(toCount: 5) && plain.keys == [0, 9, 8, 7, 6])
    #expect(await !plain.background.trimOldest(toCost: 1) && plain.keys == [0])
    await #expect(processExitsWith: .failure) {
      Cache<Int, Int>(options: .init(remembersAge: true)).trimOldest(toCount: -1)
    }
    await #expect(processExitsWith: .failure) {
      Cache<Int, Int>(options: .init(remembersAge: true)).trimOldest(toCost: -1)
    }
  }
}
