// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderTestSupport
import Testing

/// The Swift cache and the model of these tests agree with the vectors that also test the C library
/// and its Python binding (Tests/CLibrary).
@Suite("Shared vectors")
struct VectorTests {
  static let path = ProcessInfo.processInfo.environment["LARDER_VECTORS"]

  @Test(
    "Cache and model agree with every vector",
    .enabled(if: path != nil, "LARDER_VECTORS names no file; Tests/run makes one"))
  func everyVector() throws {
    let vectors = try Vector.all(in: try #require(Self.path))
    #expect(vectors.count >= Stress.scaled(2_000))
    for vector in vectors where vector.response == nil {
      var hands = try VectorPlayer(vector).play()
      // The cache is gone, and only the values in hand are alive.
      let tracker = hands.tracker
      waitUntil("the cache's values are released") { tracker.live == vector.late.count }
      #expect(Set(tracker.liveIDs) == Set(vector.late))
      hands.values = [:]
      // The background thread may be about to let go of an entry whose value was in hand.
      waitUntil("the values in hand are released") { tracker.live == 0 }
      #expect(tracker.faults.isEmpty)
    }
  }
}

/// The vectors with levels of memory pressure, which are those of the whole process. The model of
/// these tests has none.
@Suite("Shared vectors with memory pressure")
struct PressedVectorTests {
  @Test(
    "Cache agrees with every vector",
    .enabled(if: VectorTests.path != nil, "LARDER_VECTORS names no file; Tests/run makes one"))
  func everyVector() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.stop()
      // Steps come all the time, and no vector notices.
      MemoryPressure.setPause(nanoseconds: 50_000)
      let vectors = try Vector.all(in: try #require(VectorTests.path))
        .filter { $0.response != nil }
      #expect(vectors.count >= Stress.scaled(300))
      for vector in vectors {
        _ = try VectorPlayer(vector).play()
        MemoryPressure.report(.normal)
        MemoryPressure.enterForeground()
      }
    }
  }
}

/// Plays one vector on a cache, and on the model if that can follow.
private final class VectorPlayer {
  private let vector: Vector
  private let driver: CacheDriver<Vector.Key>
  private var model: ModelCache?
  private let clock = ManualClock()
  private var hands: [Int: Tracked] = [:]
  private var live = 0

  init(_ vector: Vector) {
    self.vector = vector
    let keys = vector.keys
    driver = CacheDriver(
      countLimit: vector.countLimit, costLimit: vector.costLimit, policy: vector.policy, shards: 1,
      expiration: vector.expiration ?? .never, clock: vector.expiration == nil ? nil : clock,
      key: { keys[$0] }, number: \.number)
    // The first lifetime makes room.
    if vector.expires { driver.cache.setLifetime(.seconds(1), forKey: keys[0]) }
    if let response = vector.response {
      driver.cache.pressure = PressureResponse(
        warning: response[0], critical: response[1], minimumCount: Int(response[3]),
        background: response[2])
    } else {
      model = ModelCache(
        countLimit: vector.countLimit, costLimit: vector.costLimit, policy: vector.policy)
    }
  }

  /// Plays the whole vector. Returns the values that stay in hand.
  func play() throws -> (values: [Int: Tracked], tracker: LifetimeTracker) {
    for (number, step) in vector.steps.enumerated() {
      let place = { "step \(number) of vector \(self.vector.number), \(step)" }
      try play(step, place)
      try same(driver.takeRemovals().sorted(), step.gone, "removals", place)
      if let model {
        try same(model.removals.sorted(), step.gone, "removals of the model", place)
      }
      try same(driver.cache.count, step.count, "count", place)
      try same(driver.cache.totalCost, step.totalCost, "totalCost", place)
      try release(step.freed, place)
    }
    try end { "at the end of vector \(self.vector.number)" }
    return (hands, driver.tracker)
  }

  private func play(_ step: Vector.Step, _ place: () -> String) throws {
    let makesValue = ["set", "swap", "replace", "set_for"].contains(step.name)
    if makesValue { live += 1 }
    if try playTimed(step, place) { return }
    if try playPressed(step, place) { return }
    if step.name == "list" {
      let elements = driver.cache.snapshot()
      let ordered = step.a == 0 ? elements : elements.reversed()
      _ = model?.apply(.reclaim, payload: 0)
      return try same(driver.entries(ordered), step.listed, "entries", place)
    }
    if step.name == "pin" {
      let value = driver.cache.value(forKey: vector.keys[step.a])
      try same(value?.payload, step.result, "answer", place)
      hands[step.value] = value
      let answer = model?.apply(.get(step.a), payload: 0)
      return try same(answer ?? .value(step.result), .value(step.result), "model", place)
    }
    guard let operation = operation(step) else {
      // Steps that change nothing in the model: taking a value in hand, or replacing nothing.
      _ = model?.apply(.reclaim, payload: 0)
      if step.name == "unpin" { hands[step.a] = nil } else { _ = driver.tracker.make(step.value) }
      return
    }
    let expected = answer(step)
    try same(driver.apply(operation, payload: step.value), expected, "answer", place)
    let modelled = model?.apply(operation, payload: step.value)
    try same(modelled ?? expected, expected, "answer of the model", place)
  }

  /// The steps that are about time. The model keeps none: it is told what leaves.
  private func playTimed(_ step: Vector.Step, _ place: () -> String) throws -> Bool {
    let cache = driver.cache
    let isKnown = ["set_for", "set_life", "advance", "life", "expiration"].contains(step.name)
    guard isKnown else { return false }
    let key = vector.keys[min(step.a, vector.keys.count - 1)]
    let lifetime = Vector.time(step.cost ?? 0)
    if step.name == "set_for", lifetime != .zero {
      _ = model?.apply(.insert(step.a, cost: nil), payload: step.value)
    } else {
      _ = model?.apply(.reclaim, payload: 0)
      for removal in step.gone { model?.leave(removal.key, removal.cause) }
    }
    switch step.name {
    case "set_for":
      let outcomes: [Int: InsertionOutcome] = [0: .inserted, 1: .replaced, 6: .expired]
      let outcome = cache.insert(
        driver.tracker.make(step.value), forKey: key, expiresAfter: lifetime ?? Self.forever)
      try same(outcome, outcomes[step.status] ?? .tooCostly, "answer", place)
    case "set_life":
      let isThere = cache.setLifetime(lifetime ?? Self.forever, forKey: key)
      try same(isThere, step.status != 2, "answer", place)
    case "advance":
      clock.advance(by: Vector.time(step.a)!)
      try same(cache.removeExpired(), step.result ?? 0, "answer", place)
    case "life":
      let left = cache.remainingLifetime(forKey: key)
      let expected = step.result.flatMap(Vector.time)
      // The moment in which a value was stored may be known to two ticks.
      let late = expected.map { $0 - (left ?? .zero) } ?? .zero
      try same(left == nil, expected == nil, "answer", place)
      try same(late >= .zero && late < .milliseconds(1), true, "answer", place)
    default:
      cache.expiration = Expiration(afterWrite: step.a == 0 ? nil : Vector.time(step.a))
      cache.removeExpired()
    }
    return true
  }

  /// The steps that are about memory pressure.
  private func playPressed(_ step: Vector.Step, _ place: () -> String) throws -> Bool {
    let cache = driver.cache
    switch step.name {
    case "report": MemoryPressure.report(MemoryPressure.Level(rawValue: step.a)!)
    case "hide": MemoryPressure.enterBackground()
    case "show": MemoryPressure.enterForeground()
    case "limits_in_force":
      let limits = [cache.effectiveCountLimit, cache.effectiveTotalCostLimit]
      try same(limits, step.limits, "limits in force", place)
    default: return false
    }
    return true
  }

  private static let forever = Duration.seconds(1 << 40)

  private func operation(_ step: Vector.Step) -> LarderTestSupport.Operation? {
    switch step.name {
    case "get", "read": .get(step.a)
    case "peek": .peek(step.a)
    case "contains": .contains(step.a)
    case "set": .insert(step.a, cost: step.cost)
    case "swap": .update(step.a, cost: step.cost)
    case "replace":
      driver.cache.contains(vector.keys[step.a]) ? .update(step.a, cost: step.cost) : nil
    case "remove": .remove(step.a)
    case "remove_all": .removeAll
    case "trim_count": .trimToCount(step.a)
    case "trim_cost": .trimToCost(step.a)
    case "limit_count": .setCountLimit(step.a)
    case "limit_cost": .setCostLimit(step.a)
    case "reclaim": .reclaim
    default: nil
    }
  }

  private func answer(_ step: Vector.Step) -> Answer {
    switch step.name {
    case "contains": .flag(step.status == 0)
    case "set":
      .insertion(step.status == 0 ? .inserted : step.status == 1 ? .replaced : .tooCostly)
    case "get", "read", "peek", "swap", "replace", "remove": .value(step.result)
    default: .nothing
    }
  }

  /// Exactly these values die.
  private func release(_ values: [Int], _ place: () -> String) throws {
    live -= values.count
    if values.isEmpty { return }
    _ = settles(driver.tracker, at: live, driver.cache)
    try same(driver.tracker.live, live, "live values", place)
    try same(values.filter(driver.tracker.isLive), [], "values still alive", place)
  }

  private func end(_ place: () -> String) throws {
    try same(driver.entries, vector.entries, "entries", place)
    try same(ModelStatistics(driver.cache.statistics), vector.statistics, "statistics", place)
    if let model {
      try same(model.entries, vector.entries, "entries of the model", place)
      try same(model.statistics, vector.statistics, "statistics of the model", place)
    }
    driver.cache.checkInvariants()
  }
}
