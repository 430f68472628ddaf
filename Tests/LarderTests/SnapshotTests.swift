// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Snapshots")
struct SnapshotTests {
  @Test("A snapshot lists every entry with its cost, hottest first")
  func snapshotOrder() {
    let cache = Cache<String, Int>(policy: .lru)
    for (number, key) in ["a", "b", "c", "d"].enumerated() {
      cache.insert(number, forKey: key, cost: number * 10)
    }
    _ = cache["b"]
    _ = cache.withValue(forKey: "a") { $0 }
    _ = (cache.peek(forKey: "c"), cache.contains("c"))
    let snapshot = cache.snapshot()
    #expect(snapshot.map(\.key) == ["a", "b", "d", "c"])
    #expect(snapshot.map(\.value) == [0, 1, 3, 2])
    #expect(snapshot.map(\.cost) == [0, 10, 30, 20])
  }

  @Test("A snapshot changes neither the order nor the statistics")
  func lookingChangesNothing() {
    let cache = Cache<Int, Int>()
    for key in 0..<100 { cache[key] = key }
    let before = (cache.snapshot().map(\.key), ModelStatistics(cache.statistics))
    _ = (cache.hottest(5), cache.coldest(5), cache.count, cache.totalCost, cache.isEmpty)
    for key in 0..<200 { _ = (cache.peek(forKey: key), cache.contains(key)) }
    cache.reclaim()
    #expect(cache.snapshot().map(\.key) == before.0)
    #expect(ModelStatistics(cache.statistics) == before.1)
  }

  @Test("A snapshot does not change with the cache")
  func snapshotIsIndependent() {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>()
    for key in 0..<100 { cache[key] = tracker.make(key) }
    var snapshot = cache.snapshot()
    for key in 0..<100 { cache[key] = tracker.make(-key) }
    cache.removeAll()
    cache.reclaim()
    #expect(snapshot.count == 100)
    #expect(snapshot.allSatisfy { $0.value.isIntact && $0.value.payload == $0.key })
    snapshot = []
    #expect(settles(tracker, at: 0, cache))
  }

  @Test("With several shards a snapshot has the right entries", arguments: [2, 4, 16])
  func snapshotOfSeveralShards(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    for key in 0..<1_000 { cache.insert(key, forKey: key, cost: key) }
    #expect(Set(cache.snapshot().map(\.key)) == Set(0..<1_000))
    #expect(cache.snapshot().allSatisfy { $0.key == $0.value && $0.cost == $0.key })
    #expect(Set(cache.hottest(10).map(\.key)).count == 10)
    #expect(Set(cache.coldest(10).map(\.key)).count == 10)
    #expect(cache.hottest(2_000).count == 1_000 && cache.coldest(2_000).count == 1_000)
  }

  @Test("Name and policy are those the cache was created with")
  func nameAndPolicy() {
    let cache = Cache<Int, Int>(countLimit: 7, totalCostLimit: 9, policy: .lru, name: "thumbs")
    #expect(cache.name == "thumbs" && cache.policy == .lru)
    #expect(cache.countLimit == 7 && cache.totalCostLimit == 9)
    #expect(Cache<Int, Int>().name == "")
    #expect(EvictionPolicy.default == .adaptive)
  }

  @Test("What a cache lists makes a dictionary")
  func dictionary() {
    let cache = Cache<String, Int>(countLimit: 10)
    for key in 1...3 { cache["\(key)"] = key }
    #expect(Dictionary(uniqueKeysWithValues: cache.snapshot()) == ["1": 1, "2": 2, "3": 3])
    #expect(Dictionary(uniqueKeysWithValues: cache.hottest(0)).isEmpty)
  }
}
