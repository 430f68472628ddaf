// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// Returns the value stored for `key`, or else one that was evicted and is still in use
  /// elsewhere.
  ///
  /// If ``value(forKey:)`` would miss, this call looks among the objects evicted most recently, to
  /// which the cache keeps weak references (``Options/secondChances``). If the object is alive, the
  /// call stores it again with its earlier cost and deadline and returns it. If there is neither,
  /// it returns `nil`.
  ///
  /// A value never comes back once it has expired, once it was replaced, once it was removed by
  /// name or by a `removeAll`, once a load that was not outdated has thrown ``NoValue`` for its key,
  /// or if it was evicted before any of these. The call may miss an evicted object that is alive if
  /// another thread wrote to the cache at the moment of its eviction.
  ///
  /// The call counts as a use, which begins an idle time anew, and as a hit or a miss of what was
  /// stored before. Without `secondChances` it is the same as ``value(forKey:)``.
  ///
  /// - Complexity: O(1) on average. A miss takes a lock, and an object that is found is inserted.
  public func survivingValue(forKey key: Key) -> Value? {
    if let value = value(forKey: key) { return value }
    guard let extras, let secondChance = extras.secondChance else { return nil }
    let hash = hasher.hash(key)
    guard var found = secondChance.find(key, hash) else { return nil }
    if found.isTimed && lrd_timing_is_expired(core, found.timing) {
      secondChance.forget(key, hash, found.record)
      drop(&found.value)
      return nil
    }
    prepare(for: key, found.cost, with: extras)
    return restore(&found, key, hash, with: extras)
  }

  /// Stores the object that was found and returns it, unless something was stored or written
  /// meanwhile. In that case the object may have lost its other references, so it goes where the
  /// cache releases values.
  private func restore(
    _ found: inout SecondChance<Key, Value>.Found, _ key: Key, _ hash: UInt64,
    with extras: Extras<Key, Value>
  ) -> Value? {
    let secondChance = extras.secondChance!
    let stamp = found.stamp
    let lane = lrd_lane_attach(core)
    let cost = UInt64(found.cost)
    let isTimed = found.isTimed
    guard
      var entry = isTimed
        ? lrd_slot_take_timed(core, lane, cost) : lrd_slot_take(core, lane, cost)
    else { return found.value }
    entry.key(of: Layout.self).initialize(to: key)
    entry.value(of: Layout.self).initialize(to: found.value!)
    if isTimed {
      lrd_entry_describe_as(core, entry, hash, cost, found.timing)
    } else {
      lrd_entry_describe(entry, hash, cost)
    }
    var steps = StoreSteps(
      moment: secondChance.moment(), ages: extras.ages, refresh: extras.refresh, lends: false,
      outdates: false, isWanted: { old in old == nil && secondChance.isCurrent(stamp, hash) })
    extras.groups?.willStore(key)
    var insertion = lrd_insertion()
    var newer: Value?
    let shard = lrd_cache_shard(core, hash)
    lrd_insertion_begin(core, lane, shard, hash)
    let result = storeInRounds(
      &entry, key, hash, shard, lane, &insertion, replaced: &newer,
      with: &steps)
    let isStored = InsertionOutcome(result).isStored
    if !isStored {
      extras.groups?.didNotStore(key)
      destroyPair(entry, lane)  // the caller holds the value as well
    }
    if isStored || result == LRD_EXPIRED { secondChance.forget(key, hash, found.record) }
    // Replaced or written meanwhile, or it has expired: then it does not come back.
    if result == LRD_AGAIN || result == LRD_EXPIRED { drop(&found.value) }
    finish(&insertion.garbage, lane, since: steps.moment)
    if isStored {
      didStore(key, hash, with: extras)
      extras.onInsertion?(key, found.value!, found.cost)
      evictSurplus(of: key, with: extras)
    }
    return result == LRD_AGAIN ? newer : found.value
  }

  /// The number of evicted objects remembered, including dead ones, for tests.
  package var secondChanceCount: Int { extras?.secondChance?.count ?? 0 }
}

extension Cache.Options where Value: AnyObject {
  /// How many evicted objects ``Cache/survivingValue(forKey:)`` can find again, the most recent
  /// ones; 0 for none.
  ///
  ///     let images = Cache<URL, Image>(countLimit: 100, options: .init(secondChances: 1_000))
  ///
  /// The cache keeps weak references only: 100 to 200 bytes and a key for each object. When an
  /// object dies, these bytes remain until later evictions or ``Cache/reclaim()`` sweep them away.
  /// With ``release``, they remain until as many later evictions as this number, or
  /// ``Cache/reclaim()``.
  ///
  /// The number is rounded up to a multiple of 16, and the cache takes 8 bytes for each when it is
  /// created. Must not be negative, nor above 2^31: the creation of the cache traps.
  ///
  /// - Complexity: Every insertion and removal takes two more locks, every eviction one more.
  public var secondChances: Int {
    get { secondChanceCount }
    set {
      secondChanceCount = newValue
      makeSecondChance = nil
      if newValue > 0 {
        makeSecondChance = { (releaser: Releaser<Value>?) -> SecondChance<Key, Value> in
          WeakSecondChance<Key, Value>(capacity: newValue, releaser: releaser)
        }
      }
    }
  }

  /// Creates options with ``secondChances``, which must not be negative, nor above 2^31. Those that
  /// are not given are off.
  public init(
    secondChances: Int, shards: Int? = nil, onRemoval: Cache.RemovalObserver? = nil,
    onInsertion: Cache.InsertionObserver? = nil, preferredCount: Int = 0,
    preferredTotalCost: Int = 0, release: ValueRelease<Value>? = nil,
    shouldEvict: (@Sendable (_ key: Key, _ value: Value) -> Bool)? = nil,
    groups: KeyGroups<Key>? = nil, rememberedEvictions: Int = 0, remembersAge: Bool = false,
    lifetime: (@Sendable (_ key: Key, _ value: Value) -> Duration?)? = nil,
    clock: CacheClock = .continuous, pressure: PressureResponse = .default
  ) {
    self.init(
      shards: shards, onRemoval: onRemoval, onInsertion: onInsertion,
      preferredCount: preferredCount, preferredTotalCost: preferredTotalCost, release: release,
      shouldEvict: shouldEvict, groups: groups, rememberedEvictions: rememberedEvictions,
      remembersAge: remembersAge, lifetime: lifetime, clock: clock, pressure: pressure)
    self.secondChances = secondChances
  }
}
