// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Memory pressure and objects that somebody else holds: to evict them would free nothing.
@Suite("Memory pressure: held values")
struct HeldValueTests {
  @Test(
    "What somebody else holds goes last", arguments: ["lru", "sieve", "adaptive"], [1, 4])
  func heldGoesLast(name: String, shards: Int) async {
    await #expect(processExitsWith: .success) { [name, shards] in
      let policy = ["lru": EvictionPolicy.lru, "sieve": .sieve][name] ?? .adaptive
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 200, policy: policy, shards: shards)
      var held: [Tracked] = []
      for key in 0..<200 {
        let value = tracker.make(key)
        // The coldest.
        if key < 80 { held.append(value) }
        cache[key] = value
      }
      MemoryPressure.report(.warning)
      #expect(cache.count == 100)
      #expect(held.allSatisfy { cache.contains($0.payload) })
      // Not enough others: some of them go after all.
      MemoryPressure.report(.critical)
      #expect(cache.count == 20)
      #expect(tracker.live == 80)
      cache.checkInvariants()
    }
  }

  /// Which entries of 2,000 are held, and which are read.
  enum Shape: String, CaseIterable, Codable, Sendable {
    case unreadHeld, mixedHeld, allButSome, skewed

    var keep: [Double] { self == .allButSome ? [0.95] : [0.5, 0.9] }

    func isHeld(_ key: Int) -> Bool {
      switch self {
      case .unreadHeld, .mixedHeld, .skewed: key % 5 < 2
      case .allButSome: !(100..<200).contains(key)
      }
    }

    func reads(_ key: Int) -> Int {
      switch self {
      case .unreadHeld: isHeld(key) ? 0 : 1 + key % 7
      case .mixedHeld: isHeld(key) ? key % 13 : 15
      case .allButSome: 0
      case .skewed: 2_000 / (1 + key % 2_000) % 16
      }
    }
  }

  /// Keys come, and come back, beside others: some policies then keep them in other parts.
  private static func fill(
    _ cache: Cache<Int, Tracked>, _ shape: Shape, _ tracker: LifetimeTracker
  ) -> [Tracked] {
    if shape == .skewed {
      for round in 0..<6 {
        for key in 0..<2_400 where round < 2 || key % 3 == round % 3 {
          if cache[key] == nil { cache[key] = tracker.make(key) }
        }
      }
    } else {
      for key in 0..<2_000 { cache[key] = tracker.make(key) }
    }
    for key in 0..<2_400 { for _ in 0..<shape.reads(key) { _ = cache[key] } }
    return cache.snapshot().filter { shape.isHeld($0.key) }.map(\.value)
  }

  // Not under ThreadSanitizer: one thread, and the one that listens, as in other tests here.
  @Test(
    "What nobody holds goes before what somebody holds, whatever was read",
    arguments: EvictionPolicy.allCases.filter { !$0.needsCosts }, Shape.allCases)
  func unheldGoFirst(policy: EvictionPolicy, shape: Shape) async {
    await #expect(processExitsWith: .success) {
      [name = policy.rawValue as String, shape = shape as Shape] in
      MemoryPressure.setRoot(FakeRoot().path)
      for keep in shape.keep {
        for (shards, costs) in [(1, false), (4, false), (1, true), (4, true)] {
          let cache = Cache<Int, Tracked>(
            countLimit: costs ? 0 : 2_000, totalCostLimit: costs ? 2_000 : 0,
            policy: EvictionPolicy(rawValue: name)!, shards: shards)
          cache.pressure = PressureResponse(warning: keep)
          let tracker = LifetimeTracker()
          let held = Self.fill(cache, shape, tracker)
          let stay = Int((Double(cache.count) * keep).rounded(.up))
          MemoryPressure.report(.warning)
          #expect(cache.count == stay)
          let left = held.count { cache.contains($0.payload) }
          #expect(left == min(held.count, stay), "\(shards) shards, costs \(costs), \(keep)")
          cache.checkInvariants()
          MemoryPressure.report(.normal)
        }
      }
    }
  }

  @Test("What was held once is no hotter for it")
  func heldOnce() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Tracked>(countLimit: 2_000, shards: 1)
      let tracker = LifetimeTracker()
      do {
        let held = (0..<400).map { tracker.make($0) }
        for value in held { cache[value.payload] = value }
        for key in 400..<2_000 { cache[key] = tracker.make(key) }
        MemoryPressure.report(.warning)
        #expect(held.allSatisfy { cache.contains($0.payload) })
        MemoryPressure.report(.normal)
      }
      waitUntil("the limit is back") {
        MemoryPressure.pass(hours: 1)
        return cache.effectiveCountLimit == 2_000
      }
      for key in 2_000..<2_500 { cache[key] = tracker.make(key) }
      for _ in 0..<10 { for key in 2_000..<2_500 { _ = cache[key] } }
      cache.trim(toCount: 600)
      #expect((2_000..<2_500).count { cache.contains($0) } == 500)
      cache.checkInvariants()
    }
  }
}
