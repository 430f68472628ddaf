// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What to do with an entry after asking the user's code about it.
enum Verdict {
  case keep
  /// Keep the entry and count this as a use.
  case touch
  case remove(lrd_entry_state)
}

extension Cache {
  /// Finds an entry again: where it was, the upper 48 bits of its hash, and its key in case another
  /// entry has its slot by now.
  struct EntryName {
    let entry: StoredEntry
    let hash48: UInt64
    let key: Key

    init(of entry: StoredEntry) {
      self.entry = entry
      hash48 = lrd_entry_hash48(entry)
      key = entry.key(of: Layout.self).pointee
    }
  }

  /// Asks `judge` once about each key that is stored during the whole call, with its value of that
  /// moment, and at most once about any other. (Twice if the cache is given its first lifetime or
  /// its first idle time in between, or if this thread has all its loans out and the entry has
  /// moved.)
  ///
  /// Lists the names of one slice at a time. A name holds a key, but no value.
  func askAboutAll<Failure: Error>(
    _ judge: (Key, Value) throws(Failure) -> Verdict
  ) throws(Failure) {
    var names: [EntryName] = []
    var walk = Walk(self)
    while !walk.isDone {
      names.reserveCapacity(walk.room)
      walk.visitSlice { entry in
        names.append(EntryName(of: entry))
        return nil
      }
      while let name = names.popLast() {
        let hash = hasher.hash(name.key)
        try ask(judge, in: lrd_cache_shard(core, name.hash48)) { findLocked(name, hash, $0) }
      }
    }
  }

  /// Asks `judge` about an entry and carries out the verdict if the entry is still stored.
  ///
  /// `find` runs under the shard's lock and chooses the entry, which is passed over if it has
  /// expired; `judge` runs without a lock. Returns whether the entry was removed.
  ///
  /// If the entry may have been moved meanwhile, `judge` is asked once more, about its key now.
  ///
  /// `judge` sees the value on loan, not as a copy. A copy might become the last reference and die
  /// here, although the cache releases its values elsewhere. Only a thread that has all its loans
  /// out makes a copy, and gives that to the releaser.
  @discardableResult
  func ask<Failure: Error>(
    _ judge: (Key, Value) throws(Failure) -> Verdict, in shard: OpaquePointer, again: Bool = true,
    about find: (OpaquePointer) -> StoredEntry?
  ) throws(Failure) -> Bool {
    let lane = lrd_lane_attach(core)
    lrd_shard_enter(core, lane, shard)
    guard let entry = find(shard), !lrd_entry_is_expired_locked(shard, entry) else {
      lrd_shard_leave(core, shard)
      return false
    }
    let hash48 = lrd_entry_hash48(entry)
    let staysInPlace = lrd_cache_has_room(core, true)
    // While the loan lasts the slot cannot be used again, so the same address below means the same
    // value. Without a loan the address alone must do.
    var loan = lrd_lend_locked(lane, shard, entry) ? lane : nil
    var copy: (key: Key, value: Value?)?
    if loan == nil {
      copy = (entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee)
    }
    lrd_shard_leave(core, shard)
    func endLoan() -> Bool {
      guard let lane = loan.take() else { return false }
      lrd_loan_unpin(lane)
      lrd_loan_end(lane)
      return true
    }
    defer { if endLoan() { lookAfter(entry, hash48, lane) } }
    defer { if copy != nil { drop(&copy!.value) } }
    let verdict: Verdict
    if let copy {
      verdict = try judge(copy.key, copy.value!)
    } else {
      verdict = try judge(
        entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee)
    }
    switch verdict {
    case .keep: return false
    case .touch:
      lrd_shard_enter(core, lane, shard)
      if lrd_shard_holds_locked(shard, entry, hash48) {
        lrd_note_locked(core, nil, shard, entry, hash48)
      }
      lrd_shard_leave(core, shard)
      return false
    case .remove(let reason):
      // Or removed, or replaced: that cannot be told.
      var isMoved = false
      let isRemoved = removeEntry(in: shard, because: reason) { shard in
        guard lrd_shard_holds_locked(shard, entry, hash48) else {
          isMoved = again && (copy != nil || !staysInPlace && lrd_cache_retrofits(core))
          return nil
        }
        // The lock keeps the entry alive from here on. End the loan first: an entry on loan could
        // not be destroyed by its own removal.
        _ = endLoan()
        return entry
      }
      if !isMoved { return isRemoved }
      // The first lifetime that a cache is given moves all entries, also those on loan, but none
      // twice. A compaction moves those that are not on loan.
      if endLoan() { lookAfter(entry, hash48, lane) }
      return try ask(judge, in: shard, again: false, about: find)
    }
  }

  /// Calls `body` once for each key that is stored during the whole call, with its value of that
  /// moment, and at most once for any other. `body` runs without a lock.
  package func forEach<Failure: Error>(
    _ body: (Key, Value) throws(Failure) -> Void
  ) throws(Failure) {
    func see(_ key: Key, _ value: Value) throws(Failure) -> Verdict {
      try body(key, value)
      return .keep
    }
    try askAboutAll(see)
  }

  /// Removes the value stored for `key` if `matches` returns true for it. Returns whether it did.
  ///
  /// `matches` runs without a lock. A value stored while it runs stays in the cache. (A thread that
  /// is already inside 32 loans goes by the entry's address alone. Then the new value may be
  /// removed, or `matches` asked about it.) A value that has expired is removed without asking,
  /// and does not count.
  ///
  /// - Complexity: Like `removeValue(forKey:)`, but locks the shard twice, or three times where
  ///   entries can expire.
  @discardableResult
  package func removeValue<Failure: Error>(
    forKey key: Key, where matches: (Value) throws(Failure) -> Bool
  ) throws(Failure) -> Bool {
    let hash = hasher.hash(key)
    _ = extras?.secondChance?.willWrite(key, hash)
    defer { extras?.secondChance?.didWrite(hash) }
    func judge(_: Key, _ value: Value) throws(Failure) -> Verdict {
      try matches(value) ? .remove(LRD_REMOVED_BY_CALL) : .keep
    }
    let isRemoved = try ask(judge, in: lrd_cache_shard(core, hash)) { findLocked(key, hash, $0) }
    if !isRemoved { forgetExpired(key) }
    return isRemoved
  }

  /// The entry that has a name's key now. The shard's lock is held.
  ///
  /// The search tries the address first, which also finds keys that do not equal themselves. Then
  /// it tries the key, because the entry may have been replaced, and its slot may even hold another
  /// key of the same hash by now.
  ///
  /// `hash` is the hash of the key. The caller computes it without the lock, because a key's
  /// `hash(into:)` may use the cache.
  func findLocked(_ name: EntryName, _ hash: UInt64, _ shard: OpaquePointer) -> StoredEntry? {
    if lrd_shard_holds_locked(shard, name.entry, name.hash48) {
      let key = name.entry.key(of: Layout.self).pointee
      if key == name.key || name.key != name.key { return name.entry }
    }
    return findLocked(name.key, hash, shard)
  }

  /// The entry of that name, unless it was replaced. The shard's lock is held.
  func findStillLocked(_ name: EntryName, _ shard: OpaquePointer) -> StoredEntry? {
    guard lrd_shard_holds_locked(shard, name.entry, name.hash48),
      name.entry.key(of: Layout.self).pointee == name.key
    else { return nil }
    return name.entry
  }
}
