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
  /// - Complexity: O(*n* log *n*) time, and 24 bytes for each entry while it runs; no lock is held
  ///   for more than some 64 entries. ``trim(toCost:)`` takes O(1) for each entry evicted.
  public func trimCostliest(toCost cost: Int) {
    require(cost >= 0, "cost must not be negative")
    var allowance = count
    while totalCost > cost && allowance > 0 {
      let evicted = evictCostliest(toCost: cost, atMost: allowance)
      if evicted == 0 { return }
      allowance -= evicted
    }
  }

  /// What an entry that costs something was when it was listed.
  private struct Listed {
    let entry: StoredEntry
    let place: UInt64
    let cost: UInt64
  }

  private func evictCostliest(toCost cost: Int, atMost most: Int) -> Int {
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
        let cost = entry.pointee.cost
        if cost > 0 {
          list.append(Listed(entry: entry, place: lrd_entry_place(entry), cost: cost))
        }
        return false
      })
    list.sort { $0.cost > $1.cost }
    var evicted = 0
    for listed in list {
      if totalCost <= cost || evicted == most { break }
      if evict(listed) { evicted += 1 }
    }
    return evicted
  }

  /// Evicts a listed entry if it is still what it was: it may be gone, and another in its slot.
  private func evict(_ listed: Listed) -> Bool {
    evict(lrd_cache_shard(core, listed.place), LRD_REMOVED_TRIM) { shard in
      let isStill =
        lrd_shard_holds_locked(shard, listed.entry, listed.place)
        && listed.entry.pointee.cost == listed.cost
      return isStill ? listed.entry : nil
    }
  }
}
