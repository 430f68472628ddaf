// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What every policy guarantees, whatever its order.
@Suite("Every policy", .timeLimit(.minutes(20)))
struct PolicyConformanceTests {
  struct Plan: Sendable, CustomTestStringConvertible {
    var policy: EvictionPolicy
    var shards: Int
    var limits: Limits
    var testDescription: String { "\(policy), \(shards) shards, \(limits.testDescription)" }
  }

  static let plans: [Plan] = EvictionPolicy.allCases.flatMap { policy in
    [1, 4].flatMap { shards in
      [
        Limits(count: 5, cost: .max), Limits(count: 40, cost: 200), Limits(cost: 100),
        Limits(count: 300, cost: 1_500),
      ].map { Plan(policy: policy, shards: shards, limits: $0) }
    }
  }

  @Test(
    "After every operation, with changing limits, the set is right and the limits hold",
    arguments: plans)
  func everyOperation(plan: Plan) throws {
    let driver = CacheDriver(
      countLimit: plan.limits.count, costLimit: plan.limits.cost, policy: plan.policy,
      shards: plan.shards)
    var random = SplitMix64(seed: UInt64(plan.limits.count))
    var model = UnorderedModel(countLimit: plan.limits.count, costLimit: plan.limits.cost)
    let keys = max(plan.limits.count, 60) * 2
    for step in 0..<Stress.scaled(3_000) {
      let operation = random.operation(on: keys, changesLimits: step > 1_000)
      let place = { "step \(step), \(operation), \(plan.testDescription)" }
      let answer = driver.apply(operation, payload: step)
      let judged = model.judge(operation, answer, driver.takeRemovals(), payload: step)
      try same(judged, nil, "contradiction", place)
      driver.cache.checkInvariants()
      try same(driver.cache.count, model.entries.count, "count", place)
      try same(driver.cache.totalCost, model.totalCost, "totalCost", place)
      if step % 16 != 0 { continue }
      let entries = driver.entries.sorted { $0.key < $1.key }
      try same(entries, model.entries.values.sorted { $0.key < $1.key }, "entries", place)
      if plan.shards > 1 { continue }
      let coldest = driver.cache.coldest(.max).map(\.key)
      try same(coldest, driver.cache.snapshot().map(\.key).reversed(), "coldest", place)
    }
    _ = settles(driver.tracker, at: model.entries.count, driver.cache)
    try same(driver.tracker.live, model.entries.count, "live values", { plan.testDescription })
    try same(driver.tracker.faults, [], "faults", { plan.testDescription })
  }

  enum Trace: String, CaseIterable, Sendable {
    case loop, scan, zigzag, unique, hot, hotBesideScan

    /// The key of request `index`, for a cache of `capacity` entries.
    func key(_ index: Int, _ capacity: Int) -> Int {
      let span = capacity + capacity / 2 + 1
      switch self {
      case .loop: return index % span
      case .scan: return (index / (span * 4)) % 2 == 0 ? index % max(1, capacity / 2) : index
      case .zigzag:
        let place = index % (span * 2)
        return place < span ? place : span * 2 - 1 - place
      case .unique: return index
      case .hot: return 0
      case .hotBesideScan: return index % 2 == 0 ? 0 : index
      }
    }
  }

  @Test(
    "On bad traces limits hold, and the steps of an insertion are bounded",
    arguments: EvictionPolicy.allCases, Trace.allCases)
  func badTraces(policy: EvictionPolicy, trace: Trace) {
    for capacity in [1, 2, 3, 10, 100, 3_000] {
      let cache = Cache<Int, Int>(countLimit: capacity, totalCostLimit: .max, policy: policy)
      var hits = 0
      for index in 0..<Stress.scaled(min(capacity * 20 + 200, 20_000)) {
        let key = trace.key(index, capacity)
        if cache[key] != nil {
          hits += 1
          continue
        }
        let steps = cache.victimSteps
        let evictions = cache.statistics.evictions
        cache.insert(key, forKey: key, cost: key % 5)
        let made = cache.statistics.evictions - evictions
        #expect(made <= 1 && cache.count <= capacity && cache.peek(forKey: key) == key)
        #expect(cache.victimSteps - steps <= made * cache.victimStepsMost)
      }
      cache.checkInvariants()
      #expect(cache.statistics.hits == hits)
      if trace == .hot { #expect(cache.count == 1) }
    }
  }

  @Test(
    "After many hits without insertions the steps of an eviction are bounded",
    arguments: EvictionPolicy.allCases)
  func evictionAfterManyHits(policy: EvictionPolicy) {
    let capacity = 5_000
    let cache = Cache<Int, Int>(countLimit: capacity, totalCostLimit: .max, policy: policy)
    for key in 0..<capacity { cache.insert(key, forKey: key, cost: 1) }
    for _ in 0..<4 { for key in 0..<capacity { _ = cache[key] } }
    for key in capacity..<capacity + 200 {
      let steps = cache.victimSteps
      cache.insert(key, forKey: key, cost: 1)
      #expect(cache.victimSteps - steps <= cache.victimStepsMost)
      #expect(cache.victimSteps > steps && cache.count == capacity)
    }
    cache.checkInvariants()
  }

  @Test("Entries without a cost live beside costly ones", arguments: EvictionPolicy.allCases)
  func zeroCosts(policy: EvictionPolicy) {
    let cache = Cache<Int, Int>(totalCostLimit: 100, policy: policy)
    for key in 0..<2_000 {
      cache.insert(key, forKey: key, cost: key % 2 == 0 ? 0 : 7)
      _ = cache[key / 2]
      #expect(cache.totalCost <= 100)
    }
    cache.checkInvariants()
    cache.insert(1, forKey: 1, cost: 100)
    #expect(cache.peek(forKey: 1) == 1 && cache.totalCost == 100)
    cache.removeAll()
    #expect(cache.isEmpty && cache.totalCost == 0)
    cache.checkInvariants()
  }

  @Test(
    "Costs near the largest number neither overflow nor drift", arguments: EvictionPolicy.allCases)
  func largeCosts(policy: EvictionPolicy) {
    let cache = Cache<Int, Int>(countLimit: 50, totalCostLimit: .max, policy: policy)
    for key in 0..<500 {
      cache.insert(key, forKey: key, cost: [0, 1, .max / 3, .max / 2, .max][key % 5])
      _ = cache[key / 2]
      cache.checkInvariants()
    }
    cache.totalCostLimit = 10
    #expect(cache.totalCost <= 10)
    cache.checkInvariants()
  }

  @Test("Keys with equal hashes stay apart", arguments: EvictionPolicy.allCases)
  func equalHashes(policy: EvictionPolicy) {
    let cache = Cache<Collider, Int>(countLimit: 20, totalCostLimit: .max, policy: policy)
    var random = SplitMix64(seed: 5)
    for _ in 0..<Stress.scaled(2_000) {
      let id = random.below(60)
      if let value = cache[Collider(id)] {
        #expect(value == id)
      } else {
        cache.insert(id, forKey: Collider(id), cost: random.below(4))
      }
      cache.checkInvariants()
    }
    #expect(cache.count == 20)
  }

  @Test("Observers may remove, store and empty", arguments: EvictionPolicy.allCases, [1, 4])
  func observersMayChangeTheCache(policy: EvictionPolicy, shards: Int) {
    final class Holder: Sendable {
      let cache = Protected<Cache<Int, Int>?>(nil)
    }
    let holder = Holder()
    let cache = Cache<Int, Int>(
      countLimit: 30, totalCostLimit: .max, policy: policy, shards: shards
    ) { key, _, _, cause in
      guard cause == .limit, let cache = holder.cache.withLock({ $0 }) else { return }
      cache.removeValue(forKey: key - 7)
      if key % 11 == 0 { cache.insert(key, forKey: key + 1, cost: 1) }
      if key % 97 == 0 { cache.removeAll() }
    }
    holder.cache.withLock { $0 = cache }
    for key in 0..<1_000 {
      cache.insert(key, forKey: key, cost: key % 4)
      _ = (cache[key / 2], cache[key - 3])
      #expect(cache.count <= 30)
      cache.checkInvariants()
    }
    holder.cache.withLock { $0 = nil }
  }

  @Test("A huge limit takes no memory in advance", arguments: EvictionPolicy.allCases, [1, 4])
  func hugeLimit(policy: EvictionPolicy, shards: Int) {
    let cache = Cache<Int, Int>(
      countLimit: .max, totalCostLimit: policy.needsCosts ? .max : 0, policy: policy, shards: shards
    )
    for round in 0..<3 {
      for key in 0..<200 { cache.insert(key, forKey: key + round * 100, cost: 1) }
      cache.trim(toCount: 20)
      cache.checkInvariants()
      #expect(cache.count == 20)
    }
    #expect(cache.memoryFootprint < 1 << 20)
  }

  @Test("A raw value names its policy")
  func rawValuesAreNames() {
    for policy in EvictionPolicy.allCases {
      #expect(EvictionPolicy(rawValue: policy.rawValue) == policy)
    }
    #expect(EvictionPolicy(rawValue: "s3fifo") == .s3fifo)
  }
}
