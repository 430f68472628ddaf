// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// A bug in the caller ends the process, with a message that names the argument.
@Suite("Bad input")
struct BadInputTests {
  private final class Object: Sendable {}

  enum BadCall: String, CaseIterable, Codable, Sendable {
    case initCountLimit, initTotalCostLimit, initNoShards, initNegativeShards
    case initCheapestFirstWithoutCosts, initCostAwareWithoutCosts
    case setCountLimit, setTotalCostLimit, setNoTotalCostLimit
    case insertCost, updateCost, insertLeastCost
    case trimToCount, trimToCost, hottest, coldest, trimCostliest, trimOldest, modifyCost
    case preferredCount, rememberedEvictions, pendingLimit, quota, costFunction, share
    case secondChances, minimumCount, warning, onCritical, background, respond, age

    /// Whether the message names the place of the call. A setter does not know it.
    var knowsPlace: Bool { !rawValue.hasPrefix("set") }

    /// Words of which the message contains one.
    var argument: Set<Substring> {
      switch self {
      case .initCountLimit, .setCountLimit: ["countLimit"]
      case .initTotalCostLimit, .setTotalCostLimit, .setNoTotalCostLimit: ["totalCostLimit"]
      case .initCheapestFirstWithoutCosts, .initCostAwareWithoutCosts: ["totalCostLimit"]
      case .initNoShards, .initNegativeShards: ["shards"]
      case .insertCost, .updateCost, .insertLeastCost: ["cost"]
      case .trimToCount: ["toCount", "count"]
      case .trimToCost: ["toCost", "cost"]
      case .hottest, .coldest: ["n", "count"]
      case .trimCostliest, .modifyCost, .costFunction: ["cost"]
      case .trimOldest: ["count"]
      case .share: ["fraction"]
      case .preferredCount, .rememberedEvictions, .pendingLimit, .quota, .secondChances,
        .minimumCount, .warning, .onCritical, .background, .age:
        [rawValue[...]]
      case .respond: ["fraction"]
      }
    }

    func perform() async {
      let cache = Cache<Int, Int>()
      cache[1] = 1
      switch self {
      case .initCountLimit: _ = Cache<Int, Int>(countLimit: -1)
      case .initTotalCostLimit: _ = Cache<Int, Int>(totalCostLimit: -1)
      case .initNoShards: _ = Cache<Int, Int>(shards: 0)
      case .initNegativeShards: _ = Cache<Int, Int>(shards: -4)
      case .initCheapestFirstWithoutCosts:
        _ = Cache<Int, Int>(countLimit: 10, policy: .cheapestFirst)
      case .initCostAwareWithoutCosts: _ = Cache<Int, Int>(countLimit: 10, policy: .costAware)
      case .setCountLimit: cache.countLimit = -1
      case .setTotalCostLimit: cache.totalCostLimit = .min
      case .setNoTotalCostLimit:
        Cache<Int, Int>(totalCostLimit: 1, policy: .costAware).totalCostLimit = 0
      case .insertCost: cache.insert(2, forKey: 2, cost: -1)
      case .updateCost: cache.updateValue(2, forKey: 1, cost: -1)
      case .insertLeastCost: cache.insert(2, forKey: 1, cost: .min)
      case .trimToCount: cache.trim(toCount: -1)
      case .trimToCost: cache.trim(toCost: -1)
      case .hottest: _ = cache.hottest(-1)
      case .coldest: _ = cache.coldest(-1)
      case .trimCostliest: cache.trimCostliest(toCost: -1)
      case .trimOldest: cache.trimOldest(toCount: -1)
      case .modifyCost: cache.modifyValue(forKey: 1, cost: -1) { $0 += 1 }
      case .preferredCount: _ = Cache<Int, Int>(options: .init(preferredCount: -1))
      case .rememberedEvictions: _ = Cache<Int, Int>(options: .init(rememberedEvictions: -1))
      case .pendingLimit: _ = ValueRelease<Int>.background(pendingLimit: -1)
      case .quota:
        Cache<Int, Int>(options: .init(groups: .by({ $0 }, quota: { _ in -1 })))[1] = 1
      case .costFunction: Cache<Int, Int>(cost: { _, _ in -1 })[1] = 1
      case .share: _ = PhysicalMemory.share(0)
      case .secondChances: _ = Cache<Int, Object>(options: .init(secondChances: -1))
      case .minimumCount: _ = PressureResponse(minimumCount: -1)
      case .warning: _ = PressureResponse(warning: 1.5)
      case .onCritical: _ = PressureResponse(onWarning: .keepAll, onCritical: .keep(.nan))
      case .background: _ = PressureResponse(background: -0.5) { _ in .keepAll }
      case .respond:
        cache.pressure = PressureResponse { _ in .keep(2) }
        MemoryPressure.report(.warning)
      case .age: await cache.background.trim(toAge: .seconds(-1))
      }
    }
  }

  @Test("A call that breaks its contract traps", arguments: BadCall.allCases)
  func badCallTraps(call: BadCall) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [call = call as BadCall] in
      await call.perform()
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let line = message.split(separator: "\n").first {
      $0.contains("negative") || $0.contains("must")
    }
    let words = (line ?? "").split { !$0.isLetter && !$0.isNumber }
    #expect(!call.argument.isDisjoint(with: words), "\(message)")
    #expect(message.contains("LarderTests/BadInputTests.swift:") == call.knowsPlace, "\(message)")
  }

  @Test("The bounds themselves are good input")
  func boundsAreGoodInput() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 0, totalCostLimit: 0, shards: 1)
      cache.insert(1, forKey: 1, cost: 0)
      cache.countLimit = 0
      cache.totalCostLimit = 0
      precondition(cache.hottest(0).isEmpty && cache.coldest(0).isEmpty)
      precondition(cache.hottest(.max).count == 1 && cache.coldest(.max).count == 1)
      cache.trim(toCount: 0)
      cache.trim(toCost: 0)
      for shards in [2, 3, 63, 64, 65, 1_000] { _ = Cache<Int, Int>(shards: shards) }
    }
  }

  @Test("Any number of shards holds all entries", arguments: [1, 2, 3, 5, 33, 64, 65, 1_000])
  func shardCounts(shards: Int) {
    let cache = Cache<Int, Int>(countLimit: 500, shards: shards)
    for key in 0..<1_000 {
      cache[key] = key
      #expect(cache.count <= 500)
    }
    #expect(cache.count == 500)
    #expect(cache.snapshot().allSatisfy { $0.key == $0.value })
    cache.checkInvariants()
  }
}
