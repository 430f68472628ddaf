// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Each policy that defines an order keeps exactly the order of its model.
@Suite("Policies agree with their models", .timeLimit(.minutes(20)))
struct PolicyModelTests {
  struct Setting: Sendable, CustomTestStringConvertible {
    var policy: EvictionPolicy
    var limits: Limits

    var testDescription: String { "\(policy), \(limits.testDescription)" }

    func driver<Key>(
      _ key: @escaping (Int) -> Key, _ number: @escaping @Sendable (Key) -> Int
    ) -> CacheDriver<Key> {
      // The models' ghosts are keys. Those of the cache are 11 bits of a hash, and now and then two
      // keys have the same. With these seeds none do.
      CacheDriver(
        countLimit: limits.count, costLimit: limits.cost, policy: policy,
        hashSeeds: (0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9), key: key, number: number)
    }
  }

  /// Policies whose queues depend on the limits. Their models know only a limit of entries.
  static let divided: Set<EvictionPolicy> = [.s3fifo, .twoQueue]

  /// Every exact policy, bounded by count.
  static func counted(_ capacities: [Int]) -> [Setting] {
    EvictionPolicy.exact.flatMap { policy in
      capacities.map { capacity in
        let cost = policy.needsCosts ? 1_000_000 : 0
        return Setting(policy: policy, limits: Limits(count: capacity, cost: cost))
      }
    }
  }

  /// Those that do not divide the cache into queues, also bounded by cost.
  static let costly: [Setting] = EvictionPolicy.exact.filter { !divided.contains($0) }
    .flatMap { policy in
      [Limits(cost: 3), Limits(count: 2, cost: 4)].map { Setting(policy: policy, limits: $0) }
    }

  @Test("Scripts of every operation agree, with changing limits", arguments: costly)
  func everyOperation(setting: Setting) throws {
    let start: [Operation] = [.insert(0, cost: 1), .insert(1, cost: 2), .get(0)]
    let allowed = Operation.every.filter { !setting.policy.needsCosts || $0 != .setCostLimit(0) }
    try forEveryScript(of: allowed, length: 2) { script in
      let driver = setting.driver({ $0 }, { $0 })
      try compare(start + script, from: setting.limits, driver, checkedFrom: start.count)
    }
  }

  @Test("Every short script of core operations agrees", arguments: counted([1, 2, 3]) + costly)
  func coreOperations(setting: Setting) throws {
    try forManyScripts(of: Operation.core, length: 4) { script in
      try compare(script, from: setting.limits, setting.driver({ $0 }, { $0 }), checkedFrom: 2)
    }
  }

  /// One cost and four keys, for scripts that run through ghosts and second chances.
  static let uses: [Operation] = (0..<4).flatMap { [.get($0), .insert($0, cost: 1)] }

  @Test("Scripts of hits and insertions agree in a full cache", arguments: counted([2, 3]))
  func hitsAndInsertions(setting: Setting) throws {
    let start: [Operation] = (0..<4).map { .insert($0, cost: 1) } + [.removeAll]
    try forManyScripts(of: Self.uses, length: 5) { script in
      try compare(
        start + script, from: setting.limits, setting.driver({ $0 }, { $0 }),
        checkedFrom: start.count + 3)
    }
  }

  @Test("Long random scripts agree", arguments: counted([1, 2, 3, 10, 40]))
  func longScripts(setting: Setting) throws {
    try play(setting, setting.driver({ $0 }, { $0 }), steps: 3_000)
  }

  @Test("Long random scripts agree on keys with equal hashes", arguments: counted([1, 3, 10]))
  func longScriptsOnColliders(setting: Setting) throws {
    // Keys with equal hashes share their ghosts, and the models' ghosts are keys.
    if Self.divided.contains(setting.policy) { return }
    try play(setting, setting.driver(Collider.init, \.id), steps: 1_000)
  }

  @Test(
    "Long random scripts agree under a cost limit",
    arguments: [Limits(cost: 30), Limits(count: 8, cost: 50)])
  func longScriptsByCost(limits: Limits) throws {
    for policy in EvictionPolicy.exact where !Self.divided.contains(policy) {
      let setting = Setting(policy: policy, limits: limits)
      try play(setting, setting.driver({ $0 }, { $0 }), steps: 2_000)
    }
  }

  private func play<Key>(_ setting: Setting, _ driver: CacheDriver<Key>, steps: Int) throws {
    var random = SplitMix64(seed: UInt64(setting.limits.count + setting.limits.cost))
    var model = ModelCache(
      countLimit: setting.limits.count, costLimit: setting.limits.cost, policy: setting.policy)
    let keys = max(setting.limits.count, 8) * 2 + 1
    for step in 0..<Stress.scaled(steps) {
      let operation = random.use(of: keys)
      let place = { "step \(step), \(operation), \(setting.testDescription)" }
      let expected = model.apply(operation, payload: step)
      try same(driver.apply(operation, payload: step), expected, "answer", place)
      let removals = driver.takeRemovals().sorted()
      try same(removals, model.removals.sorted(), "removals", place)
      try compareState(driver, model, place)
    }
    try compareEnds(driver, model) { "at the end, \(setting.testDescription)" }
  }
}

extension SplitMix64 {
  /// A likely operation on one of `keys` keys, which leaves the limits alone.
  fileprivate mutating func use(of keys: Int) -> Operation {
    let key = below(keys) * below(keys) / keys
    switch below(100) {
    case 0..<45: return .get(key)
    case 45..<80: return .insert(key, cost: below(12))
    case 80..<88: return .update(key, cost: below(12))
    case 88..<95: return .remove(key)
    case 95..<97: return .trimToCount(below(keys))
    case 97: return below(4) == 0 ? .removeAll : .removeOdd
    default: return .peek(key)
    }
  }
}
