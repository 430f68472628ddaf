// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  typealias StoredEntry = UnsafeMutablePointer<lrd_entry>

  /// Visits every entry, a few under each lock, and removes those for which `shouldGo` returns
  /// true. Returns how many it removed. An entry stored during the whole call is visited exactly
  /// once.
  ///
  /// `shouldGo` runs under the shard's lock: no user code, no allocation. `prepare` runs without a
  /// lock before each slice, and receives the most entries that the slice may have.
  @discardableResult
  func sweep(
    removing reason: lrd_entry_state, prepare: (Int) -> Void = { _ in },
    where shouldGo: (StoredEntry) -> Bool
  ) -> Int {
    let lane = lrd_lane_attach(core)
    var removals = 0
    for index in 0..<shardCount {
      let shard = lrd_cache_shard_at(core, UInt32(index))
      var sweep = lrd_sweep(position: 0, room: Int(LRD_SWEEP_ROOM), done: false)
      while !sweep.done {
        let room = sweep.room
        prepare(room)
        withUnsafeTemporaryAllocation(of: StoredEntry.self, capacity: room) { entries in
          var removed = lrd_chain()
          lrd_shard_enter(core, lane, shard)
          let found = lrd_sweep_next_locked(shard, &sweep, entries.baseAddress!, room)
          for entry in entries[..<found] where shouldGo(entry) {
            lrd_removal_unlink_locked(core, shard, entry, UInt8(reason.rawValue), &removed)
          }
          removals += Int(removed.count)
          var garbage = lrd_garbage()
          lrd_removal_finish(core, shard, &garbage, &removed)
          finish(&garbage, lane)
        }
      }
    }
    return removals
  }
}
