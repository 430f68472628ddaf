// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// The value stored for `key`, or `nil`. Counts as a use of the entry and as a hit or a miss.
  ///
  /// - Complexity: O(1) on average. Takes no lock and writes nothing shared, except that copying a
  ///   value with references retains them; see ``withValue(forKey:_:)``. While other keys have the
  ///   very same hash, a lookup locks one shard.
  @inlinable
  public func value(forKey key: Key) -> Value? {
    value(forKey: key, hash: hasher.hash(key))
  }

  @inlinable @inline(__always)
  func value(forKey key: Key, hash: UInt64) -> Value? {
    guard let lane = lrd_lane_current(core) else { return valueSlowly(key, hash) }
    guard let entry = find(hash, lane) else {
      lrd_miss(lane)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueSlowly(key, hash)
    }
    let value = entry.value(of: Layout.self).pointee
    lrd_hit(core, lane, entry, hash)
    lrd_loan_end(lane)
    return value
  }

  /// Lends the value stored for `key` to `body` without copying it, and returns what `body`
  /// returns; `nil` if there is no value. Counts as a use of the entry and as a hit or a miss.
  ///
  ///     let width = thumbnails.withValue(forKey: "cat") { $0.width }
  ///
  /// The value stays valid until `body` returns, even if it is replaced, evicted or removed
  /// meanwhile, by other threads or by `body` itself. A body that takes long keeps this one entry
  /// alive and holds up nothing else. Loans nest; beyond 32 at a time on one thread the value is
  /// copied.
  ///
  /// - Complexity: As ``value(forKey:)``, and `body`; without its retains and releases.
  @inlinable
  public func withValue<Result, Failure: Error>(
    forKey key: Key, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_current(core) {
      guard let entry = find(hash, lane) else {
        lrd_miss(lane)
        return nil
      }
      if matches(entry, key, hash, lane) && lrd_loan_open(lane) {
        defer {
          lrd_loan_close(lane)
          lrd_loan_end(lane)
        }
        lrd_hit(core, lane, entry, hash)
        return try body(entry.value(of: Layout.self).pointee)
      }
      lrd_loan_end(lane)
    }
    return try withCopy(key, hash, body)
  }

  /// ``withValue(forKey:_:)`` where no loan is to be had.
  @usableFromInline @inline(never)
  func withCopy<Result, Failure: Error>(
    _ key: Key, _ hash: UInt64, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    var copy = valueSlowly(key, hash)
    if copy == nil { return nil }
    // It may become the last reference.
    defer { drop(&copy) }
    return try body(copy!)
  }

  /// The value stored for `key`, or `nil`, as if nobody had looked: neither the order of eviction
  /// nor the statistics notice.
  ///
  /// - Complexity: As ``value(forKey:)``.
  @inlinable
  public func peek(forKey key: Key) -> Value? {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_current(core) {
      guard let entry = find(hash, lane) else { return nil }
      let found = matches(entry, key, hash, lane)
      let value = found ? entry.value(of: Layout.self).pointee : nil
      lrd_loan_end(lane)
      if found { return value }
    }
    return peekSlowly(key, hash)
  }

  /// Whether a value is stored for `key`. Neither the order of eviction nor the statistics notice.
  ///
  /// - Complexity: As ``value(forKey:)``, without a copy of the value.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = hasher.hash(key)
    if let lane = lrd_lane_current(core) {
      let references = Layout.keyRefers ? Layout.referenceCount : 0
      guard let entry = lrd_find(core, lane, hash, references) else { return false }
      let found = matches(entry, key, hash, lane)
      lrd_loan_end(lane)
      if found { return true }
    }
    return containsSlowly(key, hash)
  }

  /// The entry that may be that of a key with this hash, for callers who will use its value.
  @inlinable @inline(__always)
  func find(_ hash: UInt64, _ lane: OpaquePointer) -> UnsafeMutablePointer<lrd_entry>? {
    lrd_find(core, lane, hash, Layout.referenceCount)
  }

  /// Whether the entry just found has this key. Comparing keys of unknown types runs code that may
  /// use a cache, so the entry is on loan meanwhile; false as well when no loan is left.
  @inlinable @inline(__always)
  func matches(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64, _ lane: OpaquePointer
  ) -> Bool {
    if KeyHasher<Key>.isWord || Key.self == String.self { return hasKey(entry, key, hash) }
    guard lrd_loan_open(lane) else { return false }
    let applied = lrd_lane_applied(lane)
    defer {
      lrd_loan_close(lane)
      lrd_lane_found_at(lane, applied)
    }
    return hasKey(entry, key, hash)
  }

  @inlinable @inline(__always)
  func hasKey(_ entry: UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64) -> Bool {
    (KeyHasher<Key>.isWord || lrd_entry_may_match(entry, hash))
      && KeyHasher<Key>.isEqual(entry.key(of: Layout.self), key)
  }

  /// The entry of `key`; the shard's lock is held.
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
