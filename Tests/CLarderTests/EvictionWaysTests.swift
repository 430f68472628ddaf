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
    let bound = lrd_limbo_bound(100_000, 0)
    func isQuiet(fresh: UInt64, somethingWaits: Bool = false) -> Bool {
      var limbo = lrd_limbo()
      limbo.fresh.count = UInt32(fresh)
      limbo.waiting.head = somethingWaits ? entry : nil
      return lrd_limbo_is_quiet_locked(&limbo, bound)
    }
    #expect(isQuiet(fresh: bound.count / 4 - 2))
    #expect(!isQuiet(fresh: bound.count / 4 - 1), "it draws a ticket")
    #expect(isQuiet(fresh: bound.count * 3 / 8 - 2, somethingWaits: true))
    #expect(!isQuiet(fresh: bound.count * 3 / 8 - 1, somethingWaits: true), "it runs a fence")
  }

  @Test("Writers destroy what holds up a scan, and so come back to the short way")
  func scannedEntriesThatHoldUpAScan() {
    let entry = UnsafeMutablePointer<lrd_entry>.allocate(capacity: 1)
    defer { entry.deallocate() }
    let bound = lrd_limbo_bound(100_000, 0)
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
