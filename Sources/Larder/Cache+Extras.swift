// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// ``store(_:_:_:replaced:)`` for caches with extras.
  @usableFromInline @inline(never)
  func store(
    _ value: consuming Value, _ key: Key, _ givenCost: Int?,
    replaced: UnsafeMutablePointer<Value?>?, with extras: Extras<Key, Value>
  ) -> InsertionOutcome {
    let cost = givenCost ?? extras.cost?(key, value) ?? Int(lrd_cache_default_cost(core))
    require(cost >= 0, "cost must not be negative")
    let hash = hasher.hash(key)
    extras.watermarks?.willInsert(key, into: self, cost: cost)
    if let shouldEvict = extras.shouldEvict { makeRoom(for: key, cost, asking: shouldEvict) }
    var copy: Value?
    let isShown = extras.onInsertion != nil
    var storage = Storage(
      moment: extras.secondChance?.willWrite(key, hash) ?? 0, ages: extras.ages,
      lends: isShown && canLend)
    if isShown && !storage.lends { copy = copy value }
    extras.groups?.willStore(key)
    let outcome = storePlainly(consume value, key, cost, replaced: replaced, with: &storage)
    extras.secondChance?.didWrite(hash)
    if outcome.isStored {
      didStore(key, hash, with: extras)
    } else {
      extras.groups?.didNotStore(key)
    }
    if outcome.isStored, let onInsertion = extras.onInsertion {
      if let lent = storage.lent {
        onInsertion(key, lent.entry.value(of: Layout.self).pointee, cost)
      } else {
        onInsertion(key, copy!, cost)
      }
      endLending(&storage)
    }
    if copy != nil { drop(&copy) }
    return outcome
  }

  /// What follows a value's storage, before the observer is told.
  func didStore(_ key: Key, _ hash: UInt64, with extras: Extras<Key, Value>) {
    extras.evictions?.forget(hash)
    if let groups = extras.groups {
      var surplus = groups.stored(key)
      while let key = surplus {
        evict(key)
        surplus = groups.overflow(in: key)
      }
    }
    extras.watermarks?.didInsert(into: self)
  }

  /// ``removePlainly(_:into:)`` for caches with extras.
  @usableFromInline @inline(never)
  func remove(
    _ key: Key, into value: UnsafeMutablePointer<Value?>?, with extras: Extras<Key, Value>
  ) {
    let hash = hasher.hash(key)
    _ = extras.secondChance?.willWrite(key, hash)
    removePlainly(key, into: value)
    extras.secondChance?.didWrite(hash)
  }

  /// Evicts the entry of `key`, if there is one, as if for want of room.
  func evict(_ key: Key) {
    let hash = hasher.hash(key)
    evict(lrd_cache_shard(core, hash), LRD_REMOVED_LIMIT) { findLocked(key, hash, $0) }
  }

  /// Evicts what `find` finds under the shard's lock; returns whether it found something.
  @discardableResult
  func evict(
    _ shard: OpaquePointer, _ reason: lrd_entry_state, _ find: (OpaquePointer) -> StoredEntry?
  ) -> Bool {
    let lane = lrd_lane_attach(core)
    let moment = extras?.secondChance?.moment() ?? 0
    lrd_shard_enter(core, lane, shard)
    guard let entry = find(shard) else {
      lrd_shard_leave(core, shard)
      return false
    }
    var removed = lrd_chain()
    lrd_removal_unlink_locked(core, shard, entry, UInt8(reason.rawValue), &removed)
    var garbage = lrd_garbage()
    lrd_removal_finish(core, shard, &garbage, &removed)
    finish(&garbage, lane, since: moment)
    return true
  }

  /// Destroys what is due after a change, as ``finish(_:_:since:)`` does, where values are released
  /// elsewhere.
  @usableFromInline @inline(never)
  func handOver(_ garbage: inout lrd_garbage, _ lane: OpaquePointer?) {
    guard let releaser = extras?.releaser else { return }
    var batch: ReleaseBatch<Value>?
    while let entry = lrd_garbage_next(core, lane, &garbage) {
      releaser.add(entry.value(of: Layout.self).move(), to: &batch)
      entry.key(of: Layout.self).deinitialize(count: 1)
      lrd_slot_give(core, lane, entry)
      // Before the loop ends: values released here and now count as destroyed by it, and the bound
      // on destructions inside each other holds.
      if lrd_garbage_is_out(&garbage), let last = batch.take() { releaser.hand(last) }
    }
  }

  /// Whether there is room for one more entry of cost `cost`. One that will be refused needs none.
  func hasRoom(cost: Int) -> Bool {
    let (countLimit, costLimit) = (countLimit, totalCostLimit)
    return (countLimit == 0 || count < countLimit)
      && (costLimit == 0 || cost > costLimit || totalCost <= costLimit - cost)
  }
}
