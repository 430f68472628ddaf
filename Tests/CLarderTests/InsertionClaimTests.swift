// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

/// Insertions that need more room than one lock allows them to free, and the room that others have.
@Suite("Room for an insertion")
struct InsertionClaimTests {
  private typealias Core = RoundCore
  private typealias Entry = RoundCore.Entry

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
    #expect(core.leavesFreeRoom)
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
      #expect(core.leavesFreeRoom)
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
    #expect(core.leavesFreeRoom)
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
}
