// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

@Suite("A second chance for evicted objects", .timeLimit(.minutes(20)))
struct SecondChanceTests {
  typealias TrackedCache = Cache<Int, Tracked>

  private func options(_ chances: Int) -> TrackedCache.Options {
    var options = TrackedCache.Options()
    options.secondChances = chances
    return options
  }

  @Test("A living object comes back with its cost, and a dead one does not", arguments: [1, 4])
  func livingObjectsComeBack(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(
      countLimit: 10, policy: .lru, shards: shards, options: options(1_000))
    var held: [Int: Tracked] = [:]
    for key in 0..<100 {
      let value = tracker.make(key)
      if key % 3 == 0 { held[key] = value }
      cache.insert(value, forKey: key, cost: key)
    }
    cache.trim(toCount: 0)
    #expect(settles(tracker, at: 34, cache))
    for key in 0..<100 {
      #expect(cache.value(forKey: key) == nil)
      let value = cache.survivingValue(forKey: key)
      #expect(value === held[key])
      #expect(cache.peek(forKey: key) === held[key])
      #expect(cache.count <= 10)
    }
    #expect(cache.totalCost == cache.keys.reduce(0, +))
    cache.checkInvariants()
    held = [:]
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  @Test("An object does not come back if it expires while room is made for it")
  func late() {
    let tracker = LifetimeTracker()
    let clock = ManualClock()
    let isArmed = Protected(false)
    var options = TrackedCache.Options(
      shouldEvict: { _, _ in
        if isArmed.withLock({ $0 }) { clock.advance(by: .seconds(60)) }
        return true
      }, clock: .manual(clock))
    options.secondChances = 16
    let cache = TrackedCache(
      countLimit: 1, policy: .lru, expiration: .afterWrite(.seconds(10)), options: options)
    let held = tracker.make(1)
    cache[1] = held
    cache[2] = tracker.make(2)
    isArmed.withLock { $0 = true }
    #expect(cache.survivingValue(forKey: 1) == nil)
    isArmed.withLock { $0 = false }
    #expect(cache.survivingValue(forKey: 1) == nil)
    withExtendedLifetime(held) {}
  }

  @Test("An object does not come back if its key was replaced or removed since")
  func notStale() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(countLimit: 10, policy: .lru, options: options(100))
    let first = tracker.make(1)
    let second = tracker.make(2)
    let writes: [(TrackedCache) -> Void] = [
      { $0[1] = nil }, { $0.removeValue(forKey: 1) }, { $0.removeAll() },
      { $0.removeAll { _, _ in false } }, { $0.updateValue(second, forKey: 1) },
      { $0.insert(second, forKey: 1) }, { $0.removeValue(forKey: 1) { $0 === first } },
    ]
    for write in writes {
      cache[1] = first
      cache.trim(toCount: 0)
      write(cache)
      #expect(cache.survivingValue(forKey: 1) !== first)
      cache[1] = nil
      #expect(cache.survivingValue(forKey: 1) == nil)
      #expect(cache.isEmpty)
    }
    withExtendedLifetime((first, second)) {}
  }

  @Test("A removed group does not come back, nor do its evicted members")
  func removedGroupStaysAway() {
    let tracker = LifetimeTracker()
    var options = TrackedCache.Options(groups: .by { $0 / 10 })
    options.secondChances = 100
    let cache = TrackedCache(options: options)
    let held = (0..<20).map { tracker.make($0) }
    for key in 0..<20 { cache[key] = held[key] }
    cache.trim(toCount: 0)
    #expect(cache.survivingValue(forKey: 3) === held[3])
    cache.removeAll(inGroup: 0)
    #expect((0..<10).allSatisfy { cache.survivingValue(forKey: $0) == nil })
  }

  @Test("Keys that do not equal themselves leave nothing behind")
  func unequalKeys() {
    let tracker = LifetimeTracker()
    var options = Cache<Double, Tracked>.Options()
    options.secondChances = 10
    let cache = Cache<Double, Tracked>(countLimit: 1, options: options)
    let held = tracker.make()
    for _ in 0..<100 { cache[.nan] = held }
    #expect(cache.secondChanceCount == 0 && cache.survivingValue(forKey: .nan) == nil)
  }

  @Test("The table is bounded, and dead objects are swept from it")
  func tableIsBoundedAndSwept() {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(countLimit: 1, policy: .lru, options: options(64))
    var held: [Tracked] = []
    for key in 0..<5_000 {
      held.append(tracker.make(key))
      cache[key] = held[key]
      #expect(cache.secondChanceCount <= 64)
    }
    #expect(cache.secondChanceCount == 64)
    #expect((0..<4_500).allSatisfy { cache.survivingValue(forKey: $0) == nil })
    held = []
    cache.removeValue(forKey: 4_999)
    cache.reclaim()
    #expect(settles(tracker, at: 0, cache))
    cache.reclaim()
    #expect(cache.secondChanceCount == 0)
  }

  @Test("No chances, a negative number, and caches without limits")
  func extremeNumbersOfChances() async {
    let tracker = LifetimeTracker()
    let cache = TrackedCache(options: options(0))
    cache[1] = tracker.make(1)
    #expect(cache.survivingValue(forKey: 1) != nil && cache.survivingValue(forKey: 2) == nil)
    let one = TrackedCache(options: options(1))
    let value = tracker.make(1)
    one[1] = value
    one.trim(toCount: 0)
    #expect(one.survivingValue(forKey: 1) === value)
    await #expect(processExitsWith: .failure) {
      var options = TrackedCache.Options()
      options.secondChances = -1
      _ = TrackedCache(options: options)
    }
  }

  @Test("A deinit may look for survivors")
  func deinitMayLookForSurvivors() {
    let tracker = LifetimeTracker()
    let home = Protected<TrackedCache?>(nil)
    let cache = TrackedCache(countLimit: 4, policy: .lru, options: options(16))
    home.withLock { $0 = cache }
    for key in 0..<2_000 {
      cache[key % 50] = tracker.make(key) {
        guard let cache = home.withLock({ $0 }) else { return }
        _ = cache.survivingValue(forKey: (key + 1) % 50)
        if key % 7 == 0 { cache[key % 50] = nil }
        if key % 100 == 0 { cache.reclaim() }
      }
    }
    home.withLock { $0 = nil }
    cache.removeAll()
    cache.checkInvariants()
    #expect(settles(tracker, at: 0, cache))
    #expect(tracker.faults.isEmpty)
  }

  /// Each key has one writer, whose values count up. The writer removes the key now and then. A
  /// lookup that begins after a write has returned must find nothing older.
  @Test(
    "No reader ever sees a value older than the last write that returned before", arguments: [1, 4])
  func noStaleValueUnderRaces(shards: Int) {
    let tracker = LifetimeTracker()
    let keys = 24
    let written = (0..<keys).map { _ in Boxed() }
    let revivals = Atomic(0)
    let working = Atomic(3)
    do {
      let cache = TrackedCache(countLimit: 6, policy: .lru, shards: shards, options: options(64))
      onThreads(5) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        guard thread < 3 else {
          while working.load(ordering: .acquiring) > 0 {
            let key = random.below(keys)
            // The last write that has returned.
            let least = written[key].version.load(ordering: .acquiring)
            let wasStored = cache.contains(key)
            if let value = cache.survivingValue(forKey: key) {
              precondition(value.isIntact)
              precondition(value.payload >= least, "\(value.payload) is older than \(least)")
              if !wasStored { revivals.add(1, ordering: .relaxed) }
            }
          }
          return
        }
        var held: [Tracked] = []
        let writes = Stress.scaled(20_000, atLeast: 1_000)
        var version = 0
        // Where processors are few, longer: until something came back.
        while version < writes
          || revivals.load(ordering: .relaxed) == 0 && version < 1_000 * writes
        {
          version += 1
          let key = random.below(keys / 3) * 3 + thread
          if random.below(6) == 0 {
            cache[key] = nil
            // No value written so far may be seen any more.
            written[key].version.store(version, ordering: .releasing)
          } else {
            let value = tracker.make(version)
            held.append(value)
            if held.count > 40 { held.removeFirst(20) }
            cache[key] = value
            written[key].version.store(version, ordering: .releasing)
          }
          if random.below(200) == 0 { cache.reclaim() }
        }
        working.subtract(1, ordering: .releasing)
      }
      cache.checkInvariants()
    }
    #expect(revivals.load(ordering: .relaxed) > 0)
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("What came back and then expired does not come back, whatever was written meanwhile")
  func restoredThenExpired() {
    let (clock, tracker) = (ManualClock(), LifetimeTracker())
    let isArmed = Atomic(false)
    let own = Protected<TrackedCache?>(nil)
    var options = options(64)
    options.clock = .manual(clock)
    options.onRemoval = { _, _, _, _ in
      guard isArmed.exchange(false, ordering: .relaxed) else { return }
      // Writes to all stripes while the object comes back.
      for key in 1_000..<1_400 { own.withLock { $0 }?.removeValue(forKey: key) }
    }
    let cache = TrackedCache(countLimit: 2, policy: .lru, options: options)
    own.withLock { $0 = cache }
    let values = (1...3).map { tracker.make($0) }
    for value in values { cache[value.payload] = value }
    isArmed.store(true, ordering: .relaxed)
    #expect(cache.survivingValue(forKey: 1) === values[0])
    let wasTold = !isArmed.load(ordering: .relaxed)
    #expect(wasTold)
    #expect(cache.setLifetime(.seconds(1), forKey: 1))
    clock.advance(by: .seconds(2))
    #expect(cache.value(forKey: 1) == nil && cache.survivingValue(forKey: 1) == nil)
    own.withLock { $0 = nil }
  }

  private final class Boxed: Sendable {
    let version = Atomic(0)
  }
}
