// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// What the default policy promises to programs that store without having looked up: sessions,
/// tokens, rows written through. LRU is the measure.
@Suite("Safe by default")
struct SafeByDefaultTests {
  /// A cache and an LRU cache side by side, and their hits.
  struct Pair {
    let adaptive: Cache<Int, Int>
    let lru: Cache<Int, Int>
    var hits = 0
    var lruHits = 0

    init(_ limit: Int, shards: Int = 1) {
      adaptive = Cache(
        countLimit: limit, policy: .adaptive, shards: shards, options: .repeatable(UInt64(limit)))
      lru = Cache(countLimit: limit, policy: .lru, shards: 1)
    }

    mutating func look(_ key: Int) {
      if adaptive[key] != nil { hits += 1 }
      if lru[key] != nil { lruHits += 1 }
    }

    func store(_ key: Int) {
      adaptive[key] = key
      lru[key] = key
    }

    mutating func load(_ key: Int) {
      if adaptive[key] != nil { hits += 1 } else { adaptive[key] = key }
      if lru[key] != nil { lruHits += 1 } else { lru[key] = key }
    }

    /// The hits since the last call, as a part of LRU's.
    mutating func part() -> Double {
      defer { (hits, lruHits) = (0, 0) }
      return Double(hits) / Double(lruHits)
    }
  }

  enum Workload: CaseIterable {
    /// Each key is stored, and read once when a third of the limit has been stored since.
    case storeThenRead
    /// Each key is stored, and read five times before a quarter of the limit has been stored.
    case sessions

    func fill(_ pair: inout Pair, from start: Int, limit: Int, _ random: inout SplitMix64) {
      for key in start..<start + limit {
        pair.store(key)
        switch self {
        case .storeThenRead: if key >= limit / 3 { pair.look(key - limit / 3) }
        case .sessions:
          for _ in 0..<5 { pair.look(max(0, key - Int(random.next() % UInt64(limit / 4)))) }
        }
      }
    }
  }

  @Test(
    "What is stored and read soon afterwards is found, as in LRU", arguments: Workload.allCases,
    [100, 1_000, 5_000])
  func storesWithoutLoads(workload: Workload, limit: Int) {
    for shards in [1, 4] where limit / shards >= 100 {
      var pair = Pair(limit, shards: shards)
      var random = SplitMix64(seed: 1)
      for fill in 0..<3 { workload.fill(&pair, from: fill * limit, limit: limit, &random) }
      #expect(pair.part() > 0.6)
      for fill in 3..<6 { workload.fill(&pair, from: fill * limit, limit: limit, &random) }
      #expect(pair.part() > 0.95)
      pair.adaptive.checkInvariants()
    }
  }

  @Test("A program that turns to loading and back keeps its hits", arguments: Workload.allCases)
  func turningWorkloads(workload: Workload) {
    let limit = 1_000
    var pair = Pair(limit)
    var random = SplitMix64(seed: 2)
    for turn in 0..<3 {
      let start = turn * 6 * limit
      for fill in 0..<3 {
        workload.fill(&pair, from: start + fill * limit, limit: limit, &random)
      }
      #expect(pair.part() > 0.6, "turn \(turn)")
      for fill in 3..<6 {
        workload.fill(&pair, from: start + fill * limit, limit: limit, &random)
      }
      #expect(pair.part() > 0.95, "turn \(turn)")
      // Favours some keys: the product of two random numbers.
      for _ in 0..<10 * limit {
        let drawn = (random.next() % 100) * (random.next() % 100)
        pair.load(-1 - Int(drawn))
      }
      #expect(pair.part() > 0.9, "loading, turn \(turn)")
    }
  }

  @Test("Nothing read: the newest entries remain", arguments: [1, 2, 3, 10, 100, 1_000, 10_000])
  func plainStores(limit: Int) {
    let cache = Cache<Int, Int>(countLimit: limit, options: .repeatable())
    for round in 0..<2 {
      for key in 0..<10 * limit { cache[key] = round }
      let newest = (10 * limit - max(1, limit / 2))..<10 * limit
      #expect(newest.count { cache.contains($0) } * 20 >= newest.count * 19)
      cache.removeAll()
    }
  }

  @Test("Stores in a loop, nothing read: the newest remain", arguments: [1.2, 1.5, 1.9])
  func storesInALoop(keys: Double) {
    let limit = 1_000
    let cache = Cache<Int, Int>(countLimit: limit, policy: .adaptive, options: .repeatable())
    let count = Int(keys * Double(limit))
    for step in 0..<20 * limit { cache[step % count] = step }
    let newest = (20 * limit - limit / 2..<20 * limit).map { $0 % count }
    #expect(newest.count { cache.contains($0) } >= 475)
  }

  @Test("Of a handful the last remain, whatever the hashes", arguments: [1, 2, 3, 10, 50])
  func tinyCaches(limit: Int) {
    for _ in 0..<100 {
      let cache = Cache<Int, Int>(countLimit: limit)
      for key in 0..<10 * limit { cache[key] = key }
      #expect(cache.keys.sorted() == Array(9 * limit..<10 * limit))
    }
  }

  @Test("A handful keeps what was stored just before", arguments: [2, 3, 4, 5, 8, 20, 50])
  func tinyStoresThenReads(limit: Int) {
    var pair = Pair(limit)
    for round in 0..<2 {
      for step in 0..<10 * limit {
        pair.store(1_000 * round + step)
        if step > 0 { pair.look(1_000 * round + step - 1) }
      }
      #expect(pair.part() >= 1)
      pair.adaptive.removeAll()
      pair.lru.removeAll()
    }
  }

  @Test("A handful keeps what was read last", arguments: 2...10)
  func tinyReads(limit: Int) {
    for _ in 0..<20 {
      let cache = Cache<Int, Int>(countLimit: limit)
      for key in 0..<limit { cache[key] = key }
      #expect(cache[0] == 0)
      cache[limit] = limit
      #expect(cache.keys.sorted() == [0] + Array(2...limit))
    }
  }

  @Test("A scan leaves a hot set that fits", arguments: [0, 1_000], [1, 9])
  func scan(others: Int, rounds: Int) {
    let cache = Cache<Int, Int>(countLimit: 1_000, options: .repeatable())
    func load(_ key: Int) { if cache[key] == nil { cache[key] = key } }
    for key in 0..<others { cache[100_000 + key] = key }
    for _ in 0...rounds { for key in 0..<800 { load(key) } }
    for key in 200_000..<202_000 { load(key) }
    #expect((0..<800).count { cache.contains($0) } >= 700)
  }

  @Test(
    "A limit that moves by one forgets nothing that was learned", arguments: [100, 1_000], [1, 4])
  func movingLimit(limit: Int, shards: Int) {
    func hits(_ cache: Cache<Int, Int>, moves: Bool) -> Int {
      var random = SplitMix64(seed: 4)
      let steps = 200 * limit
      return (0..<steps).count { step in
        if moves && step % (2 * limit) == 0 { cache.countLimit = limit - step / (2 * limit) % 2 }
        let key = step / 5 + random.below(limit * 9 / 10)
        let isHit = cache[key] != nil
        if !isHit { cache[key] = key }
        return isHit
      }
    }
    func make() -> Cache<Int, Int> {
      Cache(countLimit: limit, shards: shards, options: .repeatable())
    }
    let (still, moving) = (hits(make(), moves: false), hits(make(), moves: true))
    #expect(Double(moving) > 0.93 * Double(still), "\(moving) of \(still)")
  }

  private final class Hits: Sendable { let count = Atomic(0) }

  @Test("Eight threads that keep sessions find them")
  func sessionsOfThreads() {
    let limit = 4_000
    let part = limit / 8
    let cache = Cache<Int, Int>(countLimit: limit, shards: 4, options: .repeatable())
    let hits = Hits()
    onThreads(8) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      // Each thread has its part of the limit. The last three fills of six count.
      for step in 0..<6 * part {
        cache[step * 8 + thread] = step
        for _ in 0..<5 {
          let session = max(0, step - random.below(part / 8))
          let found = cache[session * 8 + thread] != nil
          if found && step >= 3 * part { hits.count.add(1, ordering: .relaxed) }
        }
      }
    }
    // Threads run at different speeds: a slow one's sessions are older than it knows.
    #expect(hits.count.load(ordering: .relaxed) > 3 * limit * 5 * 7 / 10)
    cache.checkInvariants()
  }
}
