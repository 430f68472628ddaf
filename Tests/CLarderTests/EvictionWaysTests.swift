// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// A cache without observers evicts on a short way, where a policy may choose and unlink in one. A
/// cache with an observer evicts on the long one, where it is asked for a victim first.
@Suite("Short and long way of an eviction")
struct EvictionWaysTests {
  private static let limit = 300

  private static func key(_ random: inout SplitMix64) -> Int {
    let range = Bool.random(using: &random) ? limit / 2 : 3 * limit
    return Int.random(in: 0..<range, using: &random)
  }

  /// `expert`: what the adaptive policy follows for good. Its choice among them is no matter here.
  private static func cache(
    _ policy: EvictionPolicy, seed: UInt64, expert: Int? = nil, isObserved: Bool
  ) -> Cache<Int, Int> {
    var options = Cache<Int, Int>.Options.repeatable(seed)
    options.shards = 1
    if isObserved { options.onRemoval = { _, _, _, _ in } }
    let cache = Cache<Int, Int>(countLimit: limit, policy: policy, options: options)
    if let expert { cache.withCore { lrdt_pin_expert($0, UInt32(expert)) } }
    return cache
  }

  private static func compare(_ short: Cache<Int, Int>, _ long: Cache<Int, Int>, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for step in 0..<20 * limit {
      let key = key(&random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        short.removeValue(forKey: key)
        long.removeValue(forKey: key)
      case 1...4 where short.contains(key):
        #expect(short[key] == long[key])
      default:
        short[key] = step
        long[key] = step
      }
      guard step % 100 == 0 else { continue }
      short.checkInvariants()
      let same = Set(short.keys) == Set(long.keys)
      #expect(same, "after \(step) steps")
      if !same { return }
    }
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test(
    "Both evict the same entries",
    arguments: EvictionPolicy.allCases.filter { $0 != .adaptive && !$0.needsCosts },
    [UInt64(1), 2, 3])
  func bothWays(policy: EvictionPolicy, seed: UInt64) {
    Self.compare(
      Self.cache(policy, seed: seed, isObserved: false),
      Self.cache(policy, seed: seed, isObserved: true), seed: seed)
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test("So do those of the adaptive policy", arguments: AdvisorTests.experts, [UInt64(1), 2, 3])
  func bothWaysOfAdaptive(expert: Int, seed: UInt64) {
    Self.compare(
      Self.cache(.adaptive, seed: seed, expert: expert, isObserved: false),
      Self.cache(.adaptive, seed: seed, expert: expert, isObserved: true), seed: seed)
  }

  @Test("A writer leaves the short way only where the limbo has something for it to do")
  func quietLimbo() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    defer { entry.deallocate() }
    let bound = lrd_limbo_bound(100_000, 0, 0, 1)
    func isQuiet(fresh: UInt64, somethingWaits: Bool = false) -> Bool {
      var limbo = lrd_limbo()
      limbo.fresh.count = UInt32(fresh)
      limbo.waiting.head = somethingWaits ? entry : nil
      return lrd_limbo_find_quiet_locked(&limbo, bound)
    }
    #expect(isQuiet(fresh: bound.count / 4 - 2))
    #expect(!isQuiet(fresh: bound.count / 4 - 1), "it draws a ticket")
    #expect(isQuiet(fresh: bound.count * 3 / 8 - 2, somethingWaits: true))
    #expect(!isQuiet(fresh: bound.count * 3 / 8 - 1, somethingWaits: true), "it runs a fence")
  }

  /// A limbo in which nothing is known, with so many entries, all of which are `entry`.
  private static func limbo(
    _ entry: UnsafeMutablePointer<lrd_entry>, fresh: Int, waiting: Int = 0, scanned: Int = 0
  ) -> lrd_limbo {
    func chain(_ count: Int) -> lrd_chain {
      let link = count > 0 ? entry : nil
      return lrd_chain(head: link, tail: link, count: UInt32(count), cost: 0)
    }
    var limbo = lrd_limbo()
    limbo.fresh = chain(fresh)
    limbo.waiting = chain(waiting)
    limbo.scanned = chain(scanned)
    limbo.ticket = .max  // so it has not passed
    return limbo
  }

  @Test(
    "What waits in all shards together costs a part of the limit", arguments: [1, 2, 3, 16, 64])
  func costThatWaits(shards: UInt32) {
    let limit: UInt64 = 1 << 24
    func bound(mean: UInt64, limit: UInt64) -> UInt64 {
      lrd_limbo_bound(1_000, mean, limit, shards).cost
    }
    // A writer acts at half of it.
    let cheap = bound(mean: 1, limit: limit)
    #expect(cheap * UInt64(shards) / 2 <= limit / 16)
    #expect(cheap * UInt64(shards) > limit / 17)
    // Dear entries: some of them may wait, in few shards more than in many.
    for mean: UInt64 in [10, 1_000, 100_000, 10_000_000, .max] {
      let dear = bound(mean: mean, limit: limit)
      #expect(dear >= cheap && dear <= max(cheap, limit / 64))
      #expect(dear >= min(limit / 64, mean.multipliedReportingOverflow(by: 32).partialValue))
    }
    #expect(bound(mean: .max, limit: .max) >= UInt64.max / 64)
    #expect(bound(mean: 10, limit: 0) == 1 << 20)
  }

  @Test("In a limbo that is known to be quiet, the long way does nothing before a ticket passes")
  func knownQuietLimbo() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    entry.initialize(to: lrd_entry())
    defer { entry.deallocate() }
    let bound = lrd_limbo_bound(0, 0, 0, 1)
    var known = 0
    for waiting in [0, 1, 60, 200] {
      for scanned in [0, 1, 100, 128, 129] {
        for first in 0...Int(bound.count) {
          var limbo = Self.limbo(entry, fresh: first, waiting: waiting, scanned: scanned)
          guard lrd_limbo_find_quiet_locked(&limbo, bound) else { continue }
          let quiet = Int(limbo.quiet)
          for fresh in first..<quiet {
            var then = Self.limbo(entry, fresh: fresh, waiting: waiting, scanned: scanned)
            then.quiet = limbo.quiet
            var removed = lrd_chain(head: entry, tail: entry, count: 1, cost: 0)
            var scan = lrd_scan()
            let fences = lrd_limbo_add_locked(&then, &removed, bound, &scan)
            let isBehind = lrd_limbo_is_behind_locked(&then, bound)
            let acts = fences || scan.urgent || lrd_scan_is_due(&scan)
            let moved = then.fresh.count != fresh + 1 || then.waiting.count != waiting
            guard isBehind || acts || moved || then.quiet != 0 else { continue }
            Issue.record("\(fresh) fresh, \(waiting) waiting, \(scanned) scanned")
            return
          }
          known += quiet - first
          var end = Self.limbo(entry, fresh: quiet, waiting: waiting, scanned: scanned)
          let isQuietStill = lrd_limbo_find_quiet_locked(&end, bound)
          #expect(!isQuietStill, "\(quiet) fresh, \(waiting) waiting, \(scanned) scanned")
        }
      }
    }
    #expect(known > 10_000)
  }

  @Test("A limbo with a table or a cost is not quiet")
  func noQuietLimbo() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    entry.initialize(to: lrd_entry())
    defer { entry.deallocate() }
    let additions: [(inout lrd_limbo) -> Void] = [
      { $0.tables = OpaquePointer(entry) },
      { $0.fresh.cost = 1 },
      { $0.waiting.cost = 1 },
      { $0.scanned.cost = 1 },
    ]
    for (number, add) in additions.enumerated() {
      var limbo = Self.limbo(entry, fresh: 1, waiting: 1, scanned: 1)
      let isQuiet = lrd_limbo_find_quiet_locked(
        &limbo, lrd_limbo_bound(0, 0, 0, 1))
      add(&limbo)
      let isQuietStill = lrd_limbo_find_quiet_locked(
        &limbo, lrd_limbo_bound(0, 0, 0, 1))
      #expect(isQuiet && !isQuietStill && limbo.quiet == 0, "addition \(number)")
    }
  }

  @Test("Any other change of a limbo forgets that it is quiet")
  func forgottenQuiet() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    entry.initialize(to: lrd_entry())
    // A table that is linked to others, and a pool that nothing is taken from.
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 128)
    let anything = OpaquePointer(memory)
    defer {
      entry.deallocate()
      memory.deallocate()
    }
    let changes: [(inout lrd_limbo, inout lrd_scan) -> Void] = [
      { limbo, _ in _ = lrd_limbo_draw_locked(&limbo) },
      { limbo, _ in lrd_limbo_add_table_locked(&limbo, anything) },
      { limbo, scan in lrd_limbo_hand_passed_locked(&limbo, &scan) },
      { limbo, scan in lrd_limbo_hand_all_locked(&limbo, &scan) },
      { limbo, scan in lrd_limbo_add_held_locked(&limbo, &scan.held) },
      { limbo, scan in
        lrd_limbo_add_alone_locked(&limbo, anything, &scan.held, &scan.entries)
      },
      { limbo, scan in lrd_limbo_put_first_locked(&limbo, &scan.entries) },
    ]
    for (number, change) in changes.enumerated() {
      var limbo = Self.limbo(entry, fresh: 1, waiting: 1, scanned: 1)
      var scan = lrd_scan()
      let isQuiet = lrd_limbo_find_quiet_locked(
        &limbo, lrd_limbo_bound(0, 0, 0, 1))
      #expect(isQuiet && lrd_limbo_is_quiet_locked(&limbo))
      change(&limbo, &scan)
      #expect(!lrd_limbo_is_quiet_locked(&limbo), "change \(number)")
    }
  }

  @Test("Writers destroy what holds up a scan, and so come back to the short way")
  func scannedEntriesThatHoldUpAScan() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    defer { entry.deallocate() }
    let bound = lrd_limbo_bound(100_000, 0, 0, 1)
    func isBehind(fresh: UInt64, scanned: UInt64, somethingWaits: Bool = true) -> Bool {
      var limbo = lrd_limbo()
      limbo.fresh.count = UInt32(fresh)
      limbo.scanned.count = UInt32(scanned)
      limbo.waiting.head = somethingWaits ? entry : nil
      return lrd_limbo_is_behind_locked(&limbo, bound)
    }
    let due = bound.count * 3 / 8
    #expect(isBehind(fresh: due, scanned: 1))
    #expect(!isBehind(fresh: due - 1, scanned: bound.count / 2), "no scan is due yet")
    #expect(!isBehind(fresh: due, scanned: 0), "nothing holds it up")
    #expect(!isBehind(fresh: due, scanned: 1, somethingWaits: false), "nothing is to be scanned")
    #expect(isBehind(fresh: 0, scanned: bound.count / 2 + 1, somethingWaits: false))
  }
}
