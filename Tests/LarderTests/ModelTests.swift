// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// The limits with which a script starts.
struct Limits: Sendable, CustomTestStringConvertible {
  var count = 0
  var cost = 0

  var testDescription: String { "count \(count), cost \(cost)" }
}

/// Start here: these tests hold the cache against a model that is right by reading. Small states
/// are enumerated, not sampled, so whatever goes wrong with three keys goes wrong here.
@Suite("Every short script agrees with the model")
struct ModelTests {
  static let limits = [
    Limits(), Limits(count: 1), Limits(count: 2), Limits(cost: 3), Limits(count: 2, cost: 4),
  ]

  @Test("Scripts of every operation agree, from an empty cache", arguments: limits)
  func everyOperation(limits: Limits) throws {
    try forEveryScript(of: Operation.every, length: 2) { script in
      let driver = CacheDriver(countLimit: limits.count, costLimit: limits.cost)
      try compare(script, from: limits, driver)
    }
  }

  @Test("Scripts of every operation agree, from a full cache", arguments: limits)
  func everyOperationWhenFull(limits: Limits) throws {
    let start: [Operation] = [.insert(0, cost: 1), .insert(1, cost: 2), .insert(2, cost: 1)]
    try forManyScripts(of: Operation.every, length: 3) { script in
      let driver = CacheDriver(countLimit: limits.count, costLimit: limits.cost)
      try compare(start + script, from: limits, driver, checkedFrom: start.count)
    }
  }

  @Test("Long scripts of core operations agree", arguments: limits)
  func coreOperations(limits: Limits) throws {
    try forManyScripts(of: Operation.core, length: 5) { script in
      let driver = CacheDriver(countLimit: limits.count, costLimit: limits.cost)
      try compare(script, from: limits, driver, checkedFrom: 2)
    }
  }

  @Test("Scripts of core operations agree on keys with equal hashes", arguments: limits)
  func coreOperationsOnColliders(limits: Limits) throws {
    try forManyScripts(of: Operation.core, length: 4) { script in
      let driver = CacheDriver(
        countLimit: limits.count, costLimit: limits.cost, key: Collider.init, number: \.id)
      try compare(script, from: limits, driver, checkedFrom: 2)
    }
  }

  @Test("Scripts agree without an observer", arguments: limits)
  func withoutObserver(limits: Limits) throws {
    try forManyScripts(of: Operation.core, length: 4) { script in
      let driver = CacheDriver(
        countLimit: limits.count, costLimit: limits.cost, observed: false)
      try compare(script, from: limits, driver, checkedFrom: 2, observed: false)
    }
  }
}
