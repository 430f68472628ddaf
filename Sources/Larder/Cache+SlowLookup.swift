// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// The lookups that the inlined path does not handle.
extension Cache {
  /// Looks up what the inlined path leaves: a thread's first use of a cache, or of one it has not
  /// used lately; systems without membarrier; entries with the same tag; and everything that needs
  /// the lock.
  @inlinable @inline(never)
  func valueSlowly(_ key: Key, _ hash: UInt64) -> Value? {
    guard let lane = lrd_lane_attach(core) else { return valueUnderLock(key, hash, nil) }
    guard let entry = lrd_find_slow(core, lane, hash) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueUnderLock(key, hash, lane)
    }
    let value = entry.value(of: Layout.self).pointee
    lrd_hit(core, lane, entry, hash)
    lrd_loan_end(lane)
    return value
  }

  /// Looks up keys of equal hashes, for loans nested too deep, and for threads without memory for a
  /// lane.
  @usableFromInline
  func valueUnderLock(_ key: Key, _ hash: UInt64, _ lane: OpaquePointer?) -> Value? {
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, lane, shard)
    let entry = findLocked(key, hash, shard)
    let value = entry?.value(of: Layout.self).pointee
    lrd_note_locked(core, lane, shard, entry, hash)
    lrd_shard_leave(core, shard)
    return value
  }

  /// Looks up what `peek` leaves, as ``valueSlowly(_:_:)`` does for lookups.
  @usableFromInline @inline(never)
  func peekSlowly(_ key: Key, _ hash: UInt64) -> Value? {
    if let lane = lrd_lane_attach(core) {
      guard let entry = lrd_find_slow(core, lane, hash) else { return nil }
      let found = matches(entry, key, hash, lane)
      let value = found ? entry.value(of: Layout.self).pointee : nil
      lrd_loan_end(lane)
      if found { return value }
    }
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    let value = findLocked(key, hash, shard)?.value(of: Layout.self).pointee
    lrd_shard_leave(core, shard)
    return value
  }

  /// Looks up what `contains` leaves. Copies no value.
  @usableFromInline @inline(never)
  func containsSlowly(_ key: Key, _ hash: UInt64) -> Bool {
    if let lane = lrd_lane_attach(core) {
      guard let entry = lrd_find_slow(core, lane, hash) else { return false }
      let found = matches(entry, key, hash, lane)
      lrd_loan_end(lane)
      if found { return true }
    }
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    let found = findLocked(key, hash, shard) != nil
    lrd_shard_leave(core, shard)
    return found
  }
}
