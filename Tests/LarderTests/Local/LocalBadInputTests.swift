// SPDX-License-Identifier: Apache-2.0
import Larder
import Testing

/// Misuse of a `LocalCache` ends the process, with a message that tells why.
@Suite("Bad input to a local cache")
struct LocalBadInputTests {
  enum BadCall: String, CaseIterable, Codable, Sendable {
    case countLimit, totalCostLimit, noTotalCostLimit, setCountLimit, cost, costFunction
    case trimToCount, trimToCost, useWhileChanging, changeWhileChanging, changeWhileLent
    case takeWhileLent

    /// Whether the message names the place of the call. Setters and lookups do not know it.
    var knowsPlace: Bool { ![.setCountLimit, .useWhileChanging].contains(self) }

    var words: String {
      switch self {
      case .countLimit, .setCountLimit: "countLimit must not be negative"
      case .totalCostLimit: "totalCostLimit must not be negative"
      case .noTotalCostLimit: "totalCostLimit"
      case .cost, .trimToCost: "cost must not be negative"
      case .costFunction: "the cost function must not return a negative cost"
      case .trimToCount: "count must not be negative"
      case .useWhileChanging, .changeWhileChanging: "changed in place"
      case .changeWhileLent, .takeWhileLent: "on loan"
      }
    }

    func perform() {
      let cache = LocalCache<Int, Int>()
      cache[1] = 1
      switch self {
      case .countLimit: _ = LocalCache<Int, Int>(countLimit: -1)
      case .totalCostLimit: _ = LocalCache<Int, Int>(totalCostLimit: -1)
      case .noTotalCostLimit: _ = LocalCache<Int, Int>(policy: .costAware)
      case .setCountLimit: cache.countLimit = -1
      case .cost: cache.insert(1, forKey: 1, cost: -1)
      case .costFunction: LocalCache<Int, Int>(cost: { _, _ in -1 })[1] = 1
      case .trimToCount: cache.trim(toCount: -1)
      case .trimToCost: cache.trim(toCost: -1)
      case .useWhileChanging: cache.withMutableValue(forKey: 1) { $0 = cache[1]! + 1 }
      case .changeWhileChanging:
        cache.withMutableValue(forKey: 1) { _ in cache.withMutableValue(forKey: 1) { $0 += 1 } }
      case .changeWhileLent:
        cache.withValue(forKey: 1) { _ in cache.withMutableValue(forKey: 1) { $0 += 1 } }
      case .takeWhileLent: _ = cache.withValue(forKey: 1) { _ in cache.takeValue(forKey: 1) }
      }
    }
  }

  @Test("It stops the process", arguments: BadCall.allCases)
  func stops(call: BadCall) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [call = call as BadCall] in
      call.perform()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains(call.words), "\(message)")
    let isPlaced = message.contains("LarderTests/LocalBadInputTests.swift:")
    #expect(isPlaced == call.knowsPlace, "\(message)")
  }
}
