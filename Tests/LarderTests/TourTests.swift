// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Lists of all entries", .timeLimit(.minutes(20)))
struct TourTests {
  @Test(
    "While others use, store and remove, each key that stays is listed once",
    arguments: EvictionPolicy.allCases, [1, 4])
  func keysThatStay(policy: EvictionPolicy, shards: Int) {
    let stay = 0..<2_000
    let cache = Cache<Int, Int>(totalCostLimit: .max, policy: policy, shards: shards)
    for key in stay { cache.insert(key, forKey: key, cost: 1) }
    let isDone = Protected(false)
    let faults = Protected<[String]>([])
    onThreads(3) { thread in
      guard thread == 0 else {
        var random = SplitMix64(seed: UInt64(thread))
        while !isDone.withLock({ $0 }) {
          for _ in 0..<500 {
            let key = random.below(stay.count)
            switch random.below(8) {
            case 0: cache[stay.count + key] = key
            case 1: cache[stay.count + key] = nil
            case 2: cache.insert(key, forKey: key, cost: 1 + random.below(100))
            default: _ = cache[key]
            }
          }
        }
        return
      }
      for round in 0..<Stress.scaled(300, atLeast: 20) {
        let lists = [
          "keys": cache.keys, "snapshot": cache.snapshot().map(\.key),
          "hottest": cache.hottest(500).map(\.key), "coldest": cache.coldest(500).map(\.key),
        ]
        for (name, keys) in lists {
          if Set(keys).count < keys.count {
            faults.withLock { $0.append("\(name) has a key twice in round \(round)") }
          }
          if name == "keys" || name == "snapshot", !Set(keys).isSuperset(of: stay) {
            faults.withLock { $0.append("\(name) lacks a key in round \(round)") }
          }
        }
      }
      isDone.withLock { $0 = true }
    }
    #expect(faults.withLock { $0 }.isEmpty)
    cache.checkInvariants()
  }

  @Test("A small shard is listed as it is at one moment")
  func oneMoment() {
    let cache = Cache<Int, Int>(policy: .lru, shards: 1)
    for key in 0..<400 { cache[key] = key }
    let isDone = Protected(false)
    onThreads(2) { thread in
      guard thread == 0 else {
        var next = 400
        while !isDone.withLock({ $0 }) {
          cache[next] = next
          cache[next - 400] = nil
          next += 1
        }
        return
      }
      for _ in 0..<Stress.scaled(3_000, atLeast: 200) {
        let keys = cache.keys
        precondition(keys.count == 400 || keys.count == 401)
        precondition(keys == Array((keys.last!...keys.first!).reversed()))
      }
      isDone.withLock { $0 = true }
    }
  }

  @Test("Copies that are not returned die where the cache releases values", arguments: [1, 4])
  func surplusCopies(shards: Int) {
    let tracker = LifetimeTracker()
    let sink = ReleaseTests.Sink()
    let count = 1_000
    let lister = Protected<ThreadName?>(nil)
    let deaths = Protected(0)
    let isDone = Protected(false)
    do {
      let cache = Cache<Int, Tracked>(
        policy: .lru, shards: shards, options: .init(release: sink.release))
      @Sendable func store(_ key: Int) {
        cache[key] = tracker.make(key) {
          if lister.withLock({ $0 }) == .current { deaths.withLock { $0 += 1 } }
        }
      }
      for key in 0..<count { store(key) }
      onThreads(2) { thread in
        guard thread == 0 else {
          var random = SplitMix64(seed: 1)
          while !isDone.withLock({ $0 }) {
            for _ in 0..<100 { store(random.below(count)) }
            sink.releaseAll()
          }
          return
        }
        for _ in 0..<Stress.scaled(300, atLeast: 30) {
          lister.withLock { $0 = .current }
          let listed = cache.snapshot()
          lister.withLock { $0 = nil }
          precondition(Set(listed.map(\.key)) == Set(0..<count))
        }
        isDone.withLock { $0 = true }
      }
    }
    #expect(deaths.withLock { $0 } == 0)
    waitUntil("all values are released") {
      sink.releaseAll()
      return tracker.live == 0
    }
    #expect(tracker.faults.isEmpty)
  }
}
