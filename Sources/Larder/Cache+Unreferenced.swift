// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache where Value: AnyObject {
  /// Removes every entry whose object nobody but the cache holds. Returns the number removed.
  ///
  ///     images.removeUnreferenced()  // what is on the screen stays
  ///
  /// An entry is removed if, at one moment within the call, the cache's own reference to the object
  /// was the only strong one. Weak and unowned references do not count. An object stored under a
  /// second key, in this cache or another, has a second reference and stays. So does an object that
  /// was on loan from ``withValue(forKey:_:)`` when the call began. In short, a reference that
  /// existed when the call began keeps its entry.
  ///
  /// On Apple's systems an object whose class comes from Objective-C, such as an image of UIKit,
  /// counts as referenced: Swift cannot tell.
  ///
  /// **Lookups at the same time.** No key goes missing and then returns. A lookup may have found an
  /// entry and be about to retain its object when the entry is removed. The lookup still gets the
  /// object, alive, as a lookup just before the removal would.
  ///
  /// The observer receives ``RemovalCause/removed``. What has expired is removed as well, for
  /// ``RemovalCause/expired``, and does not count. (While ``LoadingOptions/staleIfError`` keeps it,
  /// only if nobody but the cache holds it.)
  ///
  /// - Complexity: O(*n*). Locks a shard for some 64 entries at a time. Writers wait no longer than
  ///   that, unless many keys have the same hash. Readers never wait.
  @discardableResult
  public func removeUnreferenced() -> Int {
    // The reference count does not show a reader that has announced the entry but not yet retained
    // the object. That reader is safe. Its lookup takes effect when it confirms the cell, which is
    // before this removal clears the cell. The removed entry goes to limbo, and is destroyed when
    // no hazard names it any more; by then the reader has retained the object.
    let lent = lentEntries()
    var removals = 0
    var walk = Walk(self)
    while !walk.isDone {
      walk.visitSlice(expired: nil) { entry in
        let stays =
          lent.contains(UInt(bitPattern: entry))
          || !isOnlyReference(entry.value(of: Layout.self))
        if stays { return nil }
        let shard = lrd_cache_shard(core, lrd_entry_hash48(entry))
        if lrd_entry_is_expired_locked(shard, entry) { return LRD_REMOVED_EXPIRED }
        removals += 1
        return LRD_REMOVED_BY_CALL
      }
    }
    // The walk passes over what has just expired. A thread whose clock is late would find it.
    expire { false }
    return removals
  }

  /// The addresses in the hazards of all threads, which include the entries on loan.
  private func lentEntries() -> Set<UInt> {
    var lent: Set<UInt> = []
    // Every loan that began before this fence is visible after it.
    lrd_fence_heavy()
    withUnsafeMutablePointer(to: &lent) { lent in
      lrd_thread_visit_hazards(
        { context, pointer in
          context.assumingMemoryBound(to: Set<UInt>.self).pointee.insert(UInt(pointer))
        }, lent)
    }
    return lent
  }
}
