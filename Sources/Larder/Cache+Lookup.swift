// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Returns the value stored for `key`, or `nil`. Counts as a use of the entry, and as a hit or a
  /// miss.
  ///
  /// - Complexity: O(1) on average. What a lookup locks and stores is described under Threads at
  ///   ``Cache``. In addition, copying a value that contains references retains them, which
  ///   ``withValue(forKey:_:)`` avoids. And while other keys have exactly the same hash, a lookup
  ///   locks one shard.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    value(forKey: key, hash: hasher.hash(key))
  }

  @inlinable @inline(__always)
  func value(forKey key: Key, hash: UInt64) -> Value? {
    guard let lane = lrd_lane_current(core) else { return valueSlowly(key, hash) }
    guard let entry = find(hash, lane) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueSlowly(key, hash)
    }
    guard lrd_use(core, lane, entry, hash) else {
      lrd_loan_end(lane)
      lrd_miss(core, lane, hash)
      return nil
    }
    let value = entry.value(of: Layout.self).pointee
    lrd_loan_end(lane)
    return value
  }

  /// Lends the value stored for `key` to `body` without copying it. Returns what `body` returns, or
  /// `nil` if there is no value. Counts as a use of the entry, and as a hit or a miss.
  ///
  ///     let width = thumbnails.withValue(forKey: "cat") { $0.width }
  ///
  /// The value stays valid until `body` returns, even if another thread, or `body` itself,
  /// replaces, evicts or removes it meanwhile. A `body` that takes long keeps this one entry alive
  /// and holds up nothing else. Loans nest. A thread that is inside 32 loans already gets a copy
  /// instead.
  ///
  /// - Complexity: Like ``value(forKey:)`` without the retains and releases, plus `body`.
  @inlinable
  public func withValue<Result, Failure: Error>(
    forKey key: Key, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_current(core) {
      guard let entry = find(hash, lane) else {
        lrd_miss(core, lane, hash)
        return nil
      }
      if matches(entry, key, hash, lane) && lrd_loan_pin(lane) {
        defer {
          lrd_loan_unpin(lane)
          lrd_loan_end(lane)
        }
        guard lrd_use(core, lane, entry, hash) else {
          lrd_miss(core, lane, hash)
          return nil
        }
        return try body(entry.value(of: Layout.self).pointee)
      }
      lrd_loan_end(lane)
      return try withValueBySearch(key, hash, body)
    }
    return try withValueSlowly(key, hash, body)
  }

  /// ``withValue(forKey:_:)`` where the first entry of this tag has another key, or the thread
  /// comes for the first time or has no loan left.
  @usableFromInline @inline(never)
  func withValueBySearch<Result, Failure: Error>(
    _ key: Key, _ hash: UInt64, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    // Before the search: what is found later has a deadline if this says so.
    let isTimed = lrd_cache_is_timed(core)
    guard let lane = lrd_lane_attach(core) else { return try withCopy(key, hash, body) }
    guard let entry = lrd_find_slow(core, lane, hash) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) && lrd_loan_pin(lane) else {
      lrd_loan_end(lane)
      return try withCopy(key, hash, body)
    }
    defer {
      lrd_loan_unpin(lane)
      lrd_loan_end(lane)
    }
    guard !isTimed || lrd_entry_prolong(core, lane, entry) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    lrd_hit(core, lane, entry, hash)
    return try body(entry.value(of: Layout.self).pointee)
  }

  /// ``withValue(forKey:_:)`` for a thread that can get no loan.
  @inline(never)
  func withCopy<Result, Failure: Error>(
    _ key: Key, _ hash: UInt64, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    var copy = valueSlowly(key, hash)
    if copy == nil { return nil }
    // The copy may have become the last reference.
    defer { drop(&copy) }
    return try body(copy!)
  }

  /// Returns the value stored for `key`, or `nil`, without counting as a use. Neither the eviction
  /// order nor the statistics change. If there is no value, the default policy learns that the key
  /// was asked for.
  ///
  /// - Complexity: Like ``value(forKey:)``.
  @inlinable
  public func peek(forKey key: Key) -> Value? {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_plain(core) {
      guard let entry = find(hash, lane) else {
        lrd_note_absent(core, lane, hash)
        return nil
      }
      let found = matches(entry, key, hash, lane)
      let value = found ? entry.value(of: Layout.self).pointee : nil
      lrd_loan_end(lane)
      if found { return value }
    }
    return peekSlowly(key, hash)
  }

  /// Whether a value is stored for `key`. Neither the eviction order nor the statistics change. If
  /// there is no value, the default policy learns that the key was asked for.
  ///
  /// - Complexity: Like ``value(forKey:)``, but copies no value.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_plain(core) {
      let references = Layout.keyRefers ? Layout.referencesFollowed : 0
      guard let entry = lrd_find(core, lane, hash, references) else {
        lrd_note_absent(core, lane, hash)
        return false
      }
      let found = matches(entry, key, hash, lane)
      lrd_loan_end(lane)
      if found { return true }
    }
    return containsSlowly(key, hash)
  }

  /// The entry whose key may have this hash, for callers that will use its value.
  @inlinable @inline(__always)
  func find(_ hash: UInt64, _ lane: OpaquePointer) -> UnsafeMutablePointer<lrd_entry>? {
    lrd_find(core, lane, hash, Layout.referencesFollowed)
  }

  /// Whether the entry just found has this key. False also when the thread has no loan left.
  ///
  /// Comparing keys of an unknown type runs code that may use a cache, so the entry is on loan
  /// meanwhile.
  @inlinable @inline(__always)
  func matches(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64, _ lane: OpaquePointer
  ) -> Bool {
    if KeyHasher<Key>.isWord || Key.self == String.self { return hasKey(entry, key, hash) }
    guard lrd_loan_pin(lane) else { return false }
    let applied = lrd_lane_applied(lane)
    defer {
      lrd_loan_unpin(lane)
      lrd_lane_found_at(lane, applied)
    }
    return hasKey(entry, key, hash)
  }

  @inlinable @inline(__always)
  func hasKey(_ entry: UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64) -> Bool {
    (KeyHasher<Key>.isWord || lrd_entry_may_match(entry, hash))
      && KeyHasher<Key>.isEqual(entry.key(of: Layout.self), key)
  }

  /// The entry of `key`. The shard's lock is held.
  @inlinable
  func findLocked(
    _ key: Key, _ hash: UInt64, _ shard: OpaquePointer
  ) -> UnsafeMutablePointer<lrd_entry>? {
    var matches = lrd_shard_matches_locked(shard, hash)
    var candidate = lrd_matches_next_locked(&matches)
    while let entry = candidate, !KeyHasher<Key>.isEqual(entry.key(of: Layout.self), key) {
      candidate = lrd_matches_next_locked(&matches)
    }
    return candidate
  }
}
