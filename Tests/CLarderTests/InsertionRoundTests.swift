// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// What other threads do between the rounds of an insertion, played by hand.
@Suite("Rounds of an insertion")
struct InsertionRoundTests {
  typealias Entry = UnsafeMutablePointer<lrd_entry>

  /// A core cache whose cost is limited to 10, and insertions into it round by round.
  private struct Core {
    let cache: OpaquePointer
    let lane: OpaquePointer

    init(_ cache: OpaquePointer?) throws {
      self.cache = try #require(cache)
      lane = try #require(lrd_lane_attach(self.cache))
      lrd_cache_set_cost_limit(self.cache, 10)
    }

    func make(_ hash: UInt64, cost: UInt64) -> Entry {
      let entry = lrd_slot_take(cache, lane, cost)!
      lrd_entry_describe(entry, hash, cost)
      return entry
    }

    func round(
      _ insertion: inout lrd_insertion, _ entry: Entry, _ hash: UInt64, old: Entry? = nil
    ) -> lrd_result {
      let shard = lrd_cache_shard(cache, hash)
      lrd_insertion_begin(cache, lane, shard, hash)
      return lrd_insertion_finish(cache, lane, shard, &insertion, entry, old, hash)
    }

    /// Rounds until one is the last. `starves`: without memory.
    func rounds(
      _ insertion: inout lrd_insertion, _ entry: Entry, _ hash: UInt64, starves: Bool = false
    ) -> lrd_result {
      defer { lrd_alloc_fail_after(-1) }
      while true {
        if starves { lrd_alloc_fail_after(0) }
        let result = round(&insertion, entry, hash)
        if result != LRD_AGAIN { return result }
      }
    }

    func finish(_ insertion: inout lrd_insertion) {
      lrd_garbage_retire(cache, &insertion.garbage)
      while let entry = lrd_garbage_next(cache, lane, &insertion.garbage) {
        lrd_slot_give(cache, lane, entry)
      }
    }

    func store(_ hash: UInt64, cost: UInt64) -> Entry {
      let entry = make(hash, cost: cost)
      var insertion = lrd_insertion()
      precondition(rounds(&insertion, entry, hash) == LRD_INSERTED)
      finish(&insertion)
      return entry
    }
  }

  private let key: UInt64 = 2 << 16
  private let neighbour: UInt64 = 3 << 16

  /// A cache of two shards in which an insertion of `entry` has taken the old entry of its key out,
  /// because that is all that costs something in its shard.
  private func oldEntryIsOut(_ core: Core) -> (lrd_insertion, old: Entry, new: Entry) {
    let old = core.store(key, cost: 5)
    _ = core.store(neighbour, cost: 5)
    #expect(lrd_cache_shard(core.cache, neighbour) != lrd_cache_shard(core.cache, key))
    var insertion = lrd_insertion()
    let new = core.make(key, cost: 7)
    #expect(core.round(&insertion, new, key, old: old) == LRD_AGAIN)
    #expect(insertion.took_out)
    return (insertion, old, new)
  }

  /// A value that another thread stores between two rounds is the one that is replaced.
  @Test("The old entry is the one that was stored last")
  func oldEntry() throws {
    let core = try Core(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(core.cache) }
    var (insertion, _, entry) = oldEntryIsOut(core)
    let second = core.store(key, cost: 1)
    #expect(core.round(&insertion, entry, key, old: second) == LRD_AGAIN)
    #expect(!insertion.took_out, "the caller looks again at what it replaces")
    let result = core.round(&insertion, entry, key, old: second)
    #expect(result == LRD_AGAIN && core.rounds(&insertion, entry, key) == LRD_REPLACED)
    core.finish(&insertion)

    let statistics = lrd_cache_statistics(core.cache)
    #expect(statistics.removals == 0 && statistics.replacements == 1)
    #expect(statistics.cost_evictions >= 1 && statistics.insertions == 3)
    #expect(lrd_cache_cost(core.cache) <= 10)
    lrd_cache_check(core.cache)
  }

  @Test("An old entry that is out, for a value that is refused in the end, was removed")
  func refused() throws {
    let core = try Core(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(core.cache) }
    lrd_removal_observe(core.cache, true)
    var (insertion, old, entry) = oldEntryIsOut(core)
    #expect(Int(lrd_entry_get_state(old)) == Int(LRD_REMOVED_REPLACED.rawValue))
    lrd_cache_set_cost_limit(core.cache, 6)
    #expect(core.round(&insertion, entry, key) == LRD_TOO_COSTLY)
    #expect(Int(lrd_entry_get_state(old)) == Int(LRD_REMOVED_BY_CALL.rawValue))
    lrd_slot_give(core.cache, core.lane, entry)
    core.finish(&insertion)
    #expect(lrd_cache_statistics(core.cache).removals == 1)
    lrd_cache_check(core.cache)
  }

  @Test("An old entry that is out, for a value that finds no memory, was evicted")
  func withoutMemory() async throws {
    await #expect(processExitsWith: .success) {
      let subject = InsertionRoundTests()
      let core = try Core(lrdt_cache_create(2, 48))
      lrd_removal_observe(core.cache, true)
      var (insertion, old, entry) = subject.oldEntryIsOut(core)
      lrd_cache_set_cost_limit(core.cache, 1_000)
      // Others fill the key's bucket, until one more entry would take memory.
      let others = (0..<1_000).map { core.make(subject.key + (2 << 16) * (1 + $0), cost: 0) }
      let unfit = others.firstIndex { other in
        var insertion = lrd_insertion()
        let result = core.rounds(&insertion, other, lrd_entry_hash48(other), starves: true)
        core.finish(&insertion)
        return result == LRD_OUT_OF_MEMORY
      }
      let result = core.rounds(&insertion, entry, subject.key, starves: true)
      #expect(result == LRD_OUT_OF_MEMORY && unfit != nil)
      #expect(Int(lrd_entry_get_state(old)) == Int(LRD_REMOVED_LIMIT.rawValue))
      #expect(!insertion.took_out)
      for other in others[unfit!...] + [entry] { lrd_slot_give(core.cache, core.lane, other) }
      core.finish(&insertion)
      let statistics = lrd_cache_statistics(core.cache)
      #expect(statistics.removals == 0 && statistics.cost_evictions >= 1)
      lrd_cache_check(core.cache)
    }
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
    #expect(insertion.expired && !insertion.took_out)
    let second = core.store(key, cost: 1)
    var result = LRD_AGAIN
    while result == LRD_AGAIN { result = core.round(&insertion, entry, key, old: second) }
    #expect(result == LRD_REPLACED && !insertion.expired)
    core.finish(&insertion)
    #expect(lrd_cache_statistics(timed.cache).expirations == 1)
  }
}
