// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Removes the value stored for `key`. Returns the value, or `nil` if there is none.
  ///
  /// - Complexity: O(1) on average. Locks one shard.
  @inlinable @discardableResult
  public func removeValue(forKey key: Key) -> Value? {
    var value: Value?
    remove(key, into: &value)
    return value
  }

  /// Removes the value of `key`, and copies it to `value` if that is not `nil`.
  @inlinable
  func remove(_ key: Key, into value: UnsafeMutablePointer<Value?>?) {
    if let extras { return remove(key, into: value, with: extras) }
    removePlainly(key, into: value)
  }

  /// ``remove(_:into:)`` for caches without optional features.
  @inlinable
  func removePlainly(_ key: Key, into value: UnsafeMutablePointer<Value?>?) {
    let hash = hasher.hash(key)
    let lane = lrd_lane_current(core) ?? lrd_lane_attach(core)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, lane, shard)
    if lrd_shard_is_flying_locked(shard) { outdateLocked(key, hash, shard) }
    guard let entry = findLocked(key, hash, shard) else {
      lrd_removal_of_none_locked(shard, hash)
      return lrd_shard_leave(core, shard)
    }
    if let value, !lrd_entry_is_expired_locked(shard, entry) {
      value.pointee = entry.value(of: Layout.self).pointee
    }
    var garbage = lrd_garbage()
    lrd_removal_of_one(core, shard, &garbage, entry)
    finish(&garbage, lane)
  }

  /// Removes all entries.
  ///
  /// With one shard, all entries disappear at the same moment. With several, each shard is emptied
  /// at a moment of its own within the call, and every insertion comes either before all these
  /// moments or after all of them.
  ///
  /// - Complexity: O(*n*) to destroy the entries. The locks are held for O(1).
  public func removeAll() {
    outdateFlights()
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    let lane = lrd_lane_attach(core)
    var garbage = lrd_garbage()
    lrd_removal_of_all(core, lane, &garbage)
    finish(&garbage, lane)
  }

  /// Removes every entry for which `shouldBeRemoved` returns true.
  ///
  /// The closure is called exactly once for every key that is stored during the whole call, with
  /// the key's value at that moment, and at most once for a key that is stored during part of it.
  /// (Once more, if the cache is given its first lifetime or idle time at that moment.)
  /// The entry is removed only if it still has that value afterwards. The closure runs without a
  /// lock and may use the cache. (If the calling thread is already inside 32 loans, a value that
  /// replaces another while the closure looks at that one may be removed instead, or the closure
  /// asked about it.) What has expired is removed as well, without asking.
  ///
  /// - Complexity: O(*n*), where *n* includes what is stored meanwhile. Locks a shard for some 64
  ///   entries at a time, unless more keys than that have the same hash; then once for each entry,
  ///   and again for each removal.
  public func removeAll<Failure: Error>(
    where shouldBeRemoved: (Key, Value) throws(Failure) -> Bool
  ) throws(Failure) {
    outdateFlights()
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    func judge(_ key: Key, _ value: Value) throws(Failure) -> Verdict {
      try shouldBeRemoved(key, value) ? .remove(LRD_REMOVED_BY_CALL) : .keep
    }
    try askAboutAll(judge)
    forgetAllExpired()
  }
}
