// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Long random scripts on a cache whose entries expire, beside a model that is right by reading.
///
/// The cache may keep what has expired for a while, and the model does not. So the observer's
/// reports of such entries may come at any step after their time, but each of them comes once.
@Suite("Scripts with deadlines agree with the model", .timeLimit(.minutes(20)))
struct TimedScriptTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    var seed: UInt64
    var policy: EvictionPolicy
    var limits = Limits()
    var afterWrite: Int?
    var afterAccess: Int?
    var changesRule = false
    /// Lifetimes for single entries, whose ages are not known exactly.
    var givesLifetimes = true

    var testDescription: String {
      "seed \(seed), \(policy), \(limits.testDescription), after write \(afterWrite ?? 0), "
        + "after access \(afterAccess ?? 0)\(changesRule ? ", changing" : "")"
        + (givesLifetimes ? "" : ", by age")
    }
  }

  static let plans: [Plan] =
    [EvictionPolicy.lru, .fifo, .lfu, .clock, .sieve].flatMap { policy in
      [
        Plan(seed: 1, policy: policy, afterWrite: 40),
        Plan(seed: 2, policy: policy, limits: Limits(count: 12), afterWrite: 40),
        Plan(seed: 3, policy: policy, limits: Limits(count: 12), afterAccess: 30),
        Plan(
          seed: 4, policy: policy, limits: Limits(count: 20, cost: 80), afterWrite: 60,
          afterAccess: 25),
        Plan(seed: 5, policy: policy, limits: Limits(count: 12), changesRule: true),
        Plan(
          seed: 6, policy: policy, limits: Limits(count: 12), afterWrite: 60, changesRule: true,
          givesLifetimes: false),
      ]
    }

  @Test("With one shard, every step agrees with the model", arguments: plans)
  func exactOrder(plan: Plan) throws {
    let clock = ManualClock()
    try run(plan, make(plan, clock, key: { $0 }, number: { $0 }), clock, steps: 4_000)
  }

  @Test("With few different hashes, every step agrees with the model", arguments: plans.prefix(6))
  func groupedHashes(plan: Plan) throws {
    let clock = ManualClock()
    try run(plan, make(plan, clock, key: GroupedKey.init, number: \.id), clock, steps: 2_000)
  }

  private func make<Key>(
    _ plan: Plan, _ clock: ManualClock, key: @escaping (Int) -> Key,
    number: @escaping @Sendable (Key) -> Int
  ) -> CacheDriver<Key> {
    CacheDriver(
      countLimit: plan.limits.count, costLimit: plan.limits.cost, policy: plan.policy, shards: 1,
      // One that never ends makes a cache with room for others, which knows all ages.
      expiration: Expiration(
        afterWrite: plan.afterWrite ?? .max, afterAccess: plan.afterAccess),
      clock: clock, key: key, number: number)
  }

  private func run<Key>(
    _ plan: Plan, _ driver: CacheDriver<Key>, _ clock: ManualClock, steps: Int
  ) throws {
    var random = SplitMix64(seed: plan.seed)
    var model = TimedModel(
      countLimit: plan.limits.count, costLimit: plan.limits.cost, policy: plan.policy,
      afterWrite: plan.afterWrite, afterAccess: plan.afterAccess)
    var expired: [Removal] = []
    for step in 0..<Stress.scaled(steps) {
      let operation = random.timedOperation(on: 30, plan)
      let place = { "step \(step), \(operation), \(plan.testDescription)" }
      let expected = model.apply(operation, payload: step)
      try same(driver.apply(operation, payload: step, clock), expected, "answer", place)
      let removals = driver.takeRemovals()
      expired += model.removals.filter { $0.cause == .expired }
      try same(
        removals.filter { $0.cause != .expired }.sorted(),
        model.removals.filter { $0.cause != .expired }.sorted(), "removals", place)
      try take(removals.filter { $0.cause == .expired }, from: &expired, place)
      driver.cache.checkInvariants()
      try same(driver.entries, model.cache.entries, "entries", place)
      if step % 16 == 0 {
        driver.cache.removeExpired()
        try take(driver.takeRemovals(), from: &expired, place)
        try same(expired, [], "expired entries left", place)
        try same(driver.cache.count, model.cache.entries.count, "count", place)
        try same(driver.cache.totalCost, model.cache.totalCost, "totalCost", place)
        try same(
          ModelStatistics(driver.cache.statistics), model.cache.statistics, "statistics", place)
      }
    }
    driver.cache.removeExpired()
    try compareEnds(driver, model.cache) { "at the end, \(plan.testDescription)" }
  }

  private func take(
    _ removals: [Removal], from expired: inout [Removal], _ place: () -> String
  ) throws {
    for removal in removals {
      guard let index = expired.firstIndex(of: removal) else {
        return try same(removals, expired, "expired too early, or twice", place)
      }
      expired.remove(at: index)
    }
  }
}

extension SplitMix64 {
  /// A likely operation on one of `keys` keys, or on the clock.
  fileprivate mutating func timedOperation(
    on keys: Int, _ plan: TimedScriptTests.Plan
  ) -> TimedOperation {
    let key = below(keys) * below(keys) / keys
    let choice = below(plan.changesRule ? 102 : 100)
    if !plan.givesLifetimes && (60..<76).contains(choice) { return .trimToAge(below(60)) }
    switch choice {
    case 0..<60: return .plain(operation(on: keys, changesLimits: false))
    case 60..<70: return .insert(key, cost: below(12), expiresAfter: 1 + below(80))
    case 70..<71: return .insert(key, cost: below(12), expiresAfter: -below(2))
    case 71..<75: return .setLifetime(key, 1 + below(80))
    case 75..<76: return .setLifetime(key, 0)
    case 76..<80: return .remainingLifetime(key)
    case 80..<83: return .removeExpired
    case 83..<99: return .advance(1 + below(8))
    case 99: return .advance(below(200))
    default:
      return .setRule(
        afterWrite: below(3) == 0 ? nil : 1 + below(80),
        afterAccess: below(2) == 0 ? nil : 1 + below(60))
    }
  }
}
