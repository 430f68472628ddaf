// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// The lookups that the inlined path does not handle.
extension Cache {
  /// Looks up what the inlined path leaves: a thread's first use of a cache, or of one it has not
  /// used lately; systems without membarrier; entries with the same tag; and everything that needs
  /// the lock.
  @inlinable @inline(never)
  func valueBySearch(_ key: Key, _ hash: UInt64) -> Value? {
    // Before the search: what is found later has a deadline if this says so.
    let isTimed = lrd_cache_is_timed(core)
    guard let lane = lrd_lane_attach(core) else { return valueUnderLock(key, hash, nil) }
    guard let entry = lrd_find_slow(core, lane, hash) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueUnderLock(key, hash, lane)
    }
    return copyIfLiving(entry, hash, lane, isTimed: isTimed)
  }

  /// Looks up keys of equal hashes, for loans nested too deep, and for threads without memory for a
  /// lane.
  @usableFromInline
  func valueUnderLock(_ key: Key, _ hash: UInt64, _ lane: OpaquePointer?) -> Value? {
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, lane, shard)
    let entry = findLivingLocked(key, hash, shard)
    let value = entry?.value(of: Layout.self).pointee
    lrd_note_locked(core, lane, shard, entry, hash)
    lrd_shard_leave(core, shard)
    return value
  }

  /// Looks up what `peek` leaves, as ``valueBySearch(_:_:)`` does for lookups.
  @usableFromInline @inline(never)
  func peekSlowly(_ key: Key, _ hash: UInt64) -> Value? {
    let isTimed = lrd_cache_is_timed(core)
    if let lane = lrd_lane_attach(core) {
      guard let entry = lrd_find_slow(core, lane, hash) else {
        lrd_note_absent(core, lane, hash)
        return nil
      }
      let found = matches(entry, key, hash, lane)
      let lives = found && livesStill(entry, lane, isTimed)
      let value = lives ? entry.value(of: Layout.self).pointee : nil
      lrd_loan_end(lane)
      if found && !lives { lrd_note_absent(core, lane, hash) }
      if found { return value }
    }
    return current(key, hash)
  }

  /// The value of a key, where Larder itself asks, so that the policy hears nothing of it. Takes
  /// the shard's lock.
  package func current(_ key: Key) -> Value? { current(key, hasher.hash(key)) }

  func current(_ key: Key, _ hash: UInt64) -> Value? {
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    let value = findLivingLocked(key, hash, shard)?.value(of: Layout.self).pointee
    lrd_shard_leave(core, shard)
    return value
  }

  /// Whether an entry just found has not expired. Asking is no use of it. `isTimed`: whether
  /// entries could expire before it was found.
  private func livesStill(
    _ entry: StoredEntry, _ lane: OpaquePointer, _ isTimed: Bool
  ) -> Bool {
    !isTimed || lrd_entry_is_alive(core, lane, entry)
  }

  /// Looks up what `contains` leaves. Copies no value.
  @usableFromInline @inline(never)
  func containsSlowly(_ key: Key, _ hash: UInt64) -> Bool {
    let isTimed = lrd_cache_is_timed(core)
    if let lane = lrd_lane_attach(core) {
      guard let entry = lrd_find_slow(core, lane, hash) else {
        lrd_note_absent(core, lane, hash)
        return false
      }
      let found = matches(entry, key, hash, lane)
      let lives = found && livesStill(entry, lane, isTimed)
      lrd_loan_end(lane)
      if found && !lives { lrd_note_absent(core, lane, hash) }
      if found { return lives }
    }
    return holds(key, hash)
  }

  /// Whether there is a value, as ``current(_:)`` asks.
  func holds(_ key: Key, _ hash: UInt64) -> Bool {
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    let found = findLivingLocked(key, hash, shard) != nil
    lrd_shard_leave(core, shard)
    return found
  }
}
