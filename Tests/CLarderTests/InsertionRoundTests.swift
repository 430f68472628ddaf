// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// What other threads do between the rounds of an insertion, played by hand.
@Suite("Rounds of an insertion")
struct InsertionRoundTests {
  private typealias Core = RoundCore
  private typealias Entry = RoundCore.Entry

  private let key: UInt64 = 2 << 16
  private let neighbour: UInt64 = 3 << 16

  /// A cache of two shards in which an insertion has taken room from the other one, because its own
  /// has nothing else that costs anything than the old entry of its key.
  private func roomIsStolen(_ core: Core) -> (lrd_insertion, old: Entry, new: Entry) {
    let old = core.store(key, cost: 5)
    _ = core.store(neighbour, cost: 5)
    #expect(lrd_cache_shard(core.cache, neighbour) != lrd_cache_shard(core.cache, key))
    var insertion = lrd_insertion()
    let new = core.make(key, cost: 7)
    #expect(core.round(&insertion, new, key, old: old) == LRD_AGAIN)
    #expect(lrd_cache_count(core.cache) == 1)
    return (insertion, old, new)
  }

  private func state(_ entry: Entry) -> Int { Int(lrd_entry_get_state(entry)) }

  @Test("The old entry stays until the new one takes its place")
  func oldEntryStays() throws {
    let core = try Core(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(core.cache) }
    lrd_removal_observe(core.cache, true)
    var (insertion, old, entry) = roomIsStolen(core)
    #expect(state(old) == Int(LRD_ENTRY_LINKED.rawValue))
    #expect(core.round(&insertion, entry, key, old: old) == LRD_REPLACED)
    #expect(state(old) == Int(LRD_REMOVED_REPLACED.rawValue))
    core.finish(&insertion)
    let statistics = lrd_cache_statistics(core.cache)
    #expect(statistics.removals == 0 && statistics.replacements == 1)
    #expect(statistics.cost_evictions == 1 && statistics.insertions == 2)
    #expect(lrd_cache_cost(core.cache) == 7)
    lrd_cache_check(core.cache)
  }

  @Test("What a call removes between two rounds was removed, and not replaced")
  func removedMeanwhile() throws {
    let core = try Core(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(core.cache) }
    var (insertion, old, entry) = roomIsStolen(core)
    let shard = lrd_cache_shard(core.cache, key)
    var garbage = lrd_garbage()
    lrd_shard_enter(core.cache, core.lane, shard)
    lrd_removal_of_one(core.cache, shard, &garbage, old)
    while let removed = lrd_garbage_next(core.cache, core.lane, &garbage) {
      lrd_slot_give(core.cache, core.lane, removed)
    }
    #expect(core.rounds(&insertion, entry, key) == LRD_INSERTED)
    core.finish(&insertion)
    let statistics = lrd_cache_statistics(core.cache)
    #expect(statistics.removals == 1 && statistics.replacements == 0)
    lrd_cache_check(core.cache)
  }

  @Test("The old entry of a value that is refused in the end was removed")
  func refused() throws {
    let core = try Core(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(core.cache) }
    lrd_removal_observe(core.cache, true)
    var (insertion, old, entry) = roomIsStolen(core)
    lrd_cache_set_cost_limit(core.cache, 6)
    #expect(core.round(&insertion, entry, key, old: old) == LRD_TOO_COSTLY)
    #expect(state(old) == Int(LRD_REMOVED_BY_CALL.rawValue))
    lrd_slot_give(core.cache, core.lane, entry)
    core.finish(&insertion)
    #expect(lrd_cache_statistics(core.cache).removals == 1)
    lrd_cache_check(core.cache)
  }

  @Test("The old entry of a value for which there is no memory stays")
  func withoutMemory() async throws {
    await #expect(processExitsWith: .success) {
      let subject = InsertionRoundTests()
      let core = try Core(lrdt_cache_create(2, 48))
      var (insertion, old, entry) = subject.roomIsStolen(core)
      lrd_cache_set_cost_limit(core.cache, 1_000)
      // Others fill the key's bucket, until one more entry would take memory.
      let others = (0..<1_000).map { core.make(subject.key + (2 << 16) * (1 + $0), cost: 0) }
      let unfit = others.firstIndex { other in
        var insertion = lrd_insertion()
        let result = core.starved(&insertion, other, lrd_entry_hash48(other))
        core.finish(&insertion)
        return result == LRD_OUT_OF_MEMORY
      }
      let result = core.starved(&insertion, entry, subject.key, old: old)
      #expect(result == LRD_OUT_OF_MEMORY && unfit != nil)
      #expect(subject.state(old) == Int(LRD_ENTRY_LINKED.rawValue))
      for other in others[unfit!...] + [entry] { lrd_slot_give(core.cache, core.lane, other) }
      core.finish(&insertion)
      let statistics = lrd_cache_statistics(core.cache)
      #expect(statistics.removals == 0 && statistics.replacements == 0)
      #expect(core.leavesFreeRoom)
      lrd_cache_check(core.cache)
    }
  }

  /// Without the lock, between two rounds or where a load is outdated, code of the program may run.
  @Test("What was looked up amid an insertion that evicts it is no hit on it later")
  func lookupWithin() throws {
    let core = try Core(lrdt_cache_create(1, 48))
    defer { lrd_cache_close(core.cache) }
    for number in 1...10 { _ = core.store(UInt64(number) << 16, cost: 1) }
    let hash: UInt64 = 1 << 16
    let shard = lrd_cache_shard(core.cache, hash)
    var insertion = lrd_insertion()
    let entry = core.make(20 << 16, cost: 1)
    lrd_insertion_begin(core.cache, core.lane, shard, 20 << 16)
    lrd_shard_leave(core.cache, shard)
    let found = try #require(lrd_find_slow(core.cache, core.lane, hash))
    #expect(lrd_use(core.cache, core.lane, found, hash))
    lrd_loan_end(core.lane)
    lrd_shard_enter(core.cache, nil, shard)
    #expect(
      lrd_insertion_finish(core.cache, core.lane, shard, &insertion, entry, nil, 20 << 16)
        == LRD_INSERTED)
    #expect(state(found) != Int(LRD_ENTRY_LINKED.rawValue))
    core.finish(&insertion)
    // Applies what was looked up.
    _ = core.store(21 << 16, cost: 1)
    lrd_cache_check(core.cache)
  }

  @Test("A table that was made for a larger one, which is gone, is not used")
  func staleTable() throws {
    let core = try Core(lrdt_cache_create(1, 48))
    defer { lrd_cache_close(core.cache) }
    // One insertion has brought a large table, and everything is removed before it comes back.
    var (number, insertion) = (UInt64(0), lrd_insertion())
    var entry = core.make(1 << 16, cost: 0)
    while insertion.supply.given != LRD_SUPPLY_TABLE || insertion.supply.given_size < 256 {
      if core.round(&insertion, entry, (number + 1) << 16) != LRD_INSERTED { continue }
      core.finish(&insertion)
      (number, insertion) = (number + 1, lrd_insertion())
      entry = core.make((number + 1) << 16, cost: 0)
    }
    var garbage = lrd_garbage()
    lrd_removal_of_all(core.cache, core.lane, &garbage)
    while let removed = lrd_garbage_next(core.cache, core.lane, &garbage) {
      lrd_slot_give(core.cache, core.lane, removed)
    }
    // A small table is full, and wants a larger one.
    let full = UInt64(LRD_FIRST_BUCKETS) * UInt64(LRD_TABLE_LOAD)
    for other in 0..<full { _ = core.store((other + 1) << 16, cost: 0) }
    #expect(core.rounds(&insertion, entry, (number + 1) << 16) == LRD_INSERTED)
    core.finish(&insertion)
    let root = lrdt_shard_root(lrd_cache_shard_at(core.cache, 0))
    let largest = lrdt_table_next(root).map { lrdt_table_buckets($0) } ?? lrdt_table_buckets(root)
    #expect(largest <= 4 * UInt64(LRD_FIRST_BUCKETS))
    lrd_cache_check(core.cache)
  }

  /// The value that a later round finds is not the one that had expired.
  @Test("What an earlier round found expired says nothing of what was stored since")
  func expired() throws {
    let timed = try TimedCore(afterWrite: 10)
    defer { timed.close() }
    let core = try Core(timed.cache)
    lrd_cache_set_cost_limit(timed.cache, 1_000)
    let first = timed.insert(0)
    timed.pass(seconds: 9)
    for number in 1...1_000 { _ = core.store(TimedCore.hash(UInt64(number)), cost: 1) }
    timed.pass(seconds: 2)
    let key = TimedCore.hash(0)
    // Takes more victims than one lock allows.
    let entry = core.make(key, cost: 100)
    var insertion = lrd_insertion()
    #expect(core.round(&insertion, entry, key, old: first) == LRD_AGAIN)
    #expect(insertion.expired)
    let second = core.store(key, cost: 1)
    var result = LRD_AGAIN
    while result == LRD_AGAIN { result = core.round(&insertion, entry, key, old: second) }
    #expect(result == LRD_REPLACED && !insertion.expired)
    core.finish(&insertion)
    #expect(lrd_cache_statistics(timed.cache).expirations == 1)
  }
}
