// SPDX-License-Identifier: Apache-2.0
import CLarder

/// How a key is changed in one step although the code that does it runs without a lock: what is
/// stored in the end is stored only in place of what was found.
///
/// The entry that was found is on loan meanwhile. Its slot is not used again, so its address tells
/// it from every later entry. A thread that has no loan left keeps a copy of the value instead, and
/// compares the bytes of the value as well. What a value of a Swift type refers to lives as long as
/// the copy does, so a later value with the same bytes is the same one. To put the new value in the
/// place of that is as right as in the place of the first.
extension Cache {
  private struct Found {
    let entry: StoredEntry?
    var value: Value?
    let hash: UInt64
    let kept: Kept
    /// The lane that has the entry on loan.
    let lane: OpaquePointer?
    /// The bytes of the value if no loan was left.
    let bytes: [UInt8]?
  }

  /// Lets `body` change the value of a key, as often as it takes until nobody interferes. The
  /// outcome is `nil` if no value is left. `removes`: to leave none where there was none is a
  /// removal, too, which loads under way must not undo.
  func change<Result, Failure: Error>(
    _ key: Key, cost: (Value) -> Int?, removes: Bool = false, for place: Place,
    _ body: (inout Value?) throws(Failure) -> Result
  ) throws(Failure) -> (result: Result, outcome: InsertionOutcome?) {
    // The runs that `body` itself has spoiled since the last one that found an entry and was not.
    var spoiled = 0
    while true {
      var found = find(key)
      defer { letGo(&found) }
      // After the `defer`, so that the copy goes before the entry does.
      var value = found.bytes == nil ? found.value.take() : found.value
      var step = lrd_change()
      let result = try run(body, on: &value, of: found.entry, &step)
      if value != nil {
        let cost = cost(value!) ?? found.kept.cost
        // Moved: a value that is refused dies where the cache releases values, and no copy here.
        let outcome = store(value.take()!, key, cost, lifetime: found.kept.lifetime) { old in
          isStill(found, old)
        }
        if let outcome { return (result, outcome) }
      } else if (found.entry == nil && !removes) || remove(found, key) {
        return (result, nil)
      }
      if step.spoiled { spoiled += 1 } else if found.entry != nil { spoiled = 0 }
      require(
        spoiled < 1_000, "the closure must not write, each time, the key that it is to change",
        file: place.file, line: place.line)
    }
  }

  /// Runs `body`. Afterwards `step` says whether it has written the entry that was found.
  private func run<Result, Failure: Error>(
    _ body: (inout Value?) throws(Failure) -> Result, on value: inout Value?,
    of entry: StoredEntry?, _ step: inout lrd_change
  ) throws(Failure) -> Result {
    try withUnsafeMutablePointer(to: &step) { step throws(Failure) in
      lrd_change_begin(step, UnsafeRawPointer(core), entry)
      defer { lrd_change_end(step) }
      return try body(&value)
    }
  }

  /// The value of a key and what a change of it keeps, from one entry at one moment. Two lookups
  /// could find a value and then no entry: what had expired would be stored without its deadline.
  @usableFromInline @inline(never)
  func findToChange(_ key: Key, into value: inout Value?) -> Kept {
    let found = find(key, lends: false)
    value = found.value
    return found.kept
  }

  private func find(_ key: Key, lends: Bool = true) -> Found {
    let hash = hasher.hash(key)
    let lane = lrd_lane_attach(core)
    // Made here, since nothing is allocated under the lock.
    var bytes: [UInt8]?
    if lends && (lane == nil || lrd_loans_left(lane!) == 0) {
      bytes = Array(repeating: 0, count: MemoryLayout<Value>.size)
    }
    let shard = lrd_cache_shard(core, hash)
    lrd_shard_enter(core, lane, shard)
    defer { lrd_shard_leave(core, shard) }
    let entry = findLivingLocked(key, hash, shard)
    lrd_note_locked(core, lane, shard, entry, hash)
    let kept = entry.map { whatToKeep(of: $0) } ?? Kept()
    var isLent = false
    if let entry, bytes != nil {
      bytes!.withUnsafeMutableBytes { $0.copyMemory(from: Self.bytes(of: entry)) }
    } else if let entry, lends {
      isLent = lrd_lend_locked(lane, shard, entry)
    }
    return Found(
      entry: entry, value: entry?.value(of: Layout.self).pointee, hash: hash, kept: kept,
      lane: isLent ? lane : nil, bytes: bytes)
  }

  private static func bytes(of entry: StoredEntry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: entry.value(of: Layout.self), count: MemoryLayout<Value>.size)
  }

  private func letGo(_ found: inout Found) {
    if found.value != nil { drop(&found.value) }
    guard let entry = found.entry, let lane = found.lane else { return }
    lrd_loan_unpin(lane)
    lrd_loan_end(lane)
    lookAfter(entry, lrd_hash48(found.hash), lane)
  }

  /// Whether `entry` is what was found. The shard's lock is held.
  private func isStill(_ found: Found, _ entry: StoredEntry?) -> Bool {
    guard entry == found.entry else { return false }
    guard let entry else { return true }
    // A lifetime may have been set meanwhile. It changes the entry in place.
    return whatToKeep(of: entry) == found.kept
      && found.bytes.map { Self.bytes(of: entry).elementsEqual($0) } ?? true
  }

  /// Stores a value if `isWanted` says so of what is in its place; see `StoreSteps`. `nil` if not.
  /// `value` is evaluated once, where it is moved on: a closure cannot consume what it captures.
  func store(
    _ value: @autoclosure () -> Value, _ key: Key, _ cost: Int?, lifetime: OwnLifetime? = nil,
    outdates: Bool = true, loadTime: UInt64 = 0,
    if isWanted: (_ old: StoredEntry?) -> Bool
  ) -> InsertionOutcome? {
    withoutActuallyEscaping(isWanted) { isWanted in
      if let extras {
        return storeIfWanted(
          value(), key, cost, lifetime: lifetime, replaced: nil, with: extras,
          outdates: outdates, loadTime: loadTime, isWanted)
      }
      var steps = StoreSteps(
        moment: 0, ages: nil, refresh: nil, lends: false, outdates: outdates, isWanted: isWanted)
      let outcome =
        if let lifetime {
          storeTimed(value(), key, cost, lifetime, replaced: nil, with: &steps)
        } else {
          storeByRule(value(), key, cost, replaced: nil, with: &steps)
        }
      return steps.gaveUp ? nil : outcome
    }
  }

  /// Removes what was found, if it still is what the key has, and be it nothing. Returns whether it
  /// was.
  private func remove(_ found: Found, _ key: Key) -> Bool {
    _ = extras?.secondChance?.willWrite(key, found.hash)
    defer { extras?.secondChance?.didWrite(found.hash) }
    let lane = lrd_lane_attach(core)
    let shard = lrd_cache_shard(core, found.hash)
    lrd_shard_enter(core, lane, shard)
    if lrd_shard_is_flying_locked(shard) { outdateLocked(key, found.hash, shard) }
    let entry =
      found.entry == nil
      ? findLivingLocked(key, found.hash, shard) : findLocked(key, found.hash, shard)
    guard isStill(found, entry), let entry else {
      lrd_shard_leave(core, shard)
      return entry == nil && found.entry == nil
    }
    var garbage = lrd_garbage()
    lrd_removal_of_one(core, shard, &garbage, entry)
    finish(&garbage, lane)
    return true
  }
}
