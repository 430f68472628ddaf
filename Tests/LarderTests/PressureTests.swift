// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What caches give up when memory runs short. The level is one of the process, so each test has a
/// process of its own.
@Suite("Memory pressure")
struct PressureTests {
  static func filled(
    _ count: Int = 100, limit: Int = 100, pressure: PressureResponse = .default
  ) -> Cache<Int, Int> {
    let cache = Cache<Int, Int>(countLimit: limit, policy: .lru, options: .init(pressure: pressure))
    for key in 0..<count { cache[key] = key }
    return cache
  }

  static func keys(_ cache: Cache<Int, Int>) -> Set<Int> { Set(cache.snapshot().map(\.key)) }

  @Test("A warning keeps the hottest half, critical a tenth, and normal removes nothing")
  func graded() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.filled()
      for key in 0..<10 { _ = cache[key] }
      MemoryPressure.report(.warning)
      #expect(MemoryPressure.current == .warning)
      #expect(Self.keys(cache) == Set(0..<10).union(60..<100))
      MemoryPressure.report(.critical)
      #expect(Self.keys(cache) == Set(0..<10))
      MemoryPressure.report(.normal)
      #expect(MemoryPressure.current == .normal)
      #expect(cache.count == 10)
      #expect(cache.statistics.evictionsByPressure == 90)
      #expect(cache.statistics.evictions == 90)
      #expect(cache.statistics.trimEvictions == 0)
      cache.checkInvariants()
    }
  }

  @Test("A gentler response lifts the limit while the level lasts")
  func gentler() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let cache = Self.filled(pressure: PressureResponse(critical: 0.1))
      MemoryPressure.report(.critical)
      #expect(cache.effectiveCountLimit == 10)
      // No step is pending any more: the cap is where it is to be.
      MemoryPressure.pass(hours: 1)
      cache.pressure = PressureResponse(critical: 0.5)
      waitUntil("the limit rises") { cache.effectiveCountLimit == 50 }
      #expect(cache.count == 10)
    }
  }

  @Test("Each cache has fractions and a floor of its own")
  func fractionsAndFloors() async {
    await #expect(processExitsWith: .success) {
      let generous = Self.filled(pressure: PressureResponse(warning: 0.75, critical: 0.25))
      let floored = Self.filled(pressure: PressureResponse(minimumCount: 30))
      MemoryPressure.report(.warning)
      #expect(generous.count == 75)
      #expect(floored.count == 50)
      MemoryPressure.report(.critical)
      #expect(generous.count == 25)
      #expect(floored.count == 30)
      #expect(floored.effectiveCountLimit == 30)
    }
  }

  @Test("Fractions of entries are rounded up, so that small caches keep some", arguments: [0, 10])
  func roundedUp(spare: Int) async {
    await #expect(processExitsWith: .success) { [spare] in
      let small = (1...11).map { Self.filled($0, limit: $0 + spare) }
      let free = (1...11).map { Self.filled($0, limit: 0) }
      let emptied = Self.filled(4, pressure: PressureResponse(critical: 0))
      let whole = Self.filled(3, limit: 3, pressure: PressureResponse(warning: 1, critical: 1))
      // As doubles, 0.07 * 100 is above 7, and 0.29 * 100 below 29.
      let exact = [0.07, 0.29].map { Self.filled(pressure: PressureResponse(critical: $0)) }
      MemoryPressure.report(.critical)
      for caches in [small, free] {
        #expect(caches.map(\.count) == Array(repeating: 1, count: 10) + [2])
      }
      #expect(emptied.isEmpty)
      #expect(whole.count == 3)
      #expect(exact.map(\.count) == [7, 29])
      #expect(exact.map(\.effectiveCountLimit) == [7, 29])
    }
  }

  @Test("A cache that ignores pressure keeps everything, and its limits")
  func ignores() async {
    await #expect(processExitsWith: .success) {
      let cache = Self.filled(pressure: .ignore)
      let late = Self.filled()
      late.pressure = .ignore
      MemoryPressure.report(.critical)
      #expect(cache.count == 100)
      #expect(late.count == 100)
      #expect(cache.effectiveCountLimit == 100)
      // Ignoring ends what was there of an answer; heeding again brings one at once.
      late.pressure = .default
      #expect(late.count == 10)
      #expect(late.effectiveCountLimit == 10)
      late.pressure = .ignore
      #expect(late.effectiveCountLimit == 100)
    }
  }

  @Test("Repeated warnings do not compound; what has come since goes")
  func repeated() async {
    await #expect(processExitsWith: .success) {
      let limited = Self.filled()
      let free = Self.filled(limit: 0)
      for _ in 0..<5 { MemoryPressure.report(.warning) }
      #expect(limited.count == 50)
      #expect(free.count == 50)
      for key in 200..<230 { free[key] = key }
      MemoryPressure.report(.warning)
      #expect(free.count == 50)
      #expect(Self.keys(free).isSuperset(of: 200..<230))
      // It has never been so large: now the fraction is one of that.
      for key in 300..<500 { free[key] = key }
      MemoryPressure.report(.warning)
      #expect(free.count == 125)
    }
  }

  @Test("What comes under a lowered limit stays, however often the level is reported")
  func keptUnderTheCap() async {
    await #expect(processExitsWith: .success) {
      let halfEmpty = Self.filled(30)
      MemoryPressure.report(.critical)
      #expect(halfEmpty.count == 3)
      let late = Self.filled(0)
      let costly = Cache<Int, Int>(totalCostLimit: 100)
      for cache in [halfEmpty, late] {
        for key in 100..<200 { cache[key] = key }
        #expect(cache.count == 10)
      }
      for key in 0..<20 { costly.insert(key, forKey: key, cost: 1) }
      #expect(costly.totalCost == 10)
      for _ in 0..<5 { MemoryPressure.report(.critical) }
      #expect(halfEmpty.count == 10)
      #expect(late.count == 10)
      #expect(costly.totalCost == 10)
    }
  }

  @Test("Levels that many threads report at once end in the last one of each")
  func concurrentReports() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let cache = Self.filled()
      for _ in 0..<200 {
        onThreads(4) { thread in
          MemoryPressure.report(thread % 2 == 0 ? .critical : .warning)
          if thread % 2 == 0 { MemoryPressure.enterBackground() }
          MemoryPressure.report(.normal)
          MemoryPressure.enterForeground()
        }
        #expect(MemoryPressure.current == .normal)
        waitUntil(deadline: 60, "the limit is back") { cache.effectiveCountLimit == 100 }
      }
    }
  }

  @Test("Where costs are limited, fractions are of the cost")
  func costs() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(totalCostLimit: 10_000, policy: .lru)
      for key in 0..<100 { cache.insert(key, forKey: key, cost: 100) }
      MemoryPressure.report(.warning)
      #expect(cache.totalCost == 5_000)
      #expect(cache.effectiveTotalCostLimit == 5_000)
      #expect(cache.totalCostLimit == 10_000)
      // Values for less than the lowered limit go on to be stored.
      #expect(cache.insert(0, forKey: 1_000, cost: 200).isStored)
      cache.pressure = PressureResponse(critical: 0, minimumCount: 20)
      MemoryPressure.report(.critical)
      #expect(cache.count == 20)
      #expect(cache.effectiveTotalCostLimit >= cache.totalCost)
    }
  }

  @Test("The observer hears of the cause", arguments: [1, 4])
  func observer(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards] in
      let causes = Protected<[RemovalCause: Int]>([:])
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(
        countLimit: 100, policy: .lru, shards: shards,
        onRemoval: { key, value, _, cause in
          precondition(value.isIntact && value.payload == key)
          causes.withLock { $0[cause, default: 0] += 1 }
        })
      for key in 0..<100 { cache[key] = tracker.make(key) }
      MemoryPressure.report(.warning)
      #expect(causes.withLock { $0 } == [.pressure: 50])
      #expect(tracker.live == 50)
      #expect(cache.count == 50)
      cache.checkInvariants()
    }
  }

  @Test(
    "What has expired goes first, and is no eviction", arguments: [1, 4], [40, 1_000, 1_000_000])
  func expired(shards: Int, microseconds: Int) async {
    await #expect(processExitsWith: .success) { [shards, microseconds] in
      let lifetime = Duration.microseconds(microseconds)
      let clock = ManualClock()
      let causes = Protected<[RemovalCause: Int]>([:])
      let cache = Cache<Int, Int>(
        countLimit: 100, policy: .lru, shards: shards, options: .init(clock: .manual(clock)))
      cache.observeRemovals { _, _, _, _, cause in
        causes.withLock { $0[cause, default: 0] += 1 }
      }
      for key in 0..<70 { cache[key] = key }
      for key in 70..<100 { cache.insert(key, forKey: key, expiresAfter: lifetime) }
      clock.advance(by: lifetime * 2)
      MemoryPressure.report(.warning)
      #expect(causes.withLock { $0 } == [.expired: 30, .pressure: 20])
      #expect(cache.statistics.expirations == 30)
      #expect(cache.statistics.evictionsByPressure == 20)
      #expect(shards > 1 || (50..<70).allSatisfy { cache[$0] == $0 })
      cache.pressure = PressureResponse(onWarning: .removeAll, onCritical: .removeAll)
      cache.insert(0, forKey: 0, expiresAfter: lifetime)
      clock.advance(by: lifetime * 2)
      MemoryPressure.report(.warning)
      #expect(cache.isEmpty)
      #expect(cache.statistics.expirations == 31)
      cache.checkInvariants()
    }
  }

  /// The search for it takes bounded steps, and uses have moved those that it comes by first.
  @Test("What has expired goes first, however many were used", arguments: [100, 250, 1_000])
  func expiredBehindUsed(used: Int) async {
    await #expect(processExitsWith: .success) { [used] in
      let clock = ManualClock()
      let (expired, all) = (0..<20, 0..<20 + used)
      let pressure = PressureResponse(warning: 1 - 10 / Double(all.count))
      let cache = Cache<Int, Int>(
        policy: .lfu, shards: 1, expiration: .afterAccess(.seconds(1)),
        options: .init(clock: .manual(clock), pressure: pressure))
      for key in all { cache[key] = key }
      for key in expired { for _ in 0..<10 { _ = cache[key] } }
      clock.advance(by: .milliseconds(700))
      for key in 20..<all.count { #expect(cache[key] == key) }
      clock.advance(by: .milliseconds(303))
      MemoryPressure.report(.warning)
      #expect(cache.statistics.evictionsByPressure == 0 && cache.statistics.expirations >= 10)
      cache.checkInvariants()
    }
  }

  @Test("Evictions by pressure are remembered like others, and objects get second chances")
  func extras() async {
    await #expect(processExitsWith: .success) {
      var options = Cache<Int, Tracked>.Options(rememberedEvictions: 1_000)
      options.secondChances = 10_000
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(countLimit: 100, policy: .fifo, options: options)
      let kept = (0..<100).map { tracker.make($0) }
      for key in 0..<100 { cache[key] = kept[key] }
      cache.pressure = PressureResponse(warning: 0)
      MemoryPressure.report(.warning)
      #expect(cache.isEmpty)
      // It forgets a few early.
      #expect((0..<100).count { cache.wasEvicted($0) } > 80)
      #expect(cache.survivingValue(forKey: 7) === kept[7])
    }
  }
}
