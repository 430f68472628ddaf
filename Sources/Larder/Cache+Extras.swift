// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// ``store(_:_:_:replaced:)`` for caches with optional features.
  @usableFromInline @inline(never)
  func store(
    _ value: consuming Value, _ key: Key, _ givenCost: Int?,
    replaced: UnsafeMutablePointer<Value?>?, with extras: Extras<Key, Value>
  ) -> InsertionOutcome {
    storeIfWanted(consume value, key, givenCost, replaced: replaced, with: extras)!
  }

  /// The same, or `nil` if `isWanted` says under the shard's lock that the value is not wanted.
  /// `givenLifetime`: one of the entry's own, or the deadline of the entry that it takes the place
  /// of, which holds unless the function of lifetimes names one.
  func storeIfWanted(
    _ value: consuming Value, _ key: Key, _ givenCost: Int?,
    lifetime givenLifetime: OwnLifetime? = nil, replaced: UnsafeMutablePointer<Value?>?,
    with extras: Extras<Key, Value>, outdates: Bool = true, loadTime: UInt64 = 0,
    _ isWanted: ((_ old: StoredEntry?) -> Bool)? = nil
  ) -> InsertionOutcome? {
    let cost = givenCost ?? extras.cost?(key, value) ?? Int(lrd_cache_default_cost(core))
    // Only the function can have returned a negative one: the callers have looked at the others.
    require(
      cost >= 0, "the cost function must not return a negative cost",
      file: extras.place.file, line: extras.place.line)
    let lifetime: OwnLifetime?
    if case .lasting = givenLifetime {
      lifetime = givenLifetime
    } else {
      let computed = extras.lifetime?(key, value)?.lifetime
      lifetime = computed.map { .lasting($0) } ?? givenLifetime
    }
    let hash = hasher.hash(key)
    prepare(for: key, cost, isRefused: refuses(lifetime), with: extras)
    var copy: Value?
    let isShown = extras.onInsertion != nil
    var steps = StoreSteps(
      moment: extras.secondChance?.willWrite(key, hash) ?? 0, ages: extras.ages,
      refresh: extras.refresh, loadTime: loadTime, lends: isShown && canLend, outdates: outdates,
      isWanted: isWanted)
    if isShown && !steps.lends { copy = copy value }
    extras.groups?.willStore(key)
    let outcome =
      if let lifetime {
        storeTimed(consume value, key, cost, lifetime, replaced: replaced, with: &steps)
      } else {
        storeByRule(consume value, key, cost, replaced: replaced, with: &steps)
      }
    extras.secondChance?.didWrite(hash)
    guard outcome.isStored else {
      extras.groups?.didNotStore(key)
      if copy != nil { drop(&copy) }
      return steps.gaveUp ? nil : outcome
    }
    didStore(key, hash, with: extras)
    if let onInsertion = extras.onInsertion {
      if let lent = steps.lent {
        onInsertion(key, lent.entry.value(of: Layout.self).pointee, cost)
      } else {
        onInsertion(key, copy!, cost)
      }
      endLending(&steps)
    }
    if copy != nil { drop(&copy) }
    evictSurplus(of: key, with: extras)
    return outcome
  }

  /// What comes before a value is stored: what has expired leaves first, and where there is no room
  /// a purge begins, or `shouldEvict` is asked. A replacement needs no room, or not much, and a
  /// value that is refused needs none.
  func prepare(
    for key: Key, _ cost: Int, isRefused: @autoclosure () -> Bool = false,
    with extras: Extras<Key, Value>
  ) {
    expireFirst(for: key, cost, with: extras)
    guard extras.watermarks != nil || extras.shouldEvict != nil else { return }
    if hasRoom(cost: cost) || holds(key, hasher.hash(key)) || isRefused() { return }
    extras.watermarks?.beginPurge()
    if let shouldEvict = extras.shouldEvict { makeRoom(cost, asking: shouldEvict) }
  }

  /// What a stored value entails before the observer is told.
  func didStore(_ key: Key, _ hash: UInt64, with extras: Extras<Key, Value>) {
    extras.evictions?.forget(hash)
    extras.groups?.stored(key)
  }

  /// What leaves for a stored value, by a quota or a purge. Chosen once the observer has been told:
  /// the value may leave, too, and the observer may have stored others.
  func evictSurplus(of key: Key, with extras: Extras<Key, Value>) {
    while let surplus = extras.groups?.overflow(in: key) { evict(surplus) }
    extras.watermarks?.didInsert(into: self)
  }

  /// ``removePlainly(_:into:)`` for caches with optional features.
  @usableFromInline @inline(never)
  func remove(
    _ key: Key, into value: UnsafeMutablePointer<Value?>?, with extras: Extras<Key, Value>
  ) {
    let hash = hasher.hash(key)
    _ = extras.secondChance?.willWrite(key, hash)
    removePlainly(key, into: value)
    extras.secondChance?.didWrite(hash)
  }

  /// Evicts the entry of `key`, if there is one, as if its room were needed.
  func evict(_ key: Key) {
    let hash = hasher.hash(key)
    removeEntry(in: lrd_cache_shard(core, hash), because: LRD_REMOVED_LIMIT) {
      findLocked(key, hash, $0)
    }
  }

  /// Removes the entry that `find` finds under the shard's lock. Returns whether it found one.
  @discardableResult
  func removeEntry(
    in shard: OpaquePointer, because reason: lrd_entry_state,
    _ find: (OpaquePointer) -> StoredEntry?
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

  /// Hands over the values that are due after a change, where the cache releases values elsewhere.
  /// Otherwise like the loop in ``finish(_:_:since:)``.
  @usableFromInline @inline(never)
  func handOver(_ garbage: inout lrd_garbage, _ lane: OpaquePointer?) {
    guard let releaser = extras?.releaser else { return }
    var batch: ReleaseBatch<Value>?
    while let entry = lrd_garbage_next(core, lane, &garbage) {
      releaser.add(entry.value(of: Layout.self).move(), to: &batch)
      entry.key(of: Layout.self).deinitialize(count: 1)
      lrd_slot_give(core, lane, entry)
      // Hand the batch over before the loop ends. Values released here and now then count as
      // destroyed by this loop, so the bound on nested destructions holds.
      if lrd_garbage_is_out(&garbage), let last = batch.take() { releaser.hand(last) }
    }
  }

  /// Whether one more entry of cost `cost` fits. An entry that will be refused needs no room.
  func hasRoom(cost: Int) -> Bool {
    let (countLimit, costLimit) = (effectiveCountLimit, effectiveTotalCostLimit)
    if costLimit != 0 && cost > costLimit { return true }
    return (countLimit == 0 || count < countLimit)
      && (costLimit == 0 || totalCost <= costLimit - cost)
  }
}
