// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Copies up to `n` entries of one shard, in the policy's order, a slice of them under each lock
  /// (lrd_tour.h), or a small shard under a single one. Room is made before, because nothing is
  /// allocated under a lock. Entries that have expired only if they are wanted.
  ///
  /// If others change the order meanwhile, copies of keys met twice go to `surplus`, and a list of
  /// all entries is completed.
  @inlinable
  func copyShard<Copy>(
    _ index: Int, atMost n: Int, hottestFirst: Bool, expired: Bool = false, key: (Copy) -> Key,
    surplus: inout [Copy],
    _ copy: (UnsafeMutablePointer<lrd_entry>) -> Copy
  ) -> [Copy] {
    let shard = lrd_cache_shard_at(core, UInt32(index))
    var lane = lrd_lane_attach(core)
    var copies: [Copy] = []
    copies.reserveCapacity(Swift.min(n, count / shardCount + 1))
    var tour = lrd_tour_start(hottestFirst)
    while !tour.done && copies.count < n {
      let room = copies.count + LRD_TOUR_ROOM
      if copies.capacity < room { copies.reserveCapacity(Swift.max(room, 2 * copies.capacity)) }
      lrd_shard_enter(core, lane, shard)
      // What this thread has to note is noted.
      lane = nil
      // The cache may get its first lifetime between two slices.
      let expires = !expired && lrd_cache_is_timed(core)
      let stored = Int(lrd_shard_count_locked(shard))
      let wanted = Swift.min(n, stored)
      let isSmall = copies.isEmpty && stored <= LRD_TOUR_WHOLE
      if isSmall && wanted > copies.capacity {
        lrd_shard_leave(core, shard)
        copies.reserveCapacity(wanted + LRD_TOUR_ROOM)
        continue
      }
      repeat {
        let left = expires ? .max : UInt64(Swift.max(wanted - copies.count, 0))
        let found = lrd_tour_next_locked(core, shard, &tour, left)
        for number in 0..<found where copies.count < n {
          let entry = lrd_tour_entry(&tour, number)
          if expires && lrd_entry_is_expired_locked(shard, entry) { continue }
          copies.append(copy(entry))
        }
      } while isSmall && !tour.done && copies.count < n
      lrd_shard_leave(core, shard)
    }
    if tour.changed {
      mend(&copies, index, hottestFirst, tour.lost, n == .max, key, &surplus, copy)
    }
    return copies
  }

  /// Takes out what a tour has met twice, and adds what it has not met if `isWhole`.
  ///
  /// What it has not met was moved or stored since, mostly to the hot end, unless the tour was
  /// lost. A key that does not equal itself is one of many, so it stays as it is.
  @usableFromInline @inline(never)
  func mend<Copy>(
    _ copies: inout [Copy], _ shard: Int, _ hottestFirst: Bool, _ wasLost: Bool, _ isWhole: Bool,
    _ key: (Copy) -> Key, _ surplus: inout [Copy],
    _ copy: (UnsafeMutablePointer<lrd_entry>) -> Copy
  ) {
    var met: Set<Key> = []
    var kept: [Copy] = []
    for copy in copies {
      let key = key(copy)
      if key != key || met.insert(key).inserted { kept.append(copy) } else { surplus.append(copy) }
    }
    copies = kept
    if !isWhole { return }
    var missed: [Copy] = []
    var slice: [Copy] = []
    var walk = Walk(self, shard: shard)
    while !walk.isDone {
      slice.reserveCapacity(walk.room)
      walk.visitSlice { entry in
        slice.append(copy(entry))
        return nil
      }
      for copy in slice {
        let key = key(copy)
        if key == key && met.insert(key).inserted {
          missed.append(copy)
        } else {
          surplus.append(copy)
        }
      }
      slice.removeAll(keepingCapacity: true)
    }
    if hottestFirst && !wasLost { copies = missed + copies } else { copies += missed }
  }
}
