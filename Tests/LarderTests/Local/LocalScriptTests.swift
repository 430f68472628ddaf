// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

// Not under ThreadSanitizer: a local cache has one thread.

/// The same calls on a `LocalCache` and on a `Cache` with one shard: answers, removals, order, sums
/// and statistics are the same after each of them. A `Cache` tells its policy of lookups when the
/// thread next enters the shard, so each call is followed by one that enters and does nothing. The
/// adaptive policy polls samples in the order of their slots, which differ: its hits are as many,
/// give or take a few.
@Suite("A local cache does what a cache does", .timeLimit(.minutes(20)))
struct LocalScriptTests {
  static let seeds: (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9)
  static let limits = [
    Limits(count: 7, cost: 0), Limits(count: 0, cost: 40), Limits(count: 60, cost: 150),
    Limits(count: 700, cost: 900),
  ]

  struct Setting: Sendable, CustomTestStringConvertible {
    var policy: EvictionPolicy
    var limits: Limits
    var testDescription: String { "\(policy), \(limits.testDescription)" }
  }

  static let settings: [Setting] = EvictionPolicy.allCases.filter { $0 != .adaptive }
    .flatMap { policy in settings(policy) }

  static func settings(_ policy: EvictionPolicy) -> [Setting] {
    limits.filter { $0.cost > 0 || !policy.needsCosts }.map { Setting(policy: policy, limits: $0) }
  }

  /// Keys that come back, costs of which some are 0 and some refused, now and then a change of all.
  private func step(_ random: inout SplitMix64, _ setting: Setting, keys: Int) -> Operation {
    let key = min(random.below(keys), random.below(keys))
    switch random.below(400) {
    case 0: return .removeAll
    case 1: return .removeOdd
    case 2: return .trimToCount(random.below(keys))
    case 3: return .trimToCost(random.below(keys))
    case 4: return .setCountLimit(setting.limits.count == 0 ? 0 : 1 + random.below(keys))
    case 5: return .setCostLimit(setting.limits.cost == 0 ? 0 : 10 + random.below(2 * keys))
    case 6: return .setCountLimit(setting.limits.count)
    case 7: return .setCostLimit(setting.limits.cost)
    case 8..<20: return .remove(key)
    case 20..<30: return .peek(key)
    case 30..<40: return .contains(key)
    case 40..<60: return .lend(key)
    case 60..<70: return .setBySubscript(key)
    case 70..<75: return .clearBySubscript(key)
    case 75..<90: return .update(key, cost: random.below(4))
    case 90..<95: return .insert(key, cost: random.below(60))
    case 95..<200: return .insert(key, cost: random.below(4))
    case 200..<210: return .insert(key, cost: nil)
    default: return .get(key)
    }
  }

  private func play<Key: Hashable & Sendable>(
    _ setting: Setting, seed: UInt64, steps: Int, every check: Int, key: @escaping (Int) -> Key,
    number: @escaping @Sendable (Key) -> Int
  ) throws {
    var random = SplitMix64(seed: seed)
    let shared = CacheDriver<Key>(
      countLimit: setting.limits.count, costLimit: setting.limits.cost, policy: setting.policy,
      shards: 1, hashSeeds: Self.seeds, key: key, number: number)
    let local = LocalDriver<Key>(
      setting.limits, setting.policy, hashSeeds: Self.seeds, key: key, number: number)
    let keys = 2 * max(setting.limits.count, setting.limits.cost)
    for index in 0..<steps {
      let operation = step(&random, setting, keys: keys)
      let place: Comment = "\(operation) at \(index), seed \(seed)"
      let expected = shared.apply(operation, payload: index)
      shared.cache.removeValue(forKey: key(.max))
      try #require(local.apply(operation, payload: index) == expected, place)
      let removals = local.takeRemovals()
      let others = shared.takeRemovals()
      try #require(removals == others || removals.sorted() == others.sorted(), place)
      try #require(local.cache.count == shared.cache.count, place)
      try #require(local.cache.totalCost == shared.cache.totalCost, place)
      if index % check != 0 { continue }
      local.cache.checkInvariants()
      try #require(local.entries == shared.entries, place)
      try #require(local.cache.statistics == shared.cache.statistics, place)
      try #require(local.tracker.live == local.cache.count, place)
    }
    #expect(local.tracker.faults == [])
  }

  @Test("Random scripts", arguments: settings)
  func scripts(setting: Setting) throws {
    for seed in 0..<UInt64(Stress.scaled(20)) {
      try play(setting, seed: seed, steps: 1_000, every: 7, key: { $0 }, number: { $0 })
    }
  }

  @Test("Random scripts with strings as keys", arguments: settings)
  func strings(setting: Setting) throws {
    try play(
      setting, seed: 99, steps: 1_000, every: 7, key: { "a key of some length: \($0)" },
      number: { Int($0.split(separator: " ").last!)! })
  }

  @Test(
    "Random scripts with keys of equal hashes",
    arguments: settings.filter { $0.limits.count == 7 })
  func colliders(setting: Setting) throws {
    try play(setting, seed: 5, steps: 1_000, every: 1, key: Collider.init, number: \.id)
  }

  @Test("A long script in a cache that learns", arguments: EvictionPolicy.allCases)
  func longScript(policy: EvictionPolicy) throws {
    let setting = Setting(policy: policy, limits: Limits(count: 700, cost: 1_000_000))
    var random = SplitMix64(seed: 3)
    let local = LocalDriver<Int>(
      setting.limits, policy, hashSeeds: Self.seeds, key: { $0 }, number: { $0 })
    let shared = CacheDriver<Int>(
      countLimit: 700, costLimit: 1_000_000, policy: policy, shards: 1, observed: false,
      hashSeeds: Self.seeds, key: { $0 }, number: { $0 })
    for index in 0..<Stress.scaled(200_000) {
      let key = min(random.below(5_000), random.below(5_000), random.below(5_000))
      let expected = shared.cache.value(forKey: key)?.payload
      shared.cache.removeValue(forKey: .max)
      let found = local.cache.value(forKey: key)?.payload
      try #require(policy == .adaptive || found == expected, "at \(index)")
      if expected == nil { shared.cache.insert(shared.tracker.make(index), forKey: key) }
      if found == nil { local.cache.insert(local.tracker.make(index), forKey: key) }
    }
    if policy == .adaptive {
      let (one, other) = (local.cache.statistics.hitRatio, shared.cache.statistics.hitRatio)
      #expect(abs(one - other) < 0.02, "\(one), \(other)")
      return
    }
    #expect(local.entries == shared.entries)
    #expect(local.cache.statistics == shared.cache.statistics)
  }
}
