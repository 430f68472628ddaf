// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// `values(forKeys:)` is a faster spelling of single calls.
@Suite("Batched lookups")
struct BatchTests {
  @Test("A batch has the answers, order and statistics of single calls", arguments: 1...20)
  func equalsSingleCalls(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let batched = Cache<Int, Int>(countLimit: 300, policy: .lru)
    let single = Cache<Int, Int>(countLimit: 300, policy: .lru)
    for _ in 0..<20 {
      for _ in 0..<50 {
        let key = random.below(600)
        batched[key] = key
        single[key] = key
      }
      let size = [0, 1, 2, 3, 7, 8, 9, 31, 64, 65, 200][random.below(11)]
      let keys = (0..<size).map { _ in random.below(600) }
      #expect(batched.values(forKeys: keys) == keys.map { single.value(forKey: $0) })
      #expect(batched.snapshot().map(\.key) == single.snapshot().map(\.key))
      #expect(ModelStatistics(batched.statistics) == ModelStatistics(single.statistics))
    }
  }

  @Test("An empty batch returns an empty array")
  func emptyBatch() {
    let cache = Cache<Int, Int>()
    #expect(cache.values(forKeys: []).isEmpty)
    cache[1] = 1
    #expect(cache.values(forKeys: []).isEmpty)
    #expect(cache.statistics.hits + cache.statistics.misses == 0)
  }

  @Test("Duplicates and misses keep their places")
  func duplicatesAndMissesKeepTheirPlaces() {
    let cache = Cache<String, Int>()
    cache["a"] = 1
    cache["b"] = 2
    #expect(
      cache.values(forKeys: ["b", "x", "a", "b", "b", "y"]) == [2, nil, 1, 2, 2, nil])
    #expect(cache.statistics.hits == 4 && cache.statistics.misses == 2)
    #expect(cache.snapshot().map(\.key) == ["b", "a"])
  }

  @Test("A big batch comes back complete", arguments: [1, 4])
  func bigBatchIsComplete(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(shards: shards)
    for key in 0..<10_000 { cache[key] = tracker.make(key) }
    let keys = (0..<30_000).map { ($0 &* 7_919) % 20_000 }
    var values: [Tracked?] = cache.values(forKeys: keys)
    #expect(values.count == keys.count)
    for (key, value) in zip(keys, values) {
      #expect(value?.payload == (key < 10_000 ? key : nil))
    }
    cache.removeAll()
    #expect(values.allSatisfy { $0?.isIntact ?? true })
    values = []
    #expect(settles(tracker, at: 0, cache))
  }

  /// A key that runs an action when it is compared.
  struct Watched: Hashable, Sendable {
    static let action = Protected<(@Sendable () -> Void)?>(nil)
    let id: Int
    var isWatched = false

    static func == (left: Watched, right: Watched) -> Bool {
      if left.isWatched || right.isWatched {
        action.withLock { current in
          defer { current = nil }
          return current
        }?()
      }
      return left.id == right.id
    }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  @Test("An entry removed during its batch does not enter the order again")
  func removalWithinBatch() {
    let cache = Cache<Watched, Int>(countLimit: 100)
    for id in 0..<100 { cache[Watched(id: id)] = id }
    // So many hits wait that recording those of the batch below applies them halfway through.
    for id in 0..<40 { #expect(cache[Watched(id: id)] == id) }
    Watched.action.withLock {
      $0 = { onThreads(1) { _ in cache.removeValue(forKey: Watched(id: 29)) } }
    }
    // One fewer than a thread has loans: where another entry has the tag of the watched key, that
    // is looked up once more, and without a loan its `==` would run under the lock.
    let keys = (0..<31).map { Watched(id: $0, isWatched: $0 == 30) }
    #expect(cache.values(forKeys: keys) == Array(0..<31))
    cache.checkInvariants()
    for id in 100..<300 { cache[Watched(id: id)] = id }
    cache.checkInvariants()
    #expect(cache.count == 100)
    #expect(cache.peek(forKey: Watched(id: 29)) == nil)
  }
}
