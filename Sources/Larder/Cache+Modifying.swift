// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Changes the value of `key` in place, atomically: no change of another thread is lost.
  ///
  ///     counters.modifyValue(forKey: "visits", default: 0) { $0 += 1 }
  ///
  /// `body` runs without a lock, on a copy, and may use the cache. If the key's value is written or
  /// leaves meanwhile, `body` runs again on what is there then. So it should have no other effects.
  /// If it throws, nothing changes. Counts as a use of the entry, and as a hit or a miss.
  ///
  /// - Parameters:
  ///   - key: The key whose value to change.
  ///   - defaultValue: The value to begin with if there is none.
  ///   - cost: The cost of the changed value. Must not be negative. If `nil`, the cost function is
  ///     asked; without one the entry keeps its cost, and a new entry gets the default cost.
  ///   - body: Changes the value.
  /// - Returns: What became of the changed value, as ``insert(_:forKey:cost:)`` says it. On a
  ///   thread that is inside 32 loans, ``InsertionOutcome/outOfMemory``, and `body` did not run.
  /// - Complexity: That of a lookup and an insertion, for each time that `body` runs. Locks one
  ///   shard twice.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, default defaultValue: @autoclosure () -> Value, cost: Int? = nil,
    _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome {
    while true {
      if let outcome = try modifyOnce(key, cost, { defaultValue() }, body) { return outcome! }
    }
  }

  /// Changes the value of `key` in place, atomically. Returns `nil`, and does not call `body`, if
  /// there is none.
  ///
  /// Otherwise like ``modifyValue(forKey:default:cost:_:)``.
  @discardableResult
  public func modifyValue<Failure: Error>(
    forKey key: Key, cost: Int? = nil, _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome? {
    while true {
      if let outcome = try modifyOnce(key, cost, { nil }, body) { return outcome }
    }
  }

  /// One try, on the entry that there is now. That is on loan meanwhile, so it can be told from
  /// every later one. `nil` if another one is there when the changed value is to be stored;
  /// `.some(nil)` if there is nothing to change.
  private func modifyOnce<Failure: Error>(
    _ key: Key, _ givenCost: Int?, _ makeDefault: () -> Value?,
    _ body: (inout Value) throws(Failure) -> Void
  ) throws(Failure) -> InsertionOutcome?? {
    require(givenCost ?? 0 >= 0, "cost must not be negative")
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    guard let lane = lrd_lane_attach(core) else { return .some(.outOfMemory) }
    lrd_shard_enter(core, lane, shard)
    let entry = findLocked(key, hash, shard)
    if let entry, !lrd_lend_locked(lane, shard, entry) {
      lrd_shard_leave(core, shard)
      return .some(.outOfMemory)
    }
    lrd_note_locked(core, lane, shard, entry, hash)
    let kept = extras?.cost == nil ? entry.map { Int(clamping: lrd_entry_cost($0)) } : nil
    lrd_shard_leave(core, shard)
    defer {
      if let entry {
        lrd_loan_unpin(lane)
        lrd_loan_end(lane)
        lookAfter(entry, hash, lane)
      }
    }
    guard var value = entry?.value(of: Layout.self).pointee ?? makeDefault() else {
      return .some(nil)
    }
    try body(&value)
    let isSame = { (old: StoredEntry?, tookOut: Bool) in old == entry || (old == nil && tookOut) }
    let outcome = store(consume value, key, givenCost ?? kept, ifStill: isSame)
    return outcome.map { .some($0) }
  }

  private func store(
    _ value: consuming Value, _ key: Key, _ cost: Int?,
    ifStill isSame: (StoredEntry?, Bool) -> Bool
  ) -> InsertionOutcome? {
    withoutActuallyEscaping(isSame) { isSame in
      if let extras {
        return storeIfWanted(copy value, key, cost, replaced: nil, with: extras, isSame)
      }
      var storage = Storage(moment: 0, ages: nil, lends: false, isWanted: isSame)
      let outcome = storePlainly(copy value, key, cost, replaced: nil, with: &storage)
      return storage.gaveUp ? nil : outcome
    }
  }

  /// The cost that a change in place by the subscript keeps; `nil` if the cost function decides.
  @usableFromInline @inline(never)
  func costToKeep(_ key: Key) -> Int? {
    if extras?.cost != nil { return nil }
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    defer { lrd_shard_leave(core, shard) }
    return findLocked(key, hash, shard).map { Int(clamping: lrd_entry_cost($0)) }
  }
}
