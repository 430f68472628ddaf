// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Eviction that asks first", .timeLimit(.minutes(20)))
struct VetoTests {
  @Test("A refused entry stays while others can be evicted", arguments: [1, 4])
  func refusedEntryStays(shards: Int) {
    let cache = Cache<Int, Int>(
      countLimit: 10, policy: .lru, shards: shards,
      options: .init(shouldEvict: { key, _ in key >= 3 }))
    for key in 0..<100 { cache[key] = key }
    #expect(cache.count == 10 && Set(cache.keys).isSuperset(of: [0, 1, 2, 99]))
    #expect(cache.statistics.evictions == 90)
    cache.checkInvariants()
  }

  @Test("A value that costs too much evicts nothing, and begins no purge")
  func tooCostly() {
    let cache = Cache<Int, Int>(
      countLimit: 3, totalCostLimit: 100, policy: .lru, shards: 1,
      options: .init(preferredCount: 1, shouldEvict: { _, _ in true }))
    for key in 0..<3 { cache.insert(key, forKey: key, cost: 1) }
    #expect(cache.insert(3, forKey: 3, cost: 101) == .tooCostly)
    cache.insert(4, forKey: 0, cost: 1)
    #expect(cache.count == 3 && cache.statistics.evictions == 0)
  }

  @Test(
    "If all are refused, the limit wins after eight questions", arguments: EvictionPolicy.allCases)
  func allRefuse(policy: EvictionPolicy) {
    let questions = Protected(0)
    let cache = Cache<Int, Int>(
      countLimit: 20, totalCostLimit: 1_000, policy: policy, shards: 1,
      options: .init(shouldEvict: { _, _ in
        questions.withLock { $0 += 1 }
        return false
      }))
    for key in 0..<20 { cache.insert(key, forKey: key, cost: 1) }
    #expect(questions.withLock { $0 } == 0)
    for key in 20..<70 {
      cache.insert(key, forKey: key, cost: 1)
      #expect(cache.count == 20 && cache.contains(key))
    }
    #expect(questions.withLock { $0 } == 50 * 8)
    cache[69] = 0
    #expect(questions.withLock { $0 } == 50 * 8)
    cache.trim(toCount: 0)
    #expect(questions.withLock { $0 } == 50 * 8 && cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("With costs, as many entries are evicted as necessary and no more")
  func costsAreFreedAsNeeded() {
    let removed = Protected<[Int]>([])
    let cache = Cache<Int, Int>(
      totalCostLimit: 100, policy: .lru,
      onRemoval: { key, _, _, cause in
        precondition(cause == .limit)
        removed.withLock { $0.append(key) }
      },
      options: .init(shouldEvict: { key, _ in key % 2 == 1 }))
    for key in 0..<10 { cache.insert(key, forKey: key, cost: 10) }
    cache.insert(10, forKey: 10, cost: 25)
    #expect(removed.withLock { $0 } == [1, 3, 5])
    #expect(cache.insert(11, forKey: 11, cost: 101) == .tooCostly)
    cache.insert(12, forKey: 12, cost: 100)
    #expect(cache.keys == [12])
    cache.checkInvariants()
  }

  @Test("The closure may use the cache, and insert again")
  func questionMayUseTheCache() {
    let home = Protected<(cache: Cache<Int, Int>?, calls: Int)>((nil, 0))
    let cache = Cache<Int, Int>(
      countLimit: 5, policy: .lru,
      options: .init(shouldEvict: { key, _ in
        let (cache, call) = home.withLock { home in
          home.calls += 1
          return (home.cache, home.calls)
        }
        guard let cache, call < 200 else { return true }
        switch call % 4 {
        case 0: cache.removeValue(forKey: key)
        case 1: cache.removeAll()
        case 2: cache[key] = -1
        default: cache[call + 1_000] = call
        }
        return call % 3 == 0
      }))
    home.withLock { $0.cache = cache }
    for key in 0..<300 { cache[key] = key }
    #expect(cache.count <= 5 && cache.contains(299))
    cache.checkInvariants()
    home.withLock { $0.cache = nil }
  }

  @Test(
    "Asking before an eviction hands on the values that leave, and no others", arguments: [1, 4])
  func askingHandsOnWhatLeaves(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let sink = ReleaseTests.Sink()
      let cache = Cache<Int, Tracked>(
        countLimit: 20, policy: .lru, shards: shards,
        options: .init(release: sink.release, shouldEvict: { _, value in value.isIntact }))
      for key in 0..<50 { cache[key] = tracker.make(key) }
      precondition(sink.count == 30 && tracker.live == 50 && cache.count == 20)
      sink.releaseAll()
      precondition(tracker.live == 20)
    }
  }

  private struct Refusal: Error {}

  @Test(
    "A value that leaves while it is asked about is released before the call returns",
    arguments: [1, 4])
  func goneWhileAsked(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let tracker = LifetimeTracker()
      let home = Protected<Cache<Int, Tracked>?>(nil)
      let cache = Cache<Int, Tracked>(
        countLimit: 10, policy: .lru, shards: shards,
        options: .init(shouldEvict: { key, value in
          home.withLock { $0 }?[key] = nil
          precondition(value.isIntact)
          return false
        }))
      home.withLock { $0 = cache }
      func replace(key: Int, _: Tracked) { cache[key] = tracker.make() }
      // At once, unless the background thread has just taken the entry that the loan had held up.
      var prompt = 0
      for round in 0..<100 {
        for key in 0..<11 { cache[round * 11 + key] = tracker.make(key) }
        switch round % 4 {
        case 0: cache.removeAll { key, _ in cache.removeValue(forKey: key) != nil }
        case 1: cache.forEach(replace)
        case 2:
          _ = try? cache.removeAll { key, _ in
            cache[key] = nil
            throw Refusal()
          }
        default: break
        }
        prompt += tracker.live == cache.count ? 1 : 0
        waitUntil("what has left is released") { tracker.live == cache.count }
      }
      precondition(prompt > 60, "\(prompt) of 100 times everything was released at once")
      cache.checkInvariants()
      home.withLock { $0 = nil }
    }
  }

  @Test("With many threads the limits hold, and each value dies once", arguments: [1, 4])
  func manyThreadsAsk(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(
      countLimit: 40, policy: .lru, shards: shards,
      options: .init(shouldEvict: { key, value in
        precondition(value.isIntact && value.payload == key)
        return key % 3 == 0
      }))
    onThreads(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for _ in 0..<Stress.scaled(3_000, atLeast: 300) {
        let key = random.below(200)
        if random.below(5) == 0 { cache[key] = nil } else { cache[key] = tracker.make(key) }
        precondition(cache.count <= 40)
      }
    }
    cache.checkInvariants()
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }
}
