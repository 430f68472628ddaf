// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  typealias StoredEntry = UnsafeMutablePointer<lrd_entry>

  /// A walk over all entries, a slice of them under each lock (lrd_sweep.h):
  ///
  ///     var walk = Walk(self)
  ///     while !walk.isDone {
  ///       …  // Without a lock. A slice has at most `walk.room` entries.
  ///       walk.visitSlice { entry in … }
  ///     }
  ///
  /// An entry stored during the whole walk is visited exactly once, any other at most once; so is
  /// one that expires meanwhile. The same holds for keys: a key's entries all have its hash, which
  /// the walk passes once.
  struct Walk {
    private let cache: Cache
    private var shard: Int
    private let end: Int
    private var sweep = Walk.start

    private static var start: lrd_sweep {
      lrd_sweep(position: 0, room: Int(LRD_SWEEP_ROOM), done: false)
    }

    /// A walk over all shards, or over one of them.
    init(_ cache: Cache, shard: Int? = nil) {
      self.cache = cache
      self.shard = shard ?? 0
      end = shard.map { $0 + 1 } ?? cache.shardCount
    }

    var isDone: Bool { shard == end }

    /// The most entries of the next slice.
    var room: Int { sweep.room }

    /// Visits the entries of the next slice that have not expired, those that have, or all. Removes
    /// those for which `visit` returns a reason. Returns how many it removed.
    ///
    /// `visit` runs under the shard's lock: no user code, no allocation.
    @discardableResult
    mutating func visitSlice(
      expired: Bool? = false, _ visit: (StoredEntry) -> lrd_entry_state?
    ) -> Int {
      let core = cache.core
      let lane = lrd_lane_attach(core)
      let locked = lrd_cache_shard_at(core, UInt32(shard))
      let room = room
      let moment = cache.extras?.secondChance?.moment() ?? 0
      var garbage = lrd_garbage()
      var removals = 0
      withUnsafeTemporaryAllocation(of: StoredEntry.self, capacity: room) { entries in
        var removed = lrd_chain()
        lrd_shard_enter(core, lane, locked)
        let found = lrd_sweep_next_locked(locked, &sweep, entries.baseAddress!, room)
        for entry in entries[..<found] {
          if let expired, lrd_entry_is_expired_locked(locked, entry) != expired { continue }
          guard let reason = visit(entry) else { continue }
          lrd_removal_unlink_locked(core, locked, entry, UInt8(reason.rawValue), &removed)
        }
        removals = Int(removed.count)
        lrd_removal_finish(core, locked, &garbage, &removed)
      }
      if sweep.done {
        shard += 1
        sweep = Walk.start
      }
      cache.finish(&garbage, lane, since: moment)
      return removals
    }
  }
}
