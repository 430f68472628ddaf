// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Long scripts reach what short ones cannot: growth, long lists, many evictions in one call.
@Suite("Long random scripts")
struct RandomScriptTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    var seed: UInt64
    var keys: Int
    var limits: Limits
    var changesLimits = false

    var testDescription: String {
      "seed \(seed), \(keys) keys, \(limits.testDescription)\(changesLimits ? ", changing" : "")"
    }
  }

  static let plans: [Plan] = (1...3).flatMap { seed in
    [
      Plan(seed: seed, keys: 8, limits: Limits(count: 5)),
      Plan(seed: seed + 10, keys: 60, limits: Limits()),
      Plan(seed: seed + 20, keys: 60, limits: Limits(count: 20)),
      Plan(seed: seed + 30, keys: 60, limits: Limits(cost: 100)),
      Plan(seed: seed + 40, keys: 60, limits: Limits(count: 25, cost: 100)),
      Plan(seed: seed + 50, keys: 120, limits: Limits(count: 40, cost: 200), changesLimits: true),
    ]
  }

  @Test("With one shard, every step agrees with the model", arguments: plans)
  func exactOrder(plan: Plan) throws {
    let driver = CacheDriver(countLimit: plan.limits.count, costLimit: plan.limits.cost, shards: 1)
    try run(plan, driver, steps: 4_000)
  }

  @Test("With few different hashes, every step agrees with the model", arguments: plans)
  func groupedHashes(plan: Plan) throws {
    let driver = CacheDriver(
      countLimit: plan.limits.count, costLimit: plan.limits.cost, key: GroupedKey.init,
      number: \.id)
    try run(plan, driver, steps: 2_000)
  }

  private func run<Key>(_ plan: Plan, _ driver: CacheDriver<Key>, steps: Int) throws {
    var random = SplitMix64(seed: plan.seed)
    var model = ModelCache(countLimit: plan.limits.count, costLimit: plan.limits.cost)
    for step in 0..<Stress.scaled(steps) {
      let operation = random.operation(on: plan.keys, changesLimits: plan.changesLimits)
      let place = { "step \(step), \(operation), \(plan.testDescription)" }
      let expected = model.apply(operation, payload: step)
      try same(driver.apply(operation, payload: step), expected, "answer", place)
      let removals = driver.takeRemovals().sorted()
      try same(removals, model.removals.sorted(), "removals", place)
      driver.cache.checkInvariants()
      try same(driver.cache.count, model.entries.count, "count", place)
      try same(driver.cache.totalCost, model.totalCost, "totalCost", place)
      if step % 16 == 0 { try compareState(driver, model, place) }
    }
    try compareEnds(driver, model) { "at the end, \(plan.testDescription)" }
  }
}

extension SplitMix64 {
  /// A likely operation on one of `keys` keys.
  mutating func operation(on keys: Int, changesLimits: Bool) -> Operation {
    // The square favours small keys, because hits and replacements need repetition.
    let key = below(keys) * below(keys) / keys
    switch below(changesLimits ? 104 : 100) {
    case 0..<20: return .get(key)
    case 20..<25: return .getBySubscript(key)
    case 25..<32: return .lend(key)
    case 32..<36: return .getMany((0..<below(6)).map { _ in below(keys) })
    case 36..<40: return .peek(key)
    case 40..<44: return .contains(key)
    case 44..<70: return .insert(key, cost: below(12))
    case 70..<75: return .insert(key, cost: nil)
    case 75..<76: return .insert(key, cost: 150 + below(100))
    case 76..<82: return .update(key, cost: below(12))
    case 82..<86: return .setBySubscript(key)
    case 86..<88: return .clearBySubscript(key)
    case 88..<95: return .remove(key)
    case 95..<97: return .reclaim
    case 97: return below(8) == 0 ? .removeAll : .removeOdd
    case 98: return .trimToCount(below(keys))
    case 99: return .trimToCost(below(keys * 4))
    case 100..<102: return .setCountLimit(below(keys))
    default: return .setCostLimit(below(keys * 5))
    }
  }
}
