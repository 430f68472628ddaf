// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// Entries that are stored again with the times that they had.
@Suite("Entries with the times of earlier ones")
struct RestoredEntryTests {
  private static let second = TimedCore.second

  @Test("Its lifetime is the former one, and to be stored is a use, whenever its slot was taken")
  func slotWithoutRoom() throws {
    let core = try TimedCore(afterWrite: 1_000)
    defer { core.close() }
    let hash = TimedCore.hash(1)
    let narrow = lrd_slot_take_timed(core.cache, core.lane, 0)!
    // The cache is given an idle time only now: the slot has no room for two deadlines.
    #expect(lrd_cache_retrofit(core.cache, true))
    let rule = lrd_expiration(
      after_write: 1_000 * Self.second, after_access: 100 * Self.second, jitter: 0)
    #expect(lrd_cache_set_expiration(core.cache, rule, UInt32(LRD_WHOLE_RULE)))
    let former = core.insert(0, lifetime: 500)
    core.pass(seconds: 50)
    lrd_entry_describe_as(core.cache, narrow, hash, 0, lrd_entry_timing(core.cache, former))
    #expect(core.publish(narrow, hash) == LRD_UNFIT)
    let entry = lrd_slot_take_timed(core.cache, nil, 0)!
    lrd_entry_describe_again(entry, narrow, hash)
    lrd_slot_give(core.cache, nil, narrow)
    #expect(core.publish(entry, hash) == LRD_INSERTED)
    #expect(abs(try #require(core.leftOfOwn(entry)) - 450) < 0.001)
    #expect(abs(core.left(entry) - 100) < 0.001)
    for _ in 0..<8 {
      core.pass(seconds: 50)
      #expect(lrdt_use_at(core.cache, core.lane, entry, core.now))
    }
    core.pass(seconds: 50)
    #expect(!lrdt_use_at(core.cache, core.lane, entry, core.now))
  }
}
