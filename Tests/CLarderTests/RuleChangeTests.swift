// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Testing

/// A change of the cache's lifetimes that is under way.
@Suite("A change of the lifetimes, half done")
struct RuleChangeTests {
  private static func rule(afterWrite: UInt64?) -> lrd_expiration {
    lrd_expiration(
      after_write: afterWrite.map { $0 * TimedCore.second } ?? .max, after_access: .max, jitter: 0)
  }

  private static func age(_ core: TimedCore, _ entry: TimedCore.Entry) -> Double {
    lrd_shard_enter(core.cache, nil, core.shard)
    defer { lrd_shard_leave(core.cache, core.shard) }
    let age = lrd_entry_age_locked(core.cache, core.shard, entry)
    return Double(age) / Double(TimedCore.second)
  }

  @Test(
    "Entries that do not follow yet are as old as before",
    arguments: [100, 7_200, nil] as [UInt64?], [10, 100, 7_200, nil] as [UInt64?])
  func age(before: UInt64?, after: UInt64?) throws {
    let core = try TimedCore(afterWrite: before)
    defer { core.close() }
    core.pass(seconds: 10_000)
    let entry = core.insert(0)
    let own = core.insert(1, lifetime: 100)
    core.pass(seconds: 20)
    lrdt_begin_rule(core.cache, Self.rule(afterWrite: after))
    #expect(abs(Self.age(core, entry) - 20) < 0.01)
    #expect(abs(Self.age(core, own) - 20) < 2.1)
    // One that is stored meanwhile goes by the new rule.
    let new = core.insert(2)
    core.pass(seconds: 5)
    #expect(abs(Self.age(core, entry) - 25) < 0.01)
    #expect(abs(Self.age(core, new) - 5) < 0.01)
  }
}
