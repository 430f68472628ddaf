// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

/// Hits that move an idle deadline while it is over, or while it or the rule changes.
@Suite("Uses of entries with an idle lifetime")
struct IdleUseTests {
  private static let second = TimedCore.second

  @Test("A thread that takes it for earlier does not bring back what has expired")
  func comesBack() throws {
    let core = try TimedCore(afterAccess: 100)
    defer { core.close() }
    let entry = core.insert(0)
    core.pass(seconds: 50)
    #expect(lrdt_use_at(core.cache, core.lane, entry, 49 * Self.second))
    #expect(abs(core.left(entry) - 100) < 0.001)
    core.pass(seconds: 101)
    #expect(core.left(entry) == 0)
    #expect(!lrdt_use_at(core.cache, core.lane, entry, 149 * Self.second))
    #expect(core.left(entry) == 0)
  }

  @Test("A use while the rule changes goes by the rule of the entry, and counts")
  func ruleChanges() throws {
    let core = try TimedCore(afterAccess: 100)
    defer { core.close() }
    let entry = core.insert(0)
    core.pass(seconds: 50)
    lrdt_announce_idle(core.cache, 10 * Self.second)
    #expect(lrdt_use_at(core.cache, core.lane, entry, 50 * Self.second))
    #expect(abs(core.left(entry) - 100) < 0.001)
    let rule = lrd_expiration(after_write: .max, after_access: 10 * Self.second, jitter: 0)
    #expect(lrd_cache_set_expiration(core.cache, rule, UInt32(LRD_WHOLE_RULE)))
    #expect(abs(core.left(entry) - 10) < 0.001)
    core.pass(seconds: 8)
    #expect(lrdt_use_at(core.cache, core.lane, entry, 58 * Self.second))
    #expect(abs(core.left(entry) - 10) < 0.001)
  }

  @Test("After a fork amid a change of the rule, uses in the child go by the new one")
  func forked() async {
    await #expect(processExitsWith: .success) {
      let core = try TimedCore(afterAccess: 100)
      let rule = lrd_expiration(after_write: .max, after_access: 10 * Self.second, jitter: 0)
      lrdt_leave_rule(core.cache, rule)
      expectChildSuccess {
        let entry = core.insert(0)
        for _ in 0..<5 {
          core.pass(seconds: 8)
          precondition(lrdt_use_at(core.cache, core.lane, entry, core.now))
          precondition(abs(core.left(entry) - 10) < 0.001)
        }
        core.close()
      }
    }
  }

  // Not under sanitizers: it steps through single instructions, most of which would be theirs.

  /// `given` seconds at first, of which 20 pass. Then a use, and `later` seconds within it.
  @Test(
    "A lifetime given within a use is neither lengthened nor shortened by it",
    .enabled(if: lrdt_play_available()), arguments: [(110, 10), (110, 1_000), (1_000, 40)])
  func lifetimeGivenWithin(given: Int, later: Int) async {
    await #expect(processExitsWith: .success) { [given = given as Int, later = later as Int] in
      let core = try TimedCore(afterAccess: 100)
      let entry = core.insert(0)
      var stop: UInt64 = 1
      var stopped = true
      while stopped {
        core.setLifetime(entry, seconds: UInt64(given))
        core.pass(seconds: 20)
        stopped = lrdt_use_interrupted(
          core.cache, core.lane, entry, UInt64(later) * Self.second, stop)
        let expected = stopped ? min(100, later) : min(100, given - 20)
        precondition(abs(core.left(entry) - Double(expected)) < 0.001, "stop \(stop)")
        stop += 1
      }
      precondition(stop > 50)
      core.close()
    }
  }

  @Test("With jitter most uses store nothing, and what is used stays", arguments: [0.25, 1])
  func jitter(fraction: Double) throws {
    let core = try TimedCore(afterAccess: 100, jitter: fraction)
    defer { core.close() }
    let entries = (0..<64).map { core.insert($0) }.filter { core.left($0) > 20 }
    let lives = entries.map(core.left)
    #expect(entries.count > 40 && lives.allSatisfy { $0 >= 100 * (1 - fraction) && $0 <= 100 })
    func isShort(_ entry: TimedCore.Entry) -> Bool {
      lrdt_use_is_short_at(core.cache, core.lane, entry, core.now)
    }
    // Of the jitter a quarter counts: what lives for less than that looks closer.
    for (entry, life) in zip(entries, lives) { #expect(isShort(entry) == (life > 74)) }
    for _ in 0..<30 {
      core.pass(seconds: 10)
      for (entry, life) in zip(entries, lives) {
        #expect(lrdt_use_at(core.cache, core.lane, entry, core.now))
        #expect(core.left(entry) > min(life, 75) * 63 / 64 - 0.001 && core.left(entry) <= life)
      }
    }
  }
}
