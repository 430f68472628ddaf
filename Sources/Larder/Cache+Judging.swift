// SPDX-License-Identifier: Apache-2.0
import CLarder

/// What becomes of an entry that code of users was asked about.
enum Verdict {
  case keep
  /// It stays, and counts as used.
  case touch
  case remove(lrd_entry_state)
}

extension Cache {
  /// What finds an entry again: where it was, and its key in case another has taken its place.
  struct EntryName {
    let entry: StoredEntry
    let place: UInt64
    let key: Key

    init(of entry: StoredEntry) {
      self.entry = entry
      place = lrd_entry_place(entry)
      key = entry.key(of: Layout.self).pointee
    }
  }

  /// The names of all entries.
  func names() -> [EntryName] {
    (0..<shardCount).flatMap { shard in
      copyShard(shard, atMost: .max, hottestFirst: true) { EntryName(of: $0) }
    }
  }

  /// Asks `judge`, without a lock, about the entry that `find` finds under the shard's, and does
  /// what it says, if the entry is stored still. Returns whether it was removed.
  ///
  /// The value is lent, not copied: a copy might become the last reference and die here, although
  /// values are to be released elsewhere. A thread with all its loans out makes one, and gives it
  /// to the releaser.
  @discardableResult
  func ask(
    _ judge: (Key, Value) throws -> Verdict, in shard: OpaquePointer,
    about find: (OpaquePointer) -> StoredEntry?
  ) rethrows -> Bool {
    let lane = lrd_lane_attach(core)
    lrd_shard_enter(core, lane, shard)
    guard let entry = find(shard) else {
      lrd_shard_leave(core, shard)
      return false
    }
    let place = lrd_entry_place(entry)
    // The loan keeps the entry's slot from being used again, so that the same address below means
    // the same value. Without one the address alone has to do.
    var loan = lrd_lend_locked(lane, shard, entry) ? lane : nil
    var copy: (key: Key, value: Value?)?
    if loan == nil {
      copy = (entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee)
    }
    lrd_shard_leave(core, shard)
    func endLoan() -> Bool {
      guard let lane = loan.take() else { return false }
      lrd_loan_close(lane)
      lrd_loan_end(lane)
      return true
    }
    defer { if endLoan() { lookAfter(entry, place, lane) } }
    defer { if copy != nil { drop(&copy!.value) } }
    let verdict =
      try copy.map { try judge($0.key, $0.value!) }
      ?? judge(entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee)
    switch verdict {
    case .keep: return false
    case .touch:
      lrd_shard_enter(core, lane, shard)
      if lrd_shard_holds_locked(shard, entry, place) { lrd_note_locked(core, nil, shard, entry) }
      lrd_shard_leave(core, shard)
      return false
    case .remove(let reason):
      return evict(shard, reason) { shard in
        guard lrd_shard_holds_locked(shard, entry, place) else { return nil }
        // Under the lock the entry stays; while on loan it could not be destroyed by its own
        // removal.
        _ = endLoan()
        return entry
      }
    }
  }

  /// Shows each entry stored during the whole call to `body` once, with its value of that moment;
  /// no lock is held.
  package func forEach(_ body: (Key, Value) throws -> Void) rethrows {
    func see(_ key: Key, _ value: Value) throws -> Verdict {
      try body(key, value)
      return .keep
    }
    for name in names() {
      let hash = hasher.hash(name.key)
      try ask(see, in: lrd_cache_shard(core, name.place)) { findLocked(name, hash, $0) }
    }
  }

  /// Removes the value stored for `key` if `matches` says so of it. Returns whether it did.
  ///
  /// A value that is stored while `matches` runs stays. No lock is held meanwhile. (A thread that
  /// is inside 32 loans already goes by the entry's address alone: there the new value may go.)
  ///
  /// - Complexity: As `removeValue(forKey:)`; locks the shard twice.
  @discardableResult
  package func removeValue(
    forKey key: Key, where matches: (Value) throws -> Bool
  ) rethrows -> Bool {
    let hash = hasher.hash(key)
    _ = extras?.secondChance?.willWrite(key, hash)
    defer { extras?.secondChance?.didWrite(hash) }
    func judge(_: Key, _ value: Value) throws -> Verdict {
      try matches(value) ? .remove(LRD_REMOVED_BY_CALL) : .keep
    }
    return try ask(judge, in: lrd_cache_shard(core, hash)) { findLocked(key, hash, $0) }
  }

  /// The entry that has a name's key now; the shard's lock is held. By address first, which finds
  /// keys that do not equal themselves; by key where the entry was replaced since, even if its slot
  /// holds another key of the same hash by now.
  ///
  /// `hash` is that of the key. It is found out without the lock, since a key's `hash(into:)` may
  /// use the cache.
  func findLocked(_ name: EntryName, _ hash: UInt64, _ shard: OpaquePointer) -> StoredEntry? {
    if lrd_shard_holds_locked(shard, name.entry, name.place) {
      let key = name.entry.key(of: Layout.self).pointee
      if key == name.key || name.key != name.key { return name.entry }
    }
    return findLocked(name.key, hash, shard)
  }

  /// The entry of that name if it was not replaced; the shard's lock is held.
  func findStillLocked(_ name: EntryName, _ shard: OpaquePointer) -> StoredEntry? {
    guard lrd_shard_holds_locked(shard, name.entry, name.place),
      name.entry.key(of: Layout.self).pointee == name.key
    else { return nil }
    return name.entry
  }
}
