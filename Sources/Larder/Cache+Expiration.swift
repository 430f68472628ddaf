// SPDX-License-Identifier: Apache-2.0
import CLarder

extension Cache {
  /// When entries expire. A new value holds for what is stored already, too: it counts from when
  /// that was stored and last used. Entries that were given a lifetime of their own keep it.
  ///
  /// When the setter returns, no call of its thread finds what has expired by the new value, and
  /// two milliseconds later nobody does. The cache forgets the evicted objects of
  /// ``Options/secondChances``.
  ///
  /// Uses are noted as long as there is an ``Expiration/afterAccess``. When there is none, and one
  /// is set, what is stored counts as used then. So does, under any new value, what would have
  /// expired by its writing before its idle time was over. If the cache was created without
  /// anything about time, what is there when it is first given a lifetime counts as stored then,
  /// too.
  ///
  /// Not every use is noted: see ``Expiration/afterAccess``. So a shorter idle time may expire what
  /// was used a 64th of the former one ago, or with ``Expiration/jitter`` that part of it more, a
  /// quarter at most.
  ///
  /// A negative lifetime reads as zero, and one of more than 100 years as `nil`.
  ///
  /// The setter makes room in the entries if they have none for this, see
  /// <doc:Expiring#What-it-costs>, and traps if there is no memory for that.
  ///
  /// - Complexity: Getting is O(1). Setting is O(*n*), and locks a shard for some 64 entries at a
  ///   time.
  public var expiration: Expiration {
    get { Expiration(core: lrd_cache_expiration(core)) }
    set {
      if newValue != expiration || lrd_cache_is_torn(core) {
        setExpiration(newValue, LRD_WHOLE_RULE)
      }
    }
  }

  /// Sets ``Expiration/afterWrite`` of ``expiration``, whatever another thread does to the rest.
  package func setExpiration(afterWrite lifetime: Duration?) {
    let new = Expiration(afterWrite: lifetime)
    if new.afterWrite != expiration.afterWrite || lrd_cache_is_torn(core) {
      setExpiration(new, LRD_AFTER_WRITE)
    }
  }

  /// The same for ``Expiration/afterAccess``.
  package func setExpiration(afterAccess lifetime: Duration?) {
    let new = Expiration(afterAccess: lifetime)
    if new.afterAccess != expiration.afterAccess || lrd_cache_is_torn(core) {
      setExpiration(new, LRD_AFTER_ACCESS)
    }
  }

  private func setExpiration(_ new: Expiration, _ parts: Int) {
    extras?.secondChance?.willWriteAll()
    defer { extras?.secondChance?.didWriteAll() }
    require(
      makeRoomForDeadlines(byUse: new.core.after_access != .max)
        && lrd_cache_set_expiration(core, new.core, UInt32(parts)), "no memory for lifetimes")
  }

  /// Returns how long the value stored for `key` has to live if it is not used meanwhile; `nil` if
  /// there is none, or if it never expires. ``contains(_:)`` tells which, but for two milliseconds
  /// after a deadline (<doc:Expiring#How-exact-it-is>). Does not count as a use.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - isUsed: Asks how long it lives if it is used all the time, so that
  ///     ``Expiration/afterAccess`` does not end it. A copy of the value that is stored elsewhere
  ///     with this lifetime expires with it.
  /// - Complexity: O(1) on average. Locks one shard.
  public func remainingLifetime(forKey key: Key, ifUsed isUsed: Bool = false) -> Duration? {
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, nil, shard)
    defer { lrd_shard_leave(core, shard) }
    guard let entry = findLivingLocked(key, hash, shard) else { return nil }
    return Duration(
      lifetime: isUsed
        ? lrd_entry_remaining_used_locked(core, entry) : lrd_entry_remaining_locked(core, entry))
  }

  /// Gives the value stored for `key` a lifetime of its own, counted from now, whatever it had
  /// before. Returns whether there is a value. Begins the time of ``Expiration/afterAccess`` anew,
  /// and does not count as a use otherwise.
  ///
  /// The first lifetime that a cache is given may take long, see <doc:Expiring#What-it-costs>. If
  /// there is no memory for it, the value is removed.
  ///
  /// - Parameters:
  ///   - lifetime: How long the value is to live from now on, unless ``Expiration/afterAccess``
  ///     ends it earlier. If it is zero or less, the value expires before the call returns. More
  ///     than 100 years never end.
  ///   - key: The key of the value.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(1) on average. Locks one shard.
  @discardableResult
  public func setLifetime(
    _ lifetime: Duration, forKey key: Key, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    guard makeRoomForDeadlines() else { return removeValue(forKey: key) != nil }
    let hash = hasher.hash(key)
    let shard = lrd_cache_shard(core, hash)
    let lifetime = lifetime.lifetime
    if lifetime == 0 {
      // What has expired goes as well: a thread whose clock is late would find it.
      var wasThere = false
      removeEntry(in: shard, because: LRD_REMOVED_EXPIRED) { shard in
        let entry = findLocked(key, hash, shard)
        wasThere = entry.map { !lrd_entry_is_expired_locked(shard, $0) } ?? false
        return entry
      }
      return wasThere
    }
    var asks = false
    lrd_shard_enter(core, nil, shard)
    let entry = findLivingLocked(key, hash, shard)
    if let entry { lrd_entry_set_lifetime_locked(core, shard, entry, lifetime, &asks) }
    lrd_shard_leave(core, shard)
    if asks { lrd_cache_ask(core) }
    return entry != nil
  }

  /// Removes all entries that have expired, and returns how many there were.
  ///
  /// No call finds what expired more than 10 ms ago, so nobody needs this. It frees memory, brings
  /// ``count`` and ``totalCost`` up to date, and tells the observer, all of which would happen by
  /// itself within a second. What expires while it runs may stay.
  ///
  /// - Complexity: O(1) for each entry removed, and for each that expires within the same
  ///   millisecond. Locks one shard at a time, for some entries each.
  @discardableResult
  public func removeExpired() -> Int { expire(until: { false }) }

  /// Evicts the entries that were stored longer than `age` ago, used or not. A replacement counts
  /// as newly stored, and so does a change in place. Some entries may stay for 8 µs longer.
  ///
  /// Of an entry that was given a lifetime of its own the age is known to a fiftieth of that only,
  /// and it counts from the latest call of `setLifetime`. A cache that was created without anything
  /// about time knows when its entries were stored only from its first lifetime on, or the first
  /// call of this member: what was there then counts as stored then. The observer receives
  /// ``RemovalCause/trimmed``, or ``RemovalCause/expired`` for what has expired: that may be there
  /// for a moment, and longer with `staleIfError` of a ``LoadingCache``.
  ///
  /// - Parameters:
  ///   - age: The greatest age to keep. Must not be negative.
  ///   - file: The file of the call, for the message of a trap.
  ///   - line: The line of the call, for the message of a trap.
  /// - Complexity: O(*n*). Locks a shard for some 64 entries at a time.
  public func trim(toAge age: Duration, file: StaticString = #fileID, line: UInt = #line) {
    require(age >= .zero, "age must not be negative", file: file, line: line)
    guard makeRoomForDeadlines() else { return }
    let core = core
    let most = age.nanoseconds
    var walk = Walk(self)
    while !walk.isDone {
      walk.visitSlice(expired: nil) {
        let shard = lrd_cache_shard(core, lrd_entry_hash48($0))
        if lrd_entry_age_locked(core, shard, $0) <= most { return nil }
        return lrd_entry_is_expired_locked(shard, $0) ? LRD_REMOVED_EXPIRED : LRD_REMOVED_TRIM
      }
    }
  }

  /// Removes entries that have expired, some at a time, until `isEnough` or none is left. Returns
  /// how many it removed.
  @discardableResult
  func expire(until isEnough: () -> Bool) -> Int {
    guard lrd_cache_is_timed(core) else { return 0 }
    let lane = lrd_lane_attach(core)
    var clearance = lrd_clearance_begin(core)
    var isDone = false
    while !isDone && !isEnough() {
      var garbage = lrd_garbage()
      isDone = lrd_clearance_go_on(&clearance, core, lane, &garbage)
      finish(&garbage, lane)
    }
    return Int(clearance.removed)
  }

  /// Sees to it that nobody is given an expired value of a key any more: neither as a stale one,
  /// nor a thread whose clock is two milliseconds late.
  func forgetExpired(_ key: Key) {
    guard lrd_cache_is_timed(core) else { return }
    let hash = hasher.hash(key)
    removeEntry(in: lrd_cache_shard(core, hash), because: LRD_REMOVED_EXPIRED) { shard in
      guard let entry = findLocked(key, hash, shard),
        lrd_entry_is_expired_locked(shard, entry)
      else { return nil }
      return entry
    }
  }

  /// The same for all keys.
  func forgetAllExpired() {
    guard lrd_cache_is_timed(core) else { return }
    guard lrd_cache_has_grace(core) else {
      expire { false }
      return
    }
    var walk = Walk(self)
    while !walk.isDone { walk.visitSlice(expired: true) { _ in LRD_REMOVED_EXPIRED } }
  }

  /// Sees to it that no feature takes a living entry for want of room while one has expired.
  func expireFirst(for key: Key, _ cost: Int, with extras: Extras<Key, Value>) {
    guard lrd_cache_is_timed(core) else { return }
    if extras.watermarks != nil || extras.shouldEvict != nil { expire { hasRoom(cost: cost) } }
    if let groups = extras.groups { expire { !groups.isFull(key) } }
  }

  /// Whether a value of this lifetime is refused whenever it comes, so that it needs no room.
  func refuses(_ lifetime: OwnLifetime?) -> Bool {
    guard lrd_cache_is_timed(core) else { return false }
    let rule = lrd_cache_expiration(core)
    if rule.after_access == 0 { return true }
    return switch lifetime {
    case .lasting(let time): time == 0
    case .until: false
    case nil: rule.after_write == 0
    }
  }
}
