// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

extension Cache {
  /// The core. Whoever uses it keeps the cache alive.
  var inside: OpaquePointer { withCore { $0 } }

  /// The number of entries of each shard in limbo.
  var retiredByShard: [Int] {
    (0..<lrd_cache_shards(inside)).map { Int(lrdt_shard_retired(lrd_cache_shard_at(inside, $0))) }
  }

  /// The number of tables of all shards that wait until no reader is inside.
  var retiredTables: Int {
    (0..<lrd_cache_shards(inside)).reduce(0) {
      $0 + Int(lrdt_shard_retired_tables(lrd_cache_shard_at(inside, $1)))
    }
  }

  /// Whether a table of some shard is moving.
  var isMoving: Bool {
    (0..<lrd_cache_shards(inside)).contains {
      lrdt_table_next(lrdt_shard_root(lrd_cache_shard_at(inside, $0))) != nil
    }
  }

  /// The main buckets of the tables from which readers start.
  var bucketCount: Int {
    (0..<lrd_cache_shards(inside)).reduce(0) {
      $0 + Int(lrdt_table_buckets(lrdt_shard_root(lrd_cache_shard_at(inside, $1))))
    }
  }
}

/// A thread that has used a cache and sleeps until it is joined. While it is there, no removed
/// entry is destroyed at once.
struct Sleeper: ~Copyable {
  private let stage: Protected<Int>
  private let thread: RealThread

  /// Returns once the thread has run `body` and sleeps.
  init(_ body: @escaping @Sendable () -> Void) {
    let stage = Protected(0)
    self.stage = stage
    thread = RealThread {
      body()
      stage.withLock { $0 = 1 }
      waitUntil(deadline: 300, "the sleeper is woken") { stage.withLock { $0 == 2 } }
    }
    waitUntil("the sleeper sleeps") { stage.withLock { $0 == 1 } }
  }

  consuming func join() {
    stage.withLock { $0 = 2 }
    thread.join()
  }
}

@Suite("Retirement", .timeLimit(.minutes(20)))
struct RetirementTests {
  typealias TrackedCache = Cache<Int, Tracked>

  enum Writes: String, CaseIterable, Codable, Sendable { case oneKey, manyKeys }

  @Test("At most 256 entries of a shard wait", arguments: [1, 4], Writes.allCases)
  func boundOfSmallShards(shards: Int, writes: Writes) async {
    await #expect(processExitsWith: .success) {
      [shards = shards as Int, writes = writes as Writes] in
      let tracker = LifetimeTracker()
      let cache = TrackedCache(shards: shards)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let value = tracker.make()
      for number in 0..<Stress.scaled(1_000_000, atLeast: 20_000) {
        // One key is in one shard, which must not use the other shards' bounds.
        cache.insert(value, forKey: writes == .oneKey ? 7 : number % 100)
        if number % 16 == 0 || number < 2_000 {
          let waiting = cache.retiredByShard
          precondition(waiting.allSatisfy { $0 <= 256 }, "\(waiting) wait after \(number)")
        }
      }
      // Entries that the background thread scans at the moment soon come back.
      waitUntil("nothing waits") {
        cache.reclaim()
        return cache.retiredCount == 0
      }
      sleeper.join()
    }
  }

  @Test(
    "In larger shards a sixteenth may wait, at most 2,048", arguments: [8_000, 40_000], [1, 4])
  func boundOfLargeShards(limit: Int, shards: Int) async {
    await #expect(processExitsWith: .success) { [limit = limit as Int, shards = shards as Int] in
      let tracker = LifetimeTracker()
      let cache = TrackedCache(countLimit: limit, shards: shards)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let value = tracker.make()
      // Shards share the limit. By chance some hold more than their part of it.
      let most = min(max(limit / shards / 16 + 32, 256), 2048)
      for number in 0..<limit * 3 {
        cache.insert(value, forKey: number)
        guard number % 16 == 0 else { continue }
        let waiting = cache.retiredByShard
        precondition(waiting.allSatisfy { $0 <= most }, "\(waiting) wait after \(number)")
      }
      sleeper.join()
    }
  }

  @Test(
    "The entry that waits longest is destroyed even if writers never pause",
    arguments: [0, 1, 3, 16])
  func oldestIsDestroyed(others: Int) async {
    await #expect(processExitsWith: .success) { [others = others as Int] in
      let tracker = LifetimeTracker()
      let cache = TrackedCache(countLimit: 100, policy: .fifo, shards: 1)
      // The fences of another cache serve the limbo of this one, in small portions.
      let other = Cache<Int, Int>(countLimit: 100, shards: 1)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let dead = Protected([Bool]())
      var key = 0
      func insertOne() {
        let inserted = key
        dead.withLock { $0.append(false) }
        cache[key] = tracker.make { dead.withLock { $0[inserted] = true } }
        for number in 0..<others { other[key * others + number] = 0 }
        key += 1
      }
      // Entries evicted at the beginning of a round are dead before its end, and the round has no
      // pause.
      for _ in 0..<10 {
        for _ in 0..<500 { insertOne() }
        let evicted = key - 100
        Self.waitWorking("all that was evicted is dead", insertOne) {
          dead.withLock { !$0[..<evicted].contains(false) }
        }
      }
      sleeper.join()
    }
  }

  /// Calls `work` until the condition holds, and checks that now and then.
  private static func waitWorking(
    _ what: String, _ work: () -> Void, until condition: () -> Bool
  ) {
    let end = Clock.now + 60_000_000_000
    while !condition() {
      if Clock.now > end { fatalError("deadline passed: \(what)") }
      for _ in 0..<100 { work() }
    }
  }

  @Test("When a call returns, what it has removed waits within bounds")
  func manyRemovalsInOneCall() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let cache = TrackedCache(shards: 1)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let value = tracker.make()
      for _ in 0..<10 {
        for key in 0..<20_000 { cache.insert(value, forKey: key) }
        cache.removeAll()
        precondition(cache.retiredCount <= 256, "\(cache.retiredCount) wait")
      }
      sleeper.join()
    }
  }

  @Test("A call takes few of those that wait, under its lock, however many it removes")
  func manyWait() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(shards: 1)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      let core = cache.inside
      let lane = lrd_lane_attach(core)!
      var calls = [lrd_garbage(), lrd_garbage()]
      for call in 0..<2 {
        for key in 0..<(call == 0 ? 100_000 : 2_000) { cache[key] = key }
        lrd_removal_of_all(core, lane, &calls[call])
        precondition(calls[call].free.count <= 100, "\(calls[call].free.count) taken")
        // The first call scans, and others come before it destroys what is free.
        if call == 0 { lrd_slot_give(core, lane, lrd_garbage_next(core, lane, &calls[call])!) }
      }
      for call in 0..<2 {
        while let entry = lrd_garbage_next(core, lane, &calls[call]) {
          lrd_slot_give(core, lane, entry)
        }
      }
      precondition(cache.retiredCount <= 256, "\(cache.retiredCount) wait")
      cache.checkInvariants()
      sleeper.join()
    }
  }

  @Test("Only few costly entries wait", arguments: [1, 4])
  func costBound(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(totalCostLimit: 1_600_000, shards: shards)
      let sleeper = Sleeper { _ = cache.value(forKey: 0) }
      for number in 0..<20_000 {
        cache.insert(number, forKey: number % 100, cost: 10_000)
        // A sixteenth of the limit is ten entries for each shard. A change adds its own.
        let waiting = cache.retiredCount
        precondition(waiting <= 12 * shards, "\(waiting) wait after \(number)")
      }
      sleeper.join()
    }
  }

  @Test("A table is freed when no reader is inside, and not before")
  func tableOutlivesItsReaders() async {
    await #expect(processExitsWith: .success) {
      for ending in 0..<3 {
        let cache = Cache<Int, Int>()
        for key in 0..<50 { cache[key] = key }
        let entered = Protected<UInt>(0)
        let sleeper = Sleeper {
          let shard = lrd_cache_shard_at(cache.inside, 0)
          let table = lrdt_table_enter(lrd_lane_attach(cache.inside)!, shard)
          entered.withLock { $0 = UInt(bitPattern: table) }
        }
        let table = OpaquePointer(bitPattern: entered.withLock { $0 })!
        let buckets = lrdt_table_buckets(table)
        switch ending {
        case 0: for key in 0..<5_000 { cache[key] = key }
        case 1: cache.removeAll()
        default:
          cache.trim(toCount: 1)
          cache.removeAll()
          for key in 0..<5_000 { cache[key] = key }
        }
        for _ in 0..<3 { cache.reclaim() }
        // The address sanitizer would detect freed memory here.
        _ = lrdt_table_read(table)
        precondition(lrdt_table_buckets(table) == buckets)
        waitUntil("all other tables are freed") {
          cache.reclaim()
          // A scan that is under way has the last one in its hands.
          return cache.retiredTables == 1
        }
        _ = lrdt_table_read(table)
        sleeper.join()
        cache.reclaim()
        waitUntil("the table is freed") { cache.retiredTables == 0 }
      }
    }
  }

  @Test("Memory that an insertion was supplied with and did not use is given back")
  func unusedSupply() {
    let cache = lrdt_cache_create(1, 48)!
    let lane = lrd_lane_attach(cache)!
    let shard = lrd_cache_shard_at(cache, 0)
    let entry = lrd_slot_take(cache, lane, 100)!
    lrd_entry_describe(entry, 1 << 20, 100)
    var insertion = lrd_insertion()
    lrd_insertion_begin(cache, lane, shard, 1 << 20)
    var result = lrd_insertion_finish(cache, lane, shard, &insertion, entry, nil, 1 << 20)
    #expect(result == LRD_AGAIN)
    #expect(insertion.supply.memory != nil, "a first table")
    // Meanwhile somebody makes the value too costly.
    lrd_cache_set_cost_limit(cache, 50)
    lrd_insertion_begin(cache, lane, shard, 1 << 20)
    result = lrd_insertion_finish(cache, lane, shard, &insertion, entry, nil, 1 << 20)
    #expect(result == LRD_TOO_COSTLY)
    #expect(insertion.supply.given == LRD_SUPPLY_NONE, "its table is lost")
    lrd_supply_drop(&insertion.supply)
    lrd_slot_give(cache, lane, entry)
    lrd_cache_close(cache)
  }

  /// A visit leaves busy shards alone, whose writers clean up. What removeAll() takes lies in the
  /// first shard: with many removed, others would not be looked after.
  @Test("Shards that are emptied are busy for it no more than those that lie still")
  func emptied() {
    let cache = Cache<Int, Int>(shards: 4)
    for key in 0..<1_000 { cache[key] = key }
    let shards = (1..<4).map { lrd_cache_shard_at(cache.inside, $0) }
    let counts = shards.map(lrdt_shard_count)
    cache.removeAll()
    #expect(shards.map(lrdt_shard_visited) == counts && !counts.contains(0))
  }
}
