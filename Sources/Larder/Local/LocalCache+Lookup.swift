// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension LocalCache {
  /// Returns the value stored for `key`, or `nil`. Counts as a use of the entry, and as a hit or a
  /// miss.
  ///
  /// - Complexity: O(1) on average.
  @inlinable @inline(__always)
  public func value(forKey key: Key) -> Value? {
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_local_miss(core, hash)
      return nil
    }
    lrd_local_hit(core, entry)
    return entry.value(of: Layout.self).pointee
  }

  /// Returns the value stored for `key`, or `nil`, without counting as a use. Neither the eviction
  /// order nor the statistics change.
  ///
  /// - Complexity: O(1) on average.
  @inlinable
  public func peek(forKey key: Key) -> Value? {
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_local_note_absent(core, hash)
      return nil
    }
    return entry.value(of: Layout.self).pointee
  }

  /// The value of a key, where the cache itself asks, so that the policy hears nothing of it.
  @inlinable
  func current(_ key: Key) -> Value? {
    find(key, hasher.hash(key))?.value(of: Layout.self).pointee
  }
}

extension LocalCache where Value: ~Copyable {
  /// Lends the value stored for `key` to `body` without copying it. Returns what `body` returns, or
  /// `nil` if there is no value. Counts as a use of the entry, and as a hit or a miss.
  ///
  /// The value stays valid until `body` returns, even if `body` replaces, evicts or removes it.
  /// What leaves the cache meanwhile is released when the outermost `withValue` ends. In `body`,
  /// ``withMutableValue(forKey:file:line:_:)`` and ``takeValue(forKey:file:line:)`` trap.
  ///
  /// - Complexity: O(1) on average, plus `body`.
  @inlinable
  public func withValue<Result: ~Copyable, Failure: Error>(
    forKey key: Key, _ body: (borrowing Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_local_miss(core, hash)
      return nil
    }
    lrd_local_hit(core, entry)
    lrd_local_lend(core)
    defer { if lrd_local_end_loan(core) { destroyDeferred() } }
    return try body(entry.value(of: Layout.self).pointee)
  }

  /// Lends the value stored for `key` to `body`, which may change it in place. Returns what `body`
  /// returns, or `nil` if there is no value. Counts as a use of the entry, and as a hit or a miss.
  ///
  ///     lists.withMutableValue(forKey: "cat") { $0.append(image) }    // the list is not copied
  ///
  /// The entry keeps its cost, also where a cost function would say another one: store the value
  /// anew to change it. The observer of removals is not told. If `body` throws, its changes stay.
  ///
  /// Any use of the cache in `body` traps, and so does a call inside of ``withValue(forKey:_:)``.
  ///
  /// - Complexity: O(1) on average, plus `body`.
  @inlinable
  public func withMutableValue<Result: ~Copyable, Failure: Error>(
    forKey key: Key, file: StaticString = #fileID, line: UInt = #line,
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    enter(file: file, line: line)
    require(
      !lrd_local_is_lent(core), "a value of the cache is on loan", file: file, line: line)
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_local_miss(core, hash)
      return nil
    }
    lrd_local_hit(core, entry)
    lrd_local_set_exclusive(core, true)
    defer { lrd_local_set_exclusive(core, false) }
    return try body(&entry.value(of: Layout.self).pointee)
  }

  /// Whether a value is stored for `key`. Neither the eviction order nor the statistics change.
  ///
  /// - Complexity: O(1) on average.
  @inlinable
  public func contains(_ key: Key) -> Bool {
    let hash = hasher.hash(key)
    guard find(key, hash) != nil else {
      lrd_local_note_absent(core, hash)
      return false
    }
    return true
  }

  /// Every call that writes begins with this: none may come while a value is being changed in
  /// place.
  @inlinable @inline(__always)
  func enter(file: StaticString = #fileID, line: UInt = #line) {
    if lrd_local_is_exclusive(core) {
      stop("the cache is used while one of its values is changed in place", file: file, line: line)
    }
  }

  @inlinable @inline(__always)
  func find(_ key: Key, _ hash: UInt64) -> UnsafeMutablePointer<lrd_entry>? {
    find(key, hash, in: lrd_local_bucket(core, hash))
  }

  @inlinable @inline(__always)
  func find(
    _ key: Key, _ hash: UInt64, in bucket: OpaquePointer
  ) -> UnsafeMutablePointer<lrd_entry>? {
    guard let entry = lrd_local_found(core, bucket, hash) else {
      return lrd_local_goes_on(bucket) ? findSlowly(key, hash) : nil
    }
    return KeyHasher<Key>.isEqual(entry.key(of: Layout.self), key) ? entry : findSlowly(key, hash)
  }

  /// ``find(_:_:)`` among all entries of this hash. Lookups come here, too, while a value is being
  /// changed in place.
  @inlinable @inline(never)
  func findSlowly(_ key: Key, _ hash: UInt64) -> UnsafeMutablePointer<lrd_entry>? {
    enter()
    var matches = lrd_shard_matches_locked(lrd_local_shard(core), hash)
    var candidate = lrd_matches_next_locked(&matches)
    while let entry = candidate, !KeyHasher<Key>.isEqual(entry.key(of: Layout.self), key) {
      candidate = lrd_matches_next_locked(&matches)
    }
    return candidate
  }
}
