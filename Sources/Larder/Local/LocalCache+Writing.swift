// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension LocalCache where Value: ~Copyable {
  /// Stores `value` for `key`, replacing any earlier value.
  ///
  /// Entries that no longer fit are evicted before the call returns. The new entry is never among
  /// them.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key to keep it under.
  ///   - cost: The entry's share of ``totalCostLimit``, in any unit. Must not be negative. If
  ///     `nil`, the cost function is asked. Without one, the cost is 1 if the cache has a total
  ///     cost limit, and 0 otherwise.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: What became of the value.
  /// - Complexity: O(1) on average, plus O(1) for each entry evicted, or O(log *n*) for each with a
  ///   policy that orders by cost.
  @inlinable @inline(__always) @discardableResult
  public func insert(
    _ value: consuming Value, forKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> InsertionOutcome {
    enter(file: file, line: line)
    let cost = cost ?? self.cost?(key, value)
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    let units = cost.map(UInt64.init) ?? lrd_local_default_cost(core)
    let hash = hasher.hash(key)
    let bucket = lrd_local_bucket(core, hash)
    let old = find(key, hash, in: bucket)
    guard let entry = lrd_local_take(core, units) else { return .outOfMemory }
    entry.key(of: Layout.self).initialize(to: key)
    entry.value(of: Layout.self).initialize(to: value)
    lrd_entry_describe(entry, hash, units)
    let isPlain = old == nil && units == 0 && lrd_local_has_room(core)
    if isPlain && lrd_local_add(core, entry, hash, bucket) { return .inserted }
    return insert(entry, old, hash)
  }

  /// Stores an entry that may replace another, or take the place of others.
  @inlinable @inline(never)
  func insert(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ old: UnsafeMutablePointer<lrd_entry>?,
    _ hash: UInt64
  ) -> InsertionOutcome {
    var removed = lrd_chain()
    let result = lrd_local_insert(core, entry, old, hash, &removed)
    if result != LRD_INSERTED && result != LRD_REPLACED { destroy(entry) }
    if removed.head != nil { finish(&removed) }
    return InsertionOutcome(result)
  }

  /// Removes the entry of `key`, if there is one.
  ///
  /// - Returns: Whether there was one.
  /// - Complexity: O(1) on average.
  @discardableResult
  public func remove(_ key: Key) -> Bool {
    enter()
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_removal_of_none_locked(lrd_local_shard(core), hash)
      return false
    }
    remove(entry)
    return true
  }

  /// Removes the value stored for `key` and returns it, or `nil` if there is none. It need not be
  /// copyable. Traps inside of ``withValue(forKey:_:)``, which may have lent the value.
  ///
  /// - Complexity: O(1) on average.
  public func takeValue(
    forKey key: Key, file: StaticString = #fileID, line: UInt = #line
  ) -> Value? {
    enter(file: file, line: line)
    require(
      !lrd_local_is_lent(core), "a value of the cache is on loan", file: file, line: line)
    let hash = hasher.hash(key)
    guard let entry = find(key, hash) else {
      lrd_removal_of_none_locked(lrd_local_shard(core), hash)
      return nil
    }
    var removed = lrd_chain()
    lrd_local_remove(core, entry, UInt8(LRD_REMOVED_BY_CALL.rawValue), &removed)
    tell(removed)
    let value = entry.value(of: Layout.self).move()
    // The key goes last: its `deinit` may use the cache.
    let key = entry.key(of: Layout.self).move()
    lrd_local_give(core, entry)
    lrd_local_settle(core)
    _ = consume key
    return value
  }

  /// Removes an entry that is stored.
  func remove(_ entry: UnsafeMutablePointer<lrd_entry>) {
    var removed = lrd_chain()
    lrd_local_remove(core, entry, UInt8(LRD_REMOVED_BY_CALL.rawValue), &removed)
    finish(&removed)
    lrd_local_settle(core)
  }

  /// Tells of what has left, and destroys it.
  @inlinable @inline(__always)
  func finish(_ removed: inout lrd_chain) {
    if observer != nil { tell(removed) }
    if lrd_local_defer(core, &removed) { return }
    destroy(&removed)
  }

  @usableFromInline @inline(never)
  func tell(_ removed: lrd_chain) {
    guard let observer else { return }
    var next = removed.head
    while let entry = next {
      observer(
        entry.key(of: Layout.self).pointee, entry.value(of: Layout.self).pointee,
        Int(clamping: lrd_entry_cost(entry)), RemovalCause(state: lrd_entry_get_state(entry)))
      next = lrd_local_after(core, entry)
    }
  }

  @inlinable
  func destroy(_ removed: inout lrd_chain) {
    while let entry = lrd_local_unchain(core, &removed) { destroy(entry) }
  }

  /// Destroys what has left while values were lent. At once and not one by one, as a `deinit` that
  /// uses the cache comes here again.
  @usableFromInline @inline(never)
  func destroyDeferred() {
    var removed = lrd_local_take_deferred(core)
    destroy(&removed)
    lrd_local_settle(core)
  }

  /// Destroys an entry that is not stored. User code runs, with the cache in order.
  @inlinable
  func destroy(_ entry: UnsafeMutablePointer<lrd_entry>) {
    entry.key(of: Layout.self).deinitialize(count: 1)
    entry.value(of: Layout.self).deinitialize(count: 1)
    lrd_local_give(core, entry)
  }
}

extension LocalCache {
  /// The value for `key`. Assigning `nil` removes the entry.
  ///
  /// - Complexity: O(1) on average; assigning is like ``insert(_:forKey:cost:file:line:)``.
  ///
  /// A change in place keeps the entry's cost if there is no cost function. It copies the value:
  /// ``withMutableValue(forKey:file:line:_:)`` does not.
  @inlinable
  public subscript(key: Key) -> Value? {
    get { value(forKey: key) }
    set { assign(newValue, key, nil) }
    _modify {
      var value = value(forKey: key)
      let kept = keptCost(key)
      defer { assign(value.take(), key, kept) }
      yield &value
    }
  }

  @inlinable
  func assign(_ value: consuming Value?, _ key: Key, _ cost: Int?) {
    if let value = consume value { insert(value, forKey: key, cost: cost) } else { remove(key) }
  }

  func storedCost(_ key: Key) -> Int? {
    find(key, hasher.hash(key)).map { Int(clamping: lrd_entry_cost($0)) }
  }

  /// Stores `value` for `key` and returns the value that was there before, or `nil` if there was
  /// none. The result does not tell whether `value` is stored; see
  /// ``Cache/updateValue(_:forKey:cost:file:line:)``.
  ///
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @discardableResult
  public func updateValue(
    _ value: Value, forKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Value? {
    var old: Value?
    insert(value, forKey: key, cost: cost, replaced: &old, file: file, line: line)
    return old
  }

  /// Removes the value stored for `key`. Returns the value, or `nil` if there is none.
  ///
  /// - Complexity: O(1) on average.
  @inlinable @discardableResult
  public func removeValue(forKey key: Key) -> Value? {
    let old = current(key)
    remove(key)
    return old
  }
}
