// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Evicts the costliest entries, used or not, until the total cost is at most `cost`.
  ///
  /// A few large entries leave instead of many small ones. The call finds out at its beginning
  /// which entries are the costliest. Entries of equal cost leave in any order, and entries without
  /// a cost stay. Entries that others insert meanwhile cannot prolong the call without end: it
  /// evicts no more entries than there were at its beginning. The observer receives
  /// ``RemovalCause/trimmed``.
  ///
  /// - Parameters:
  ///   - cost: The total cost to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(*n* log *n*) time. While the call runs it needs up to 48 bytes for each entry,
  ///   plus what sorting takes. It holds no lock for more than some 64 entries. For comparison,
  ///   ``trim(toCost:file:line:)`` takes O(1) for each entry evicted.
  public func trimCostliest(
    toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    require(cost >= 0, "cost must not be negative", file: file, line: line)
    trim(
      by: { lrd_entry_cost($0) == 0 ? nil : .max - lrd_entry_cost($0) },
      until: { totalCost <= cost })
  }

  /// Evicts the entries stored longest ago, used or not, until at most `count` are left.
  ///
  /// A cache knows how old its entries are if it was created with ``Options/remembersAge``. Without
  /// that, the entries leave in the policy's order, as by ``trim(toCount:file:line:)``, and the
  /// call returns false. A replacement counts as newly stored, and so does an object that
  /// ``survivingValue(forKey:)`` stores again. Insertions at the same time count in any order.
  ///
  /// Entries that others insert meanwhile are younger and stay, unless they keep the cache too
  /// large: the call evicts no more entries than there were at its beginning. The observer receives
  /// ``RemovalCause/trimmed``.
  ///
  /// Two alternatives need no option. With ``EvictionPolicy/fifo`` and one shard,
  /// ``trim(toCount:file:line:)`` evicts keys in the order in which they were stored, but a
  /// replacement usually keeps the position of the entry it replaces. With ``EvictionPolicy/lru``
  /// and one shard, ``trim(toCount:file:line:)`` goes by the time since the last use.
  ///
  /// - Parameters:
  ///   - count: The number of entries to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: Whether the cache knows how old its entries are.
  /// - Complexity: Like ``trimCostliest(toCost:file:line:)``.
  @discardableResult
  public func trimOldest(
    toCount count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    require(count >= 0, "count must not be negative", file: file, line: line)
    return trimOldest(UInt64(count), .max) { self.count <= count }
  }

  /// Evicts the entries stored longest ago, used or not, until the total cost is at most `cost`.
  ///
  /// Otherwise like ``trimOldest(toCount:file:line:)``. Entries without a cost are evicted in their
  /// turn.
  ///
  /// - Parameters:
  ///   - cost: The total cost to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: Whether the cache knows how old its entries are.
  /// - Complexity: Like ``trimCostliest(toCost:file:line:)``.
  @discardableResult
  public func trimOldest(
    toCost cost: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    require(cost >= 0, "cost must not be negative", file: file, line: line)
    return trimOldest(.max, UInt64(cost)) { totalCost <= cost }
  }

  private func trimOldest(_ count: UInt64, _ cost: UInt64, until isDone: () -> Bool) -> Bool {
    guard extras?.ages != nil else {
      trim(count, cost)
      return false
    }
    trim(by: { $0.age(of: Layout.self).pointee }, until: isDone)
    return true
  }

  /// An entry that has a rank, as it was when it was listed.
  private struct Listed {
    let entry: StoredEntry
    let hash48: UInt64
    let rank: UInt64
  }

  /// Evicts entries, lowest rank first, until `isDone`, but no more than there are now. Entries
  /// without a rank stay.
  private func trim(by rank: (StoredEntry) -> UInt64?, until isDone: () -> Bool) {
    expire(until: isDone)
    var allowance = count
    while !isDone() && allowance > 0 {
      var evicted = 0
      for listed in list(rank) {
        if isDone() || evicted == allowance { break }
        if evict(listed, rank) { evicted += 1 }
      }
      if evicted == 0 { return }
      allowance -= evicted
    }
  }

  /// All entries with a rank, lowest first, but what has expired before all others. `rank` runs
  /// under a shard's lock.
  private func list(_ rank: (StoredEntry) -> UInt64?) -> [Listed] {
    var list: [Listed] = []
    if lrd_cache_has_grace(core) { append(rank, expired: true, to: &list) }
    let living = list.count
    append(rank, expired: false, to: &list)
    list[living...].sort { $0.rank < $1.rank }
    return list
  }

  private func append(
    _ rank: (StoredEntry) -> UInt64?, expired: Bool, to list: inout [Listed]
  ) {
    var walk = Walk(self)
    while !walk.isDone {
      // Appending must not allocate under the lock.
      if list.capacity - list.count < walk.room {
        list.reserveCapacity(Swift.max(list.count + walk.room, 2 * list.capacity))
      }
      walk.visitSlice(expired: expired) { entry in
        if let rank = rank(entry) {
          list.append(Listed(entry: entry, hash48: lrd_entry_hash48(entry), rank: rank))
        }
        return nil
      }
    }
  }

  /// Evicts a listed entry unless it has changed: another entry may be in its slot by now. If it
  /// was moved, it has another slot, but the same hash and rank. One that shares both will do.
  private func evict(_ listed: Listed, _ rank: (StoredEntry) -> UInt64?) -> Bool {
    removeEntry(in: lrd_cache_shard(core, listed.hash48), because: LRD_REMOVED_TRIM) { shard in
      if lrd_shard_holds_locked(shard, listed.entry, listed.hash48),
        rank(listed.entry) == listed.rank
      {
        return listed.entry
      }
      var matches = lrd_shard_matches_locked(shard, listed.hash48)
      while let entry = lrd_matches_next_locked(&matches) {
        if rank(entry) == listed.rank { return entry }
      }
      return nil
    }
  }
}
