// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// A core cache of one shard whose entries expire by a clock that is moved by hand, and the lane of
/// the thread that made it.
struct TimedCore {
  typealias Entry = UnsafeMutablePointer<lrd_entry>

  static let second: UInt64 = 1_000_000_000

  let clock = lrd_manual_clock_create()!
  let cache: OpaquePointer
  let lane: OpaquePointer
  var shard: OpaquePointer { lrd_cache_shard_at(cache, 0) }

  /// Lifetimes in seconds; `nil` for none. Not `timed`: entries cannot expire yet.
  init(
    timed: Bool = true, afterWrite: UInt64? = nil, afterAccess: UInt64? = nil, jitter: Double = 0
  ) throws {
    let expiration = lrd_expiration(
      after_write: afterWrite.map { $0 * Self.second } ?? .max,
      after_access: afterAccess.map { $0 * Self.second } ?? .max, jitter: jitter)
    cache = try #require(lrdt_cache_create_timed(clock, timed, expiration))
    lane = try #require(lrd_lane_attach(cache))
  }

  func close() {
    lrd_cache_check(cache)
    lrd_cache_close(cache)
    lrd_manual_clock_release(clock)
  }

  func pass(seconds: UInt64) { lrd_manual_clock_advance(clock, seconds * Self.second) }

  var now: UInt64 { lrd_cache_now(cache) }

  /// A hash of the shard.
  static func hash(_ number: UInt64) -> UInt64 { (number + 1) << 16 }

  /// Stores a described entry the long way.
  func publish(_ entry: Entry, _ hash: UInt64) -> lrd_result {
    var insertion = lrd_insertion()
    while true {
      lrd_insertion_begin(cache, lane, shard, hash)
      let result = lrd_insertion_finish(cache, lane, shard, &insertion, entry, nil, hash)
      if result != LRD_AGAIN { return result }
    }
  }

  /// Stores an entry that goes by the rule, or lives for some seconds.
  func insert(_ number: UInt64, lifetime: UInt64? = nil) -> Entry {
    let hash = Self.hash(number)
    let entry =
      lifetime == nil ? lrd_slot_take(cache, lane, 0)! : lrd_slot_take_timed(cache, lane, 0)!
    if let lifetime {
      lrd_entry_describe_timed(entry, hash, 0, lifetime * Self.second)
    } else {
      lrd_entry_describe(entry, hash, 0)
    }
    precondition(publish(entry, hash) == LRD_INSERTED)
    return entry
  }

  /// What is left of an entry's lifetime, in seconds.
  func left(_ entry: Entry) -> Double {
    lrd_shard_enter(cache, nil, shard)
    defer { lrd_shard_leave(cache, shard) }
    return Double(lrd_entry_remaining_locked(cache, entry)) / Double(Self.second)
  }

  /// What is left of the lifetime that an entry was given; `nil` if it was given none.
  func leftOfOwn(_ entry: Entry) -> Double? {
    lrd_shard_enter(cache, nil, shard)
    defer { lrd_shard_leave(cache, shard) }
    var deadline: UInt64 = 0
    guard lrd_entry_own_deadline_locked(cache, entry, &deadline) else { return nil }
    return Double(deadline << LRD_TICK_SHIFT - lrd_cache_now(cache)) / Double(Self.second)
  }

  func setLifetime(_ entry: Entry, seconds: UInt64) {
    lrd_shard_enter(cache, nil, shard)
    defer { lrd_shard_leave(cache, shard) }
    var asks = false
    lrd_entry_set_lifetime_locked(cache, shard, entry, seconds * Self.second, &asks)
  }
}
