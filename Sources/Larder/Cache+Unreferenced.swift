// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache where Value: AnyObject {
  /// Removes every entry whose object nobody but the cache holds; returns how many.
  ///
  ///     images.removeUnreferenced()  // what is on the screen stays
  ///
  /// An entry goes if at one moment within the call the cache's own reference to the object was the
  /// only strong one. Weak and unowned references do not count. An object that this cache, or
  /// another, stores under a second key has a second reference and stays. So does one that a loan
  /// of ``withValue(forKey:_:)`` had out when the call began.
  ///
  /// So a reference that existed when the call began keeps its entry.
  ///
  /// **Lookups at the same time.** No key is missing for a moment to return later. A lookup that
  /// has found an entry and is about to retain its object may find the entry removed afterwards; it
  /// still gets the object, alive, as a lookup just before the removal does.
  ///
  /// The observer is told ``RemovalCause/removed``.
  ///
  /// - Complexity: O(*n*). Locks a shard for some 64 entries at a time; writers wait that long at
  ///   most, unless many keys have the same hash; readers never.
  @discardableResult
  public func removeUnreferenced() -> Int {
    // A reader that has announced the entry and not yet retained the object cannot be told from
    // none here. It follows that it is alone: its lookup takes effect when it confirms its slot,
    // which is before this removal clears it. The removed entry is retired, and destroyed when no
    // slot names it any more, by when the reader has retained.
    let lent = lentEntries()
    return sweep(removing: LRD_REMOVED_BY_CALL) { entry in
      !lent.contains(UInt(bitPattern: entry)) && Self.isOnlyReference(entry.value(of: Layout.self))
    }
  }

  /// Whether the stored reference is the only strong one. Asked of a copy of its bits, since the
  /// question needs exclusive access to the variable, which readers are looking at.
  private static func isOnlyReference(_ stored: UnsafePointer<Value>) -> Bool {
    withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { copy in
      UnsafeMutableRawPointer(copy.baseAddress!)
        .copyMemory(from: stored, byteCount: MemoryLayout<Value>.size)
      return isKnownUniquelyReferenced(&copy[0])
    }
  }

  /// The addresses in all threads' hazard slots: entries on loan among them.
  private func lentEntries() -> Set<UInt> {
    var lent: Set<UInt> = []
    // Every loan that began before this fence is seen after it.
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
