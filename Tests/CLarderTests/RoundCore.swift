// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// A core cache whose cost is limited to 10, and insertions into it round by round.
struct RoundCore {
  typealias Entry = UnsafeMutablePointer<lrd_entry>

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

  /// Whether an entry that finds free room is stored without an eviction.
  var leavesFreeRoom: Bool {
    let evictions = lrd_cache_statistics(cache).cost_evictions
    let cost = lrd_cache_cost(cache)
    precondition(cost < lrd_cache_cost_limit(cache))
    _ = store(999 << 16, cost: 1)
    return lrd_cache_statistics(cache).cost_evictions == evictions
      && lrd_cache_cost(cache) == cost + 1
  }
}
