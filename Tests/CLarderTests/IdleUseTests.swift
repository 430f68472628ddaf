// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// Hits that move an idle deadline while it is over, or while the rule changes.
@Suite("Uses of entries with an idle lifetime")
struct IdleUseTests {
  private static let second: UInt64 = 1_000_000_000
  private let clock = lrd_manual_clock_create()!
  private let cache: OpaquePointer
  private let lane: OpaquePointer
  private let entry: UnsafeMutablePointer<lrd_entry>

  /// A cache whose only entry lives for 100 seconds after its last use.
  init() throws {
    cache = try #require(lrdt_cache_create_idle(clock, 100 * Self.second))
    lane = try #require(lrd_lane_attach(cache))
    let hash: UInt64 = 1 << 16
    entry = lrd_slot_take(cache, lane, 0)!
    lrd_entry_describe(entry, hash, 0)
    var insertion = lrd_insertion()
    let shard = lrd_cache_shard(cache, hash)
    while true {
      lrd_insertion_begin(cache, lane, shard, hash)
      let result = lrd_insertion_finish(cache, lane, shard, &insertion, entry, nil, hash)
      if result == LRD_INSERTED { break }
      precondition(result == LRD_AGAIN)
    }
  }

  private func close() {
    lrd_cache_close(cache)
    lrd_manual_clock_release(clock)
  }

  private func pass(seconds: UInt64) { lrd_manual_clock_advance(clock, seconds * Self.second) }

  private var left: Double {
    let shard = lrd_cache_shard(cache, 1 << 16)
    lrd_shard_enter(cache, nil, shard)
    defer { lrd_shard_leave(cache, shard) }
    return Double(lrd_entry_remaining_locked(cache, entry)) / Double(Self.second)
  }

  @Test("A thread that takes it for earlier does not bring back what has expired")
  func comesBack() {
    defer { close() }
    pass(seconds: 50)
    #expect(lrdt_use_at(cache, lane, entry, 49 * Self.second))
    #expect(abs(left - 100) < 0.001)
    pass(seconds: 101)
    #expect(left == 0)
    #expect(!lrdt_use_at(cache, lane, entry, 149 * Self.second))
    #expect(left == 0)
  }

  @Test("A use while the rule changes goes by the rule of the entry, and counts")
  func ruleChanges() {
    defer { close() }
    pass(seconds: 50)
    lrdt_announce_idle(cache, 10 * Self.second)
    #expect(lrdt_use_at(cache, lane, entry, 50 * Self.second))
    #expect(abs(left - 100) < 0.001)
    let rule = lrd_expiration(after_write: .max, after_access: 10 * Self.second, jitter: 0)
    #expect(lrd_cache_set_expiration(cache, rule))
    #expect(abs(left - 10) < 0.001)
    pass(seconds: 8)
    #expect(lrdt_use_at(cache, lane, entry, 58 * Self.second))
    #expect(abs(left - 10) < 0.001)
  }
}
