// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
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

    /// Rounds until one is the last.
    func rounds(
      _ insertion: inout lrd_insertion, _ entry: Entry, _ hash: UInt64
    ) -> lrd_result {
      while true {
        let result = round(&insertion, entry, hash)
        if result != LRD_AGAIN { return result }
      }
    }

    /// Rounds without memory.
    func starved(
      _ insertion: inout lrd_insertion, _ entry: Entry, _ hash: UInt64, old: Entry? = nil
    ) -> lrd_result {
      defer { lrd_alloc_fail_after(-1) }
      while true {
        lrd_alloc_fail_after(0)
        let result = round(&insertion, entry, hash, old: old)
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
      #expect(subject.takesFreeRoom(core))
      lrd_cache_check(core.cache)
    }
  }

  /// Whether an entry that finds free room is stored without an eviction.
  private func takesFreeRoom(_ core: Core) -> Bool {
    let evictions = lrd_cache_statistics(core.cache).cost_evictions
    let cost = lrd_cache_cost(core.cache)
    precondition(cost < lrd_cache_cost_limit(core.cache))
    _ = core.store(999 << 16, cost: 1)
    return lrd_cache_statistics(core.cache).cost_evictions == evictions
      && lrd_cache_cost(core.cache) == cost + 1
  }

  /// A cache of one shard, of cost 100, in which an entry that costs 64 has ended its first round.
  private func halfTheRoomIsFreed(_ core: Core) -> (lrd_insertion, Entry) {
    lrd_cache_set_cost_limit(core.cache, 100)
    for number in 1...100 { _ = core.store(UInt64(number) << 16, cost: 1) }
    var insertion = lrd_insertion()
    let entry = core.make(200 << 16, cost: 64)
    #expect(core.round(&insertion, entry, 200 << 16) == LRD_AGAIN)
    #expect(lrd_cache_cost(core.cache) == 68)
    return (insertion, entry)
  }

  @Test("Others leave the room that an insertion has freed to its later rounds")
  func claim() throws {
    let core = try Core(lrdt_cache_create(1, 48))
    defer { lrd_cache_close(core.cache) }
    var (insertion, entry) = halfTheRoomIsFreed(core)
    for number in 300..<310 {
      _ = core.store(UInt64(number) << 16, cost: 2)
      #expect(lrd_cache_cost(core.cache) == 68)
    }
    #expect(core.round(&insertion, entry, 200 << 16) == LRD_INSERTED)
    core.finish(&insertion)
    #expect(lrd_cache_cost(core.cache) == 100)
    lrd_cache_set_cost_limit(core.cache, 200)
    #expect(takesFreeRoom(core))
    lrd_cache_check(core.cache)
  }

  @Test("An insertion that is refused or given up leaves the room to others")
  func endOfClaim() throws {
    for refused in [false, true] {
      let core = try Core(lrdt_cache_create(1, 48))
      defer { lrd_cache_close(core.cache) }
      var (insertion, entry) = halfTheRoomIsFreed(core)
      if refused {
        lrd_cache_set_cost_limit(core.cache, 60)
        #expect(core.round(&insertion, entry, 200 << 16) == LRD_TOO_COSTLY)
        lrd_cache_set_cost_limit(core.cache, 100)
      } else {
        let shard = lrd_cache_shard(core.cache, 200 << 16)
        lrd_insertion_begin(core.cache, core.lane, shard, 200 << 16)
        lrd_insertion_abandon(core.cache, shard, &insertion)
      }
      #expect(takesFreeRoom(core))
      lrd_slot_give(core.cache, core.lane, entry)
      core.finish(&insertion)
      lrd_cache_check(core.cache)
    }
  }

  /// A claim that the other has, too, is no reason to wait: between them something must give.
  @Test("Two entries of which each needs most of the room are both stored")
  func twoClaims() throws {
    let core = try Core(lrdt_cache_create(1, 48))
    defer { lrd_cache_close(core.cache) }
    var (first, entry) = halfTheRoomIsFreed(core)
    var second = lrd_insertion()
    let other = core.make(201 << 16, cost: 90)
    #expect(core.round(&second, other, 201 << 16) == LRD_AGAIN)
    #expect(core.rounds(&first, entry, 200 << 16) == LRD_INSERTED)
    #expect(core.rounds(&second, other, 201 << 16) == LRD_INSERTED)
    core.finish(&first)
    core.finish(&second)
    #expect(takesFreeRoom(core))
    lrd_cache_check(core.cache)
  }

  /// What victims free in surplus goes to whoever comes next: without help some shards would come
  /// to nothing.
  // Not under ThreadSanitizer: long work of one thread.
  @Test("Each shard keeps its part of the entries, whatever they cost")
  func evenParts() throws {
    let (shards, limit) = (8, UInt64(8_000))
    let core = try Core(lrdt_cache_create(UInt32(shards), 48))
    defer { lrd_cache_close(core.cache) }
    lrd_cache_set_cost_limit(core.cache, limit)
    var random = SplitMix64(seed: 5)
    for number in 0..<200_000 {
      let cost = random.below(16) == 0 ? UInt64(70) : UInt64(5 + random.below(11))
      _ = core.store(random.next() & ~0xffff, cost: cost)
      guard number > 2_000, number % 100 == 0 else { continue }
      let counts = (0..<shards).map { lrdt_shard_count(lrd_cache_shard_at(core.cache, UInt32($0))) }
      let all = counts.reduce(0, +)
      #expect(counts.allSatisfy { $0 * UInt64(shards) > all * 3 / 4 }, "\(counts)")
      #expect(lrd_cache_cost(core.cache) <= limit)
    }
    lrd_cache_check(core.cache)
  }

  /// Between rounds others take what was freed: in many rounds it would never be enough.
  @Test("An entry that costs half of the limit needs few rounds", arguments: [4, 16, 64])
  func largeEntry(shards: UInt32) throws {
    let limit = 10_000
    let core = try Core(lrdt_cache_create(shards, 48))
    defer { lrd_cache_close(core.cache) }
    lrd_cache_set_cost_limit(core.cache, UInt64(limit))
    var random = SplitMix64(seed: 7)
    for _ in 0..<limit { _ = core.store(random.next() & ~0xffff, cost: 1) }
    let hash = random.next() & ~0xffff
    let entry = core.make(hash, cost: UInt64(limit / 2))
    var (insertion, rounds) = (lrd_insertion(), 1)
    while core.round(&insertion, entry, hash) == LRD_AGAIN { rounds += 1 }
    core.finish(&insertion)
    // A lock is held for 32 victims at most.
    #expect(rounds < limit / 2 / 32 + Int(shards) + 32, "\(rounds) rounds")
    #expect(lrd_cache_cost(core.cache) == UInt64(limit))
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
