// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Responses that are not just fractions: closures, and objects that others hold.
@Suite("Pressure responses")
struct PressureResponseTests {
  private static func filled(_ pressure: PressureResponse) -> Cache<Int, Int> {
    PressureTests.filled(pressure: pressure)
  }

  @Test("A closure is asked at every level but normal, and its answer is carried out")
  func closure() async {
    await #expect(processExitsWith: .success) {
      let asked = Protected<[MemoryPressure.Level]>([])
      let cache = Self.filled(
        PressureResponse { level in
          asked.withLock { $0.append(level) }
          return level == .warning ? .keepAll : .keep(0.25)
        })
      MemoryPressure.report(.warning)
      #expect(cache.count == 100)
      #expect(cache.effectiveCountLimit == 100)
      MemoryPressure.report(.critical)
      #expect(cache.count == 25)
      MemoryPressure.report(.normal)
      #expect(asked.withLock { $0 } == [.warning, .critical])
    }
  }

  @Test("removeAll removes all and leaves the limits")
  func removesAll() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.filled(
        PressureResponse(onWarning: .removeAll, onCritical: .removeAll, minimumCount: 3))
      MemoryPressure.report(.warning)
      #expect(cache.count == 3)
      #expect(cache.effectiveCountLimit == 100)
    }
  }

  @Test("The limit covers what minimumCount protects, also what came meanwhile", arguments: [1, 3])
  func protected(least: Int) async {
    await #expect(processExitsWith: .success) { [least] in
      for policy in EvictionPolicy.allCases {
        let reference = Protected<Cache<Int, Int>?>(nil)
        let cache = Cache<Int, Int>(
          totalCostLimit: 100, policy: policy,
          options: .init(
            shards: 1,
            onRemoval: { _, _, _, cause in
              guard cause == .pressure, let cache = reference.withLock({ $0.take() }) else {
                return
              }
              cache.insert(0, forKey: 1_000, cost: 60)
            },
            pressure: PressureResponse(warning: 0.5, critical: 0.1, minimumCount: least)))
        reference.withLock { $0 = cache }
        for key in 0..<30 { cache.insert(key, forKey: key, cost: 1) }
        MemoryPressure.report(.critical)
        for _ in 0..<3 {
          #expect(cache.count >= least)
          #expect(cache.totalCost <= cache.effectiveTotalCostLimit, "\(policy)")
          MemoryPressure.report(.critical)
        }
        MemoryPressure.report(.normal)
      }
    }
  }

  @Test("A closure may use the cache, and change its response")
  func closureUsesTheCache() async {
    await #expect(processExitsWith: .success) {
      let reference = Protected<Cache<Int, Int>?>(nil)
      let cache = Self.filled(
        PressureResponse { _ in
          let cache = reference.withLock { $0 }!
          cache.removeAll()
          for key in 0..<50 { cache[key] = key }
          cache.pressure = .ignore
          return .keep(0)
        })
      reference.withLock { $0 = cache }
      MemoryPressure.report(.critical)
      #expect(cache.count == 50)
      #expect(cache.effectiveCountLimit == 100)
      MemoryPressure.report(.critical)
      #expect(cache.count == 50)
    }
  }

  @Test("A closure may drop the last reference to its cache, or report itself")
  func closureDropsTheCache() async {
    await #expect(processExitsWith: .success) {
      let tracker = LifetimeTracker()
      let reference = Protected<Cache<Int, Tracked>?>(Cache(countLimit: 100))
      let other = Self.filled(.default)
      Self.prepare(reference, tracker)
      MemoryPressure.report(.warning)
      #expect(tracker.live == 0)
      #expect(other.count == 10)
    }
  }

  /// Fills a cache whose closure drops it.
  private static func prepare(
    _ reference: Protected<Cache<Int, Tracked>?>, _ tracker: LifetimeTracker
  ) {
    let cache = reference.withLock { $0! }
    for key in 0..<100 { cache[key] = tracker.make(key) }
    cache.pressure = PressureResponse { level in
      if level == .warning { MemoryPressure.report(.critical) }
      let last = reference.withLock { $0.take() }
      withExtendedLifetime(last) {}
      return .keep(0.5)
    }
  }

  @Test("A fraction is one of what there was before the closure was asked")
  func closureTrims() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 1_000, policy: .lru)
      for key in 0..<1_000 { cache[key] = key }
      cache.pressure = PressureResponse { [weak cache] _ in
        cache?.trim(toCount: 60)
        return .keep(0.5)
      }
      MemoryPressure.report(.warning)
      #expect(cache.count == 60 && cache.effectiveCountLimit == 500)
    }
  }

  @Test("To ignore pressure for a while does not make it begin anew")
  func ignoredMeanwhile() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setRoot(FakeRoot().path)
      let cache = Cache<Int, Int>(countLimit: 1_000, policy: .lru)
      for key in 0..<1_000 { cache[key] = key }
      MemoryPressure.report(.critical)
      for _ in 0..<3 {
        cache.pressure = .ignore
        #expect(cache.effectiveCountLimit == 1_000)
        cache.pressure = .default
        #expect(cache.count == 100 && cache.effectiveCountLimit == 100)
      }
      // Once it is over, it does begin anew.
      cache.pressure = .ignore
      MemoryPressure.report(.normal)
      MemoryPressure.report(.critical)
      cache.pressure = .default
      #expect(cache.count == 10)
    }
  }

  @Test("A limit is not lowered below a sixteenth, rounded up")
  func sixteenth() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 100)
      cache.pressure = PressureResponse(warning: 0, critical: 0)
      MemoryPressure.report(.warning)
      #expect(cache.effectiveCountLimit == 7)
    }
  }

  @Test("keepReferenced removes what nobody else holds, and nothing else", arguments: [1, 4])
  func keepsReferenced(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards] in
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(
        countLimit: 3_000, shards: shards,
        options: .init(
          pressure: PressureResponse(
            onWarning: .keepReferenced, onCritical: .removeAll, inBackground: .keepReferenced)))
      var held: [Tracked] = []
      for key in 0..<3_000 {
        let value = tracker.make(key)
        if key % 3 == 0 { held.append(value) }
        cache[key] = value
      }
      MemoryPressure.report(.warning)
      #expect(cache.count == 1_000)
      #expect(held.allSatisfy { cache.contains($0.payload) })
      #expect(cache.effectiveCountLimit == 3_000)
      held.removeLast(900)
      MemoryPressure.enterBackground()
      #expect(cache.count == 100)
      #expect(tracker.live == 100)
      cache.checkInvariants()
    }
  }

  enum BadResponse: String, CaseIterable, Codable, Sendable {
    case warning, critical, background, minimumCount, onWarning, onCritical, inBackground, fraction

    func make() {
      switch self {
      case .warning: _ = PressureResponse(warning: 1.01)
      case .critical: _ = PressureResponse(critical: .nan)
      case .background: _ = PressureResponse(background: -0.1)
      case .minimumCount: _ = PressureResponse(minimumCount: -1)
      case .onWarning: _ = PressureResponse(onWarning: .keep(.nan), onCritical: .removeAll)
      case .onCritical: _ = PressureResponse(onWarning: .removeAll, onCritical: .keep(2))
      case .inBackground:
        _ = PressureResponse(
          onWarning: .keepAll, onCritical: .keepAll, inBackground: .keep(.infinity))
      case .fraction:
        let cache = Cache<Int, Int>()
        cache.pressure = PressureResponse { _ in .keep(-1) }
        MemoryPressure.report(.warning)
      }
    }
  }

  @Test("A bad number ends the process and names the argument", arguments: BadResponse.allCases)
  func badInput(response: BadResponse) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [response] in
      response.make()
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains(response.rawValue + " must"), "\(said)")
  }
}
