// SPDX-License-Identifier: Apache-2.0
import Foundation
import Larder
import LarderTestSupport
import Testing

/// The Swift cache and the model of these tests agree with the vectors that also test the C library
/// and its Python binding (Tests/Library).
@Suite("Shared vectors")
struct VectorTests {
  static let path = ProcessInfo.processInfo.environment["LARDER_VECTORS"]

  @Test(
    "Cache and model agree with every vector",
    .enabled(if: path != nil, "LARDER_VECTORS names no file; Tests/run makes one"))
  func everyVector() throws {
    let vectors = try Vector.all(in: try #require(Self.path))
    #expect(vectors.count >= Stress.scaled(2_000))
    for vector in vectors {
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

/// Plays one vector on a cache and on the model.
private final class VectorPlayer {
  private let vector: Vector
  private let driver: CacheDriver<Vector.Key>
  private var model: ModelCache
  private var hands: [Int: Tracked] = [:]
  private var live = 0

  init(_ vector: Vector) {
    self.vector = vector
    let keys = vector.keys
    driver = CacheDriver(
      countLimit: vector.countLimit, costLimit: vector.costLimit, policy: vector.policy, shards: 1,
      key: { keys[$0] }, number: \.number)
    model = ModelCache(
      countLimit: vector.countLimit, costLimit: vector.costLimit, policy: vector.policy)
  }

  /// Plays the whole vector. Returns the values that stay in hand.
  func play() throws -> (values: [Int: Tracked], tracker: LifetimeTracker) {
    for (number, step) in vector.steps.enumerated() {
      let place = { "step \(number) of vector \(self.vector.number), \(step)" }
      try play(step, place)
      try same(driver.takeRemovals().sorted(), step.gone, "removals", place)
      try same(model.removals.sorted(), step.gone, "removals of the model", place)
      try same(driver.cache.count, step.count, "count", place)
      try same(driver.cache.totalCost, step.totalCost, "totalCost", place)
      try release(step.freed, place)
    }
    try end { "at the end of vector \(self.vector.number)" }
    return (hands, driver.tracker)
  }

  private func play(_ step: Vector.Step, _ place: () -> String) throws {
    let makesValue = ["set", "swap", "replace"].contains(step.name)
    if makesValue { live += 1 }
    if step.name == "list" {
      let elements = driver.cache.snapshot()
      let ordered = step.a == 0 ? elements : elements.reversed()
      _ = model.apply(.reclaim, payload: 0)
      return try same(driver.entries(ordered), step.listed, "entries", place)
    }
    if step.name == "pin" {
      let value = driver.cache.value(forKey: vector.keys[step.a])
      try same(value?.payload, step.result, "answer", place)
      hands[step.value] = value
      let answer = model.apply(.get(step.a), payload: 0)
      return try same(answer, .value(step.result), "answer of the model", place)
    }
    guard let operation = operation(step) else {
      // Steps that change nothing in the model: taking a value in hand, or replacing nothing.
      _ = model.apply(.reclaim, payload: 0)
      if step.name == "unpin" { hands[step.a] = nil } else { _ = driver.tracker.make(step.value) }
      return
    }
    let expected = answer(step)
    try same(driver.apply(operation, payload: step.value), expected, "answer", place)
    let modelled = model.apply(operation, payload: step.value)
    try same(modelled, expected, "answer of the model", place)
  }

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
    try same(model.entries, vector.entries, "entries of the model", place)
    try same(ModelStatistics(driver.cache.statistics), vector.statistics, "statistics", place)
    try same(model.statistics, vector.statistics, "statistics of the model", place)
    driver.cache.checkInvariants()
  }
}
