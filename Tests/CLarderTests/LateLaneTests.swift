// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// The short way of an insertion, for a thread that read the time a while ago.
@Suite("Insertions by a thread that is late")
struct LateLaneTests {
  private static let second = TimedCore.second

  /// Stores an entry the short way. `nil` if it cannot be stored that way.
  private func insertShortly(_ core: TimedCore, _ number: UInt64) -> TimedCore.Entry? {
    let hash = TimedCore.hash(number)
    let entry = lrd_slot_take(core.cache, core.lane, 0)!
    lrd_entry_describe(entry, hash, 0)
    var freed: TimedCore.Entry?
    if lrd_shortway_try(core.cache, core.lane, core.shard, entry, hash, &freed) { return entry }
    var insertion = lrd_insertion()
    lrd_insertion_abandon(core.cache, core.shard, &insertion)
    lrd_slot_give(core.cache, core.lane, entry)
    return nil
  }

  @Test("A lifetime counts from the time of the thread, and the entry goes when it is over")
  func late() throws {
    let core = try TimedCore(afterWrite: 100)
    defer { core.close() }
    core.pass(seconds: 10)
    let other = core.insert(0)
    lrdt_lane_set_time(core.lane, core.now - Self.second / 500)
    let entry = try #require(insertShortly(core, 1))
    lrdt_lane_unset_time(core.lane)
    #expect(abs(core.left(entry) - 99.998) < 0.000_01)
    #expect(abs(core.left(other) - 100) < 0.000_01)
    lrd_cache_check(core.cache)
    core.pass(seconds: 101)
    var clearance = lrd_clearance_begin(core.cache)
    var isDone = false
    while !isDone {
      var garbage = lrd_garbage()
      isDone = lrd_clearance_go_on(&clearance, core.cache, nil, &garbage)
      lrd_garbage_finish(core.cache, &garbage, 0)
    }
    #expect(clearance.removed == 2)
  }

  @Test("A time that is older than it may be is read anew")
  func old() throws {
    let core = try TimedCore(afterWrite: 100)
    defer { core.close() }
    _ = core.insert(0)
    lrdt_lane_set_time(core.lane, core.now)
    core.pass(seconds: 50)
    lrdt_lane_unset_time(core.lane)
    let entry = try #require(insertShortly(core, 1))
    #expect(abs(core.left(entry) - 100) < 0.000_01)
  }

  @Test("A lifetime to which this would matter is counted the long way")
  func short() throws {
    let core = try TimedCore(afterWrite: 1)
    defer { core.close() }
    _ = core.insert(0)
    #expect(insertShortly(core, 1) == nil)
  }

  @Test("What is due by the time of the thread is removed first, the long way")
  func due() throws {
    let core = try TimedCore(afterWrite: 100)
    defer { core.close() }
    _ = core.insert(0)
    _ = core.insert(1, lifetime: 10)
    core.pass(seconds: 9)
    lrdt_lane_set_time(core.lane, core.now)
    #expect(insertShortly(core, 2) != nil)
    core.pass(seconds: 1)
    lrdt_lane_set_time(core.lane, core.now)
    #expect(insertShortly(core, 3) == nil)
    lrdt_lane_unset_time(core.lane)
  }
}
