// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Pressure while other threads work.
@Suite("Pressure and threads")
struct PressureThreadTests {
  private static func changeLevels(until isDone: () -> Bool) {
    var step = 0
    while !isDone() {
      step += 1
      MemoryPressure.report(MemoryPressure.Level(rawValue: step % 3)!)
      if step % 7 == 0 { MemoryPressure.enterBackground() }
      if step % 7 == 3 { MemoryPressure.enterForeground() }
    }
  }

  private static func makeAndDrop(_ round: Int, _ tracker: LifetimeTracker) {
    var options = Cache<Int, Tracked>.Options(pressure: PressureResponse(background: 0.5))
    if round % 5 == 0 { options.pressure = PressureResponse { _ in .keep(0.5) } }
    let observer: Cache<Int, Tracked>.RemovalObserver = { _, value, _, _ in
      precondition(value.isIntact)
    }
    let cache = Cache<Int, Tracked>(
      countLimit: 64, shards: 1 + round % 2, onRemoval: round % 3 == 0 ? observer : nil,
      options: options)
    for key in 0..<100 { cache[key] = tracker.make(key) }
    if round % 4 == 0 { cache.pressure = .ignore }
    if round % 16 == 0 { cache.checkInvariants() }
  }

  @Test("A thousand caches come and go while levels change")
  func cachesComeAndGo() async {
    await #expect(processExitsWith: .success) {
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let tracker = LifetimeTracker()
      let done = Protected(0)
      onThreads(4) { thread in
        if thread == 0 {
          Self.changeLevels { done.withLock { $0 } == 3 }
        } else {
          for round in 0..<Stress.scaled(1_000, atLeast: 334) { Self.makeAndDrop(round, tracker) }
          done.withLock { $0 += 1 }
        }
      }
      MemoryPressure.report(.normal)
      waitUntil("all values are released") { tracker.live == 0 }
      #expect(tracker.faults.isEmpty)
    }
  }

  @Test("Readers, writers and pressure share a cache", arguments: [1, 4])
  func sharedCache(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards] in
      MemoryPressure.setPause(nanoseconds: 1_000_000)
      let tracker = LifetimeTracker()
      let causes = Protected<[RemovalCause: Int]>([:])
      let cache = Cache<Int, Tracked>(
        countLimit: 500, shards: shards,
        onRemoval: { _, value, _, cause in
          precondition(value.isIntact)
          causes.withLock { $0[cause, default: 0] += 1 }
        })
      for key in 0..<500 { cache[key] = tracker.make(key) }
      MemoryPressure.report(.warning)
      let done = Protected(0)
      onThreads(4) { thread in
        guard thread > 0 else { return Self.changeLevels { done.withLock { $0 } == 3 } }
        var random = SplitMix64(seed: UInt64(thread))
        for step in 0..<Stress.scaled(100_000) {
          let key = Int(random.next() % 1_000)
          if step % 4 == 0 {
            cache[key] = tracker.make(key)
          } else if let value = cache[key] {
            precondition(value.isIntact && value.payload == key)
          }
        }
        done.withLock { $0 += 1 }
      }
      cache.checkInvariants()
      let statistics = cache.statistics
      #expect(causes.withLock { $0[.pressure, default: 0] } == statistics.evictionsByPressure)
      #expect(statistics.evictionsByPressure >= 250)
      #expect(cache.count <= 500)
      cache.reclaim()
      waitUntil("removed values are released") { tracker.live == cache.count }
      #expect(tracker.faults.isEmpty)
    }
  }

  @Test("Of two threads that set a response, one wins everywhere")
  func settersAtOnce() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(countLimit: 4)
      let probe = Cache<Int, Int>(countLimit: 4)
      for key in 0..<4 {
        cache[key] = key
        probe[key] = key
      }
      MemoryPressure.stop()
      for _ in 0..<20 {
        onThreads(2) { thread in cache.pressure = thread == 0 ? .ignore : .default }
        probe.pressure = cache.pressure
        MemoryPressure.report(.warning)
        #expect(cache.effectiveCountLimit == probe.effectiveCountLimit)
        MemoryPressure.report(.normal)
        cache.pressure = .ignore
        probe.pressure = .ignore
      }
    }
  }

  @Test("What is stored during an answer stays within the lowered limits", arguments: [1, 4])
  func storedMeanwhile(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards] in
      for _ in 0..<20 {
        let cache = Cache<Int, Int>(countLimit: 5_000, shards: shards)
        for key in 0..<5_000 { cache[key] = key }
        let stored = Protected(0)
        let answered = Protected(false)
        onThreads(2) { thread in
          if thread == 0 {
            waitUntil("a thread stores") { stored.withLock { $0 } > 50 }
            MemoryPressure.report(.critical)
            answered.withLock { $0 = true }
          } else {
            var key = 10_000
            while !answered.withLock({ $0 }) {
              cache[key] = key
              key += 1
              if key % 64 == 0 { stored.withLock { $0 += 64 } }
            }
          }
        }
        #expect(cache.effectiveCountLimit == 500 && cache.count <= 500)
        MemoryPressure.report(.normal)
      }
    }
  }

  @Test("What the observer stores during an answer stays within them, too", arguments: [1, 4])
  func storedByObserver(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards] in
      let cache = Cache<Int, Int>(countLimit: 1_000, policy: .lru, shards: shards)
      let costly = Cache<Int, Int>(totalCostLimit: 1_000, policy: .lru, shards: shards)
      for cache in [cache, costly] {
        for key in 0..<1_000 { cache.insert(key, forKey: key, cost: 1) }
        cache.observeRemovals { cache, key, value, cost, cause in
          if cause == .pressure { cache.insert(value, forKey: key + 1_000, cost: cost) }
        }
      }
      MemoryPressure.report(.warning)
      #expect(cache.effectiveCountLimit == 500 && cache.count <= 500)
      #expect(costly.effectiveTotalCostLimit == 500 && costly.totalCost <= 500)
      for key in 10_000..<11_000 { cache[key] = key }
      #expect(cache.count == 500)
      cache.checkInvariants()
    }
  }

  @Test("Threads may report the first level of a process at the same time")
  func firstLevel() async {
    for _ in 0..<8 {
      await #expect(processExitsWith: .success) {
        let cache = PressureTests.filled()
        onThreads(8) { _ in MemoryPressure.report(.warning) }
        #expect(cache.count == 50)
      }
    }
  }

  @Test("A closure that does not return holds up only others that must be asked")
  func hangingClosure() async {
    await #expect(processExitsWith: .success) {
      let hanging = Cache<Int, Int>(countLimit: 100)
      let plain = Cache<Int, Int>(countLimit: 100)
      for key in 0..<100 {
        hanging[key] = key
        plain[key] = key
      }
      let isHanging = Protected(false)
      hanging.pressure = PressureResponse { _ in
        isHanging.withLock { $0 = true }
        while true { sleepBriefly() }
      }
      RealThread { MemoryPressure.report(.warning) }.detach()
      waitUntil("the closure hangs") { isHanging.withLock { $0 } }
      #expect(plain.count == 50)
      RealThread { MemoryPressure.report(.critical) }.detach()
      waitUntil("others are answered") { plain.count == 10 }
      #expect(hanging[1] == 1)
    }
  }
}
