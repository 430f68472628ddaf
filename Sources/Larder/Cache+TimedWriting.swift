// SPDX-License-Identifier: Apache-2.0
public import CLarder

extension Cache {
  /// Stores `value` for `key`, replacing any earlier value, with a lifetime of its own.
  ///
  ///     tokens.insert(token, forKey: id, expiresAfter: .seconds(token.secondsLeft))
  ///
  /// The first lifetime that a cache is given takes long if it holds much already and was created
  /// without anything about time; see <doc:Expiring#What-it-costs>.
  ///
  /// Otherwise like ``insert(_:forKey:cost:file:line:)``.
  ///
  /// - Parameters:
  ///   - value: The value to keep.
  ///   - key: The key to keep it under.
  ///   - cost: The entry's share of ``totalCostLimit``, in any unit. Must not be negative. If
  ///     `nil`, it is what ``insert(_:forKey:cost:file:line:)`` takes.
  ///   - lifetime: How long the value is to live, in place of the cache's
  ///     ``Expiration/afterWrite``; ``Expiration/afterAccess`` holds as well. If it is zero or
  ///     less, nothing is stored. More than 100 years never end. If `nil`, ``Options/lifetime`` is
  ///     asked, and without that the cache's own holds.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Returns: What became of the value.
  /// - Complexity: Like ``insert(_:forKey:cost:file:line:)``.
  @inlinable @discardableResult
  public func insert(
    _ value: consuming Value, forKey key: Key, cost: Int? = nil, expiresAfter lifetime: Duration?,
    file: StaticString = #fileID, line: UInt = #line
  ) -> InsertionOutcome {
    require(cost ?? 0 >= 0, "cost must not be negative", file: file, line: line)
    guard let lifetime else { return store(consume value, key, cost, replaced: nil) }
    guard makeRoomForDeadlines() else {
      refuse(consume value)
      return .outOfMemory
    }
    return store(consume value, key, cost, lifetime: .lasting(lifetime.lifetime), replaced: nil)
  }

  /// ``insert(_:forKey:cost:expiresAfter:file:line:)``, which also hands out the value that was
  /// replaced, or removed because the new one was refused.
  package func insert(
    _ value: consuming Value, forKey key: Key, cost: Int, expiresAfter lifetime: Duration,
    replaced: inout Value?
  ) -> InsertionOutcome {
    guard makeRoomForDeadlines() else {
      refuse(consume value)
      return .outOfMemory
    }
    return store(
      consume value, key, cost, lifetime: .lasting(lifetime.lifetime), replaced: &replaced)
  }

  /// Sees to it that entries can expire, by their last use as well if `byUse`, those that are
  /// stored and those to come. False without memory.
  @usableFromInline
  func makeRoomForDeadlines(byUse: Bool = false) -> Bool {
    lrd_cache_retrofit(core, byUse)
  }

  /// Moves an entry that is not published yet into a slot that has room for deadlines. False
  /// without memory. No lock is held.
  @usableFromInline @inline(never)
  func refit(
    _ entry: inout UnsafeMutablePointer<lrd_entry>, _ hash: UInt64,
    _ steps: UnsafeMutablePointer<StoreSteps>?
  ) -> Bool {
    steps?.pointee.endLoan()
    guard let moved = lrd_slot_take_timed(core, nil, lrd_entry_cost(entry)) else { return false }
    moved.key(of: Layout.self).moveInitialize(from: entry.key(of: Layout.self), count: 1)
    moved.value(of: Layout.self).moveInitialize(from: entry.value(of: Layout.self), count: 1)
    lrd_entry_describe_again(moved, entry, hash)
    // Not to the lane, which would hand it out for the next one.
    lrd_slot_give(core, nil, entry)
    entry = moved
    return true
  }

  /// Stores an entry with a lifetime of its own.
  @inlinable @discardableResult
  func store(
    _ value: consuming Value, _ key: Key, _ cost: Int?, lifetime: OwnLifetime,
    replaced: UnsafeMutablePointer<Value?>?
  ) -> InsertionOutcome {
    if let extras {
      return store(consume value, key, cost, lifetime: lifetime, replaced: replaced, with: extras)
    }
    return storeTimed(consume value, key, cost, lifetime, replaced: replaced, with: nil)
  }

  /// ``storeByRule(_:_:_:replaced:with:)`` of an entry with a lifetime of its own.
  @inlinable @inline(never)
  func storeTimed(
    _ value: consuming Value, _ key: Key, _ cost: Int?, _ lifetime: OwnLifetime,
    replaced: UnsafeMutablePointer<Value?>?, with steps: UnsafeMutablePointer<StoreSteps>?
  ) -> InsertionOutcome {
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_prefetch(shard, hash, Layout.referencesFollowed)
    let lane = lrd_lane_current(core) ?? lrd_lane_timed(core) ?? lrd_lane_attach(core)
    let cost = cost.map(UInt64.init) ?? lrd_cache_default_cost(core)
    guard let entry = lrd_slot_take_timed(core, lane, cost) else {
      refuse(consume value)
      return .outOfMemory
    }
    entry.key(of: Layout.self).initialize(to: key)
    entry.value(of: Layout.self).initialize(to: consume value)
    switch lifetime {
    case .lasting(let nanoseconds): lrd_entry_describe_timed(entry, hash, cost, nanoseconds)
    case .until(let deadline): lrd_entry_describe_until(entry, hash, cost, deadline)
    }
    lrd_insertion_begin(core, lane, shard, hash)
    return storeSlowly(entry, key, hash, shard, lane, replaced: replaced, with: steps)
  }

  /// ``store(_:_:_:lifetime:replaced:)`` for caches with optional features.
  @usableFromInline @inline(never)
  func store(
    _ value: consuming Value, _ key: Key, _ cost: Int?, lifetime: OwnLifetime,
    replaced: UnsafeMutablePointer<Value?>?, with extras: Extras<Key, Value>
  ) -> InsertionOutcome {
    storeIfWanted(
      consume value, key, cost, lifetime: lifetime, replaced: replaced, with: extras)!
  }
}
