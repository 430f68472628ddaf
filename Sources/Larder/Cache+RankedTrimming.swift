// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Evicts the costliest entries, whatever their use, until the costs sum up to at most `cost`.
  ///
  /// Few large entries go instead of many small ones. Which are the costliest is found out at the
  /// beginning of the call; of entries with equal costs any may go first, and entries without a
  /// cost stay. What others insert meanwhile is not looked for again without end: the call evicts
  /// no more entries than there were. The observer is told ``RemovalCause/trimmed``.
  ///
  /// - Parameter cost: The total cost to keep. Must not be negative.
  /// - Complexity: O(*n* log *n*) time, and while it runs up to 48 bytes for each entry and what
  ///   sorting takes; no lock is held for more than some 64 entries. ``trim(toCost:)`` takes O(1)
  ///   for each entry evicted.
  public func trimCostliest(toCost cost: Int) {
    require(cost >= 0, "cost must not be negative")
    trim(
      by: { $0.pointee.cost == 0 ? nil : .max - $0.pointee.cost }, until: { totalCost <= cost })
  }

  /// Evicts the entries stored longest ago, whatever their use, until at most `count` are left.
  ///
  /// A replacement counts as stored anew, and so does an object that ``survivingValue(forKey:)``
  /// stores again; insertions at the same time count in any order. The cache must have been created
  /// with ``Options/remembersAge``. What others insert meanwhile is younger and stays, unless it
  /// keeps the cache too large: the call evicts no more entries than there were. The observer is
  /// told ``RemovalCause/trimmed``.
  ///
  /// Without that option there are two other ways: with ``EvictionPolicy/fifo`` and one shard,
  /// ``trim(toCount:)`` goes by the order in which keys were stored, where a replacement mostly
  /// keeps the place of what it replaces; with ``EvictionPolicy/lru`` and one shard, by the time
  /// since the last use.
  ///
  /// - Parameter count: The number of entries to keep. Must not be negative.
  /// - Complexity: As ``trimCostliest(toCost:)``.
  public func trimOldest(toCount count: Int) {
    require(count >= 0, "count must not be negative")
    trimOldest { self.count <= count }
  }

  /// Evicts the entries stored longest ago, whatever their use, until the costs sum up to at most
  /// `cost`; as ``trimOldest(toCount:)``. Entries without a cost go in their turn.
  ///
  /// - Parameter cost: The total cost to keep. Must not be negative.
  /// - Complexity: As ``trimCostliest(toCost:)``.
  public func trimOldest(toCost cost: Int) {
    require(cost >= 0, "cost must not be negative")
    trimOldest { totalCost <= cost }
  }

  private func trimOldest(until isDone: () -> Bool) {
    if extras?.ages == nil { stop("trimOldest needs remembersAge at the cache's creation") }
    trim(by: { $0.age(of: Layout.self).pointee }, until: isDone)
  }

  /// What an entry with a rank was when it was listed.
  private struct Listed {
    let entry: StoredEntry
    let place: UInt64
    let rank: UInt64
  }

  /// Evicts entries, lowest rank first, until `isDone`, and no more than there are now. Entries
  /// without a rank stay.
  private func trim(by rank: (StoredEntry) -> UInt64?, until isDone: () -> Bool) {
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

  /// All entries with a rank, the lowest first. `rank` runs under a shard's lock.
  private func list(_ rank: (StoredEntry) -> UInt64?) -> [Listed] {
    var list: [Listed] = []
    sweep(
      removing: LRD_REMOVED_TRIM,
      prepare: { room in
        // Appending must not allocate under the lock.
        if list.capacity - list.count < room {
          list.reserveCapacity(Swift.max(list.count + room, 2 * list.capacity))
        }
      },
      where: { entry in
        if let rank = rank(entry) {
          list.append(Listed(entry: entry, place: lrd_entry_place(entry), rank: rank))
        }
        return false
      })
    list.sort { $0.rank < $1.rank }
    return list
  }

  /// Evicts a listed entry if it is still what it was: it may be gone, and another in its slot.
  private func evict(_ listed: Listed, _ rank: (StoredEntry) -> UInt64?) -> Bool {
    evict(lrd_cache_shard(core, listed.place), LRD_REMOVED_TRIM) { shard in
      let isStill =
        lrd_shard_holds_locked(shard, listed.entry, listed.place)
        && rank(listed.entry) == listed.rank
      return isStill ? listed.entry : nil
    }
  }
}
