// SPDX-License-Identifier: Apache-2.0
public import CLarder

/// Lookups of caches that were given lifetimes after their creation, or that refresh values. The
/// inlined path finds no lane for such a cache and comes here, so that other caches pay nothing. A
/// cache created with an expiration stays on the inlined path (`lrd_use.h`).
extension Cache {
  /// ``value(forKey:)`` where the inlined path does not lead.
  @inlinable @inline(never)
  func valueSlowly(_ key: Key, _ hash: UInt64) -> Value? {
    guard let lane = lrd_lane_timed(core) else { return valueBySearch(key, hash) }
    guard let entry = find(hash, lane) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) else {
      lrd_loan_end(lane)
      return valueBySearch(key, hash)
    }
    return copyIfLiving(entry, hash, lane)
  }

  /// Copies the value of an entry just found, unless it has expired. Ends the entry's loan.
  @inlinable @inline(__always)
  func copyIfLiving(
    _ entry: UnsafeMutablePointer<lrd_entry>, _ hash: UInt64, _ lane: OpaquePointer,
    isTimed: Bool = true
  ) -> Value? {
    guard !isTimed || lrd_entry_prolong(core, lane, entry) else {
      lrd_loan_end(lane)
      lrd_miss(core, lane, hash)
      return nil
    }
    let value = entry.value(of: Layout.self).pointee
    lrd_hit(core, lane, entry, hash)
    lrd_loan_end(lane)
    return value
  }

  /// ``withValue(forKey:_:)`` where the inlined path does not lead.
  @inlinable @inline(never)
  func withValueSlowly<Result, Failure: Error>(
    _ key: Key, _ hash: UInt64, _ body: (Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let lane = lrd_lane_timed(core) else { return try withValueBySearch(key, hash, body) }
    guard let entry = find(hash, lane) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    guard matches(entry, key, hash, lane) && lrd_loan_pin(lane) else {
      lrd_loan_end(lane)
      return try withValueBySearch(key, hash, body)
    }
    defer {
      lrd_loan_unpin(lane)
      lrd_loan_end(lane)
    }
    guard lrd_entry_prolong(core, lane, entry) else {
      lrd_miss(core, lane, hash)
      return nil
    }
    lrd_hit(core, lane, entry, hash)
    return try body(entry.value(of: Layout.self).pointee)
  }

  /// The entry of `key` unless it has expired. The shard's lock is held.
  @inlinable
  func findLivingLocked(
    _ key: Key, _ hash: UInt64, _ shard: OpaquePointer
  ) -> UnsafeMutablePointer<lrd_entry>? {
    guard let entry = findLocked(key, hash, shard), !lrd_entry_is_expired_locked(shard, entry)
    else { return nil }
    return entry
  }
}
