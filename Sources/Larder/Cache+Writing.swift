// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Stores `value` for `key`, replacing any earlier value.
  ///
  /// Entries that no longer fit are evicted before the call returns. The new entry is never among
  /// them. It may be evicted at any later moment, or by a purge to the low-water marks
  /// (``Options/preferredCount``) that this call begins.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key to keep it under.
  ///   - cost: The entry's share of ``totalCostLimit``, in any unit. Must not be negative. If
  ///     `nil`, the cost function is asked. Without one, the cost is 1 while a total cost limit is
  ///     in force, and 0 otherwise.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: What became of the value.
  /// - Complexity: O(1) on average, plus O(1) for each entry evicted, or O(log *n*) for each with a
  ///   policy that orders by cost. Locks one shard. Allocates and destroys only while that is
  ///   unlocked.
  @inlinable @inline(__always) @discardableResult
  public func insert(
    _ value: consuming Value, forKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> InsertionOutcome {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    return store(consume value, key, cost, replaced: nil)
  }

  /// Stores `value` for `key` and returns the value that was there before, or `nil` if there was
  /// none.
  ///
  /// The result does not tell whether `value` is stored now. A value that costs more than the limit
  /// is refused, and one for which there is no memory;
  /// ``insert(_:forKey:cost:replaced:file:line:)`` tells both. If it is too costly, or has no time
  /// to live, the earlier value is out of date: it is removed, and returned. Otherwise like
  /// ``insert(_:forKey:cost:file:line:)``.
  ///
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @inlinable @inline(__always) @discardableResult
  public func updateValue(
    _ value: consuming Value, forKey key: Key, cost: Int? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Value? {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    var replaced: Value?
    _ = store(consume value, key, cost, replaced: &replaced)
    return replaced
  }

  /// Stores `value` for `key`. Tells what became of it, and which value was there before.
  ///
  ///     var old: Page?
  ///     if !pages.insert(new, forKey: url, replaced: &old).isStored { … }
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key to keep it under.
  ///   - cost: As for ``insert(_:forKey:cost:file:line:)``.
  ///   - replaced: Receives the value that was replaced, or removed because the new one was too
  ///     costly or had no time to live; `nil` if there was none.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: What became of the value.
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @inlinable @inline(__always) @discardableResult
  public func insert(
    _ value: consuming Value, forKey key: Key, cost: Int? = nil, replaced: inout Value?,
    file: StaticString = #fileID, line: UInt = #line
  ) -> InsertionOutcome {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    var old: Value?
    let outcome = store(consume value, key, cost, replaced: &old)
    replaced = old
    return outcome
  }

  @inlinable
  func store(
    _ value: consuming Value, _ key: Key, _ cost: Int?, replaced: UnsafeMutablePointer<Value?>?
  ) -> InsertionOutcome {
    if let extras { return store(consume value, key, cost, replaced: replaced, with: extras) }
    return storeByRule(consume value, key, cost, replaced: replaced)
  }

  /// ``store(_:_:_:replaced:)`` for caches without optional features. Where there are some, they
  /// have done their part before, and `steps` says what else to do.
  @inlinable
  func storeByRule(
    _ value: consuming Value, _ key: Key, _ cost: Int?, replaced: UnsafeMutablePointer<Value?>?,
    with steps: UnsafeMutablePointer<StoreSteps>? = nil
  ) -> InsertionOutcome {
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_prefetch(shard, hash, Layout.referencesFollowed)
    let lane = lrd_lane_current(core) ?? lrd_lane_attach(core)
    let cost = cost.map(UInt64.init) ?? lrd_cache_default_cost(core)
    guard let entry = lrd_slot_take(core, lane, cost) else {
      refuse(consume value)
      return .outOfMemory
    }
    entry.key(of: Layout.self).initialize(to: key)
    entry.value(of: Layout.self).initialize(to: consume value)
    lrd_entry_describe(entry, hash, cost)
    // Where something is to be done under the lock, only the long way does it.
    if steps == nil {
      var freed: UnsafeMutablePointer<lrd_entry>?
      if lrd_shortway_try(core, lane, shard, entry, hash, &freed) {
        if let freed { destroy(freed, lane.unsafelyUnwrapped) }
        return .inserted
      }
    } else {
      lrd_insertion_begin(core, lane, shard, hash)
    }
    return storeSlowly(entry, key, hash, shard, lane, replaced: replaced, with: steps)
  }

  /// Stores an entry that cannot go the short way. The shard is locked.
  @inlinable @inline(never)
  func storeSlowly(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64, _ shard: OpaquePointer,
    _ lane: OpaquePointer?, replaced: UnsafeMutablePointer<Value?>?,
    with steps: UnsafeMutablePointer<StoreSteps>?
  ) -> InsertionOutcome {
    var insertion = lrd_insertion()
    var entry = entry
    let result = storeInRounds(
      &entry, key, hash, shard, lane, &insertion, replaced: replaced, with: steps)
    if result != LRD_INSERTED && result != LRD_REPLACED {
      steps?.pointee.endLoan()
      discard(entry, lane)
    }
    if let replaced, result == LRD_OUT_OF_MEMORY || insertion.expired { drop(replaced) }
    finish(&insertion.garbage, lane, since: steps?.pointee.moment ?? 0)
    return InsertionOutcome(result)
  }

  /// Stores an entry in as many rounds as that takes, and copies the value of the entry it finds
  /// to `replaced`. The result is `LRD_AGAIN` if `steps` gave up: then nothing is stored. The
  /// shard is locked for the first round. The entry may have to move to another slot.
  @inlinable @inline(__always)
  func storeInRounds(
    _ entry: inout UnsafeMutablePointer<lrd_entry>, _ key: Key, _ hash: UInt64,
    _ shard: OpaquePointer, _ lane: OpaquePointer?, _ insertion: inout lrd_insertion,
    replaced: UnsafeMutablePointer<Value?>?, with steps: UnsafeMutablePointer<StoreSteps>?
  ) -> lrd_result {
    while true {
      if lrd_shard_is_flying_locked(shard) { outdateLocked(key, hash, shard, unless: steps) }
      let old = findLocked(key, hash, shard)
      if let replaced, let old, !lrd_entry_is_expired_locked(shard, old) {
        replaced.pointee = old.value(of: Layout.self).pointee
      }
      if let steps, !prepareLocked(entry, old, shard, lane, steps) {
        lrd_insertion_abandon(core, shard, &insertion)
        return LRD_AGAIN
      }
      let result = lrd_insertion_finish(core, lane, shard, &insertion, entry, old, hash)
      if result.rawValue < LRD_AGAIN.rawValue { return result }
      // Not under the lock: the copy that this round made may be the last reference.
      if let replaced, replaced.pointee != nil { drop(replaced) }
      if result == LRD_UNFIT && !refit(&entry, hash, steps) { return LRD_OUT_OF_MEMORY }
      lrd_insertion_begin(core, lane, shard, hash)
    }
  }
}
