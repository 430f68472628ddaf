// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// What other threads do between the rounds of an insertion, played by hand.
@Suite("Rounds of an insertion")
struct InsertionRoundTests {
  /// A value that another thread stores between two rounds is the one that is replaced.
  @Test("The old entry is the one that was stored last")
  func oldEntry() throws {
    let cache = try #require(lrdt_cache_create(2, 48))
    defer { lrd_cache_close(cache) }
    let lane = try #require(lrd_lane_attach(cache))
    lrd_cache_set_cost_limit(cache, 10)
    let key: UInt64 = 2 << 16
    let neighbour: UInt64 = 3 << 16
    let shard = lrd_cache_shard(cache, key)

    func make(_ hash: UInt64, cost: UInt64) -> UnsafeMutablePointer<lrd_entry> {
      let entry = lrd_slot_take(cache, lane, cost)!
      lrd_entry_describe(entry, hash, cost)
      return entry
    }
    func round(
      _ insertion: inout lrd_insertion, _ entry: UnsafeMutablePointer<lrd_entry>, _ hash: UInt64,
      old: UnsafeMutablePointer<lrd_entry>? = nil
    ) -> lrd_result {
      let shard = lrd_cache_shard(cache, hash)
      lrd_insertion_begin(cache, lane, shard, hash)
      return lrd_insertion_finish(cache, lane, shard, &insertion, entry, old, hash)
    }
    func finish(_ insertion: inout lrd_insertion) {
      while let entry = lrd_garbage_next(cache, lane, &insertion.garbage) {
        lrd_slot_give(cache, lane, entry)
      }
    }
    func store(_ hash: UInt64, cost: UInt64) -> UnsafeMutablePointer<lrd_entry> {
      let entry = make(hash, cost: cost)
      var insertion = lrd_insertion()
      while true {
        let result = round(&insertion, entry, hash)
        if result == LRD_INSERTED { break }
        precondition(result == LRD_AGAIN)
      }
      finish(&insertion)
      return entry
    }

    let first = store(key, cost: 5)
    _ = store(neighbour, cost: 5)
    #expect(lrd_cache_shard(cache, neighbour) != shard)

    // The old entry is all that costs something in its shard: the first round takes it out.
    var insertion = lrd_insertion()
    let entry = make(key, cost: 7)
    #expect(round(&insertion, entry, key, old: first) == LRD_AGAIN)
    #expect(insertion.replaced)
    let second = store(key, cost: 1)
    #expect(round(&insertion, entry, key, old: second) == LRD_AGAIN)
    #expect(!insertion.replaced, "the caller looks again at what it replaces")
    var result = round(&insertion, entry, key, old: second)
    while result == LRD_AGAIN { result = round(&insertion, entry, key) }
    #expect(result == LRD_REPLACED)
    finish(&insertion)

    let statistics = lrd_cache_statistics(cache)
    #expect(statistics.removals == 0 && statistics.replacements == 1)
    #expect(statistics.cost_evictions >= 1 && statistics.insertions == 3)
    #expect(lrd_cache_cost(cache) <= 10)
    lrd_cache_check(cache)
  }
}
