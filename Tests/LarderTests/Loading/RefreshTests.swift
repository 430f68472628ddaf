// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values that are loaded anew while they serve: by age, and early.
@Suite("Refreshes", .timeLimit(.minutes(20)))
struct RefreshTests {
  struct Broken: Error {}

  /// A cache on a clock, whose loader is told the number of the load.
  struct Subject {
    let clock = ManualClock()
    let loads = Counter()
    let cache: LoadingCache<Int, Int>

    init(
      _ loading: LoadingOptions, expiration: Expiration = .never,
      load: @escaping @Sendable (Int, ManualClock) async throws -> Int = { number, _ in number }
    ) {
      cache = LoadingCache(
        expiration: expiration, options: .init(clock: .manual(clock)), loading: loading
      ) { [loads, clock] _ in try await load(loads.next(), clock) }
    }

    /// Waits until all loads have ended.
    func settle() async {
      while cache.cache.flightCount > 0 || cache.cache.countedFlights > 0 { await Task.yield() }
    }
  }

  @Test("The first lookup past the age gets the old value and begins one load", arguments: [0, 60])
  func byAge(lifetime: Int) async throws {
    let gate = Switch()
    let subject = Subject(
      .init(refreshAfter: .seconds(10)),
      expiration: lifetime > 0 ? .afterWrite(.seconds(lifetime)) : .never
    ) { number, _ in
      while number > 1 && !gate.isOn { await Task.yield() }
      return number
    }
    let (cache, clock) = (subject.cache, subject.clock)
    #expect(try await cache[1] == 1)
    clock.advance(by: .seconds(9))
    #expect(try await cache[1] == 1)
    #expect(cache.statistics.refreshes == 0)
    clock.advance(by: .seconds(1))
    // A look at the cache alone loads nothing.
    #expect(cache.cache.value(forKey: 1) == 1 && cache.statistics.refreshes == 0)
    for _ in 0..<10 { #expect(try await cache[1] == 1) }
    #expect(cache.statistics.refreshes == 1)
    clock.advance(by: .seconds(15))
    for _ in 0..<10 { #expect(try await cache.loaded(forKey: 1).value == 1) }
    #expect(cache.statistics.refreshes == 1 && subject.loads.value <= 2)
    gate.turnOn()
    await subject.settle()
    #expect(try await cache[1] == 2)
    #expect(subject.loads.value == 2)
    // The age is that of the new value.
    clock.advance(by: .seconds(9))
    #expect(try await cache[1] == 2)
    #expect(cache.statistics.refreshes == 1)
    cache.cache.checkInvariants()
  }

  @Test("A cache that is given an idle time later knows ages still")
  func laterIdleTime() async throws {
    let subject = Subject(.init(refreshAfter: .seconds(100))) { number, _ in number }
    let (cache, clock) = (subject.cache, subject.clock)
    #expect(try await cache[1] == 1)
    clock.advance(by: .seconds(60))
    cache.cache.expiration = .afterAccess(.seconds(80))
    #expect(try await cache[1] == 1 && cache.statistics.refreshes == 0)
    // Stored in slots that lack the room at first.
    for key in 2..<100 { _ = try await cache[key] }
    clock.advance(by: .seconds(60))
    #expect(try await cache[1] == 1 && cache.statistics.refreshes == 1)
    for key in 2..<100 { #expect(try await cache[key] == key) }
    await subject.settle()
    #expect(cache.statistics.refreshes == 1)
    clock.advance(by: .seconds(60))
    #expect(try await cache[99] == 99 && cache.statistics.refreshes == 2)
    await subject.settle()
    #expect(cache.cache.peek(forKey: 1) == 100 && cache.cache.peek(forKey: 99) == 101)
    clock.advance(by: .seconds(80))
    #expect(cache.cache.keys.isEmpty)
    cache.cache.checkInvariants()
  }

  @Test("A value that was inserted or changed ages, too; a bulk looks at the age")
  func otherWrites() async throws {
    let subject = Subject(.init(refreshAfter: .seconds(10))) { number, _ in number * 100 }
    let (cache, clock) = (subject.cache, subject.clock)
    cache.cache[1] = 1
    clock.advance(by: .seconds(9))
    cache.cache.modifyValue(forKey: 1) { $0 += 1 }
    clock.advance(by: .seconds(9))
    #expect(try await cache[1] == 2)
    #expect(cache.statistics.refreshes == 0)
    clock.advance(by: .seconds(1))
    let all = await cache.values(forKeys: [1])
    #expect(try all[1]!.get() == 2)
    await subject.settle()
    #expect(cache.statistics.refreshes == 1)
    #expect(try await cache[1] == 100)
  }

  @Test("A refresh that fails keeps the value until it expires, and is repeated at that pace")
  func failure() async throws {
    let subject = Subject(
      .init(refreshAfter: .seconds(10)), expiration: .afterWrite(.seconds(25))
    ) { number, _ in
      if number > 1 { throw Broken() }
      return number
    }
    let (cache, clock) = (subject.cache, subject.clock)
    #expect(try await cache[1] == 1)
    for second in 1..<25 {
      clock.advance(by: .seconds(1))
      for _ in 0..<3 { #expect(try await cache[1] == 1) }
      await subject.settle()
      #expect(cache.statistics.refreshes == second / 10)
    }
    #expect(cache.statistics.failures == 2)
    clock.advance(by: .seconds(1))
    await #expect(throws: Broken.self) { try await cache[1] }
    cache.cache.checkInvariants()
  }

  @Test("What is written during a refresh stays, and ages from then", arguments: 0..<4)
  func loses(write: Int) async throws {
    let (started, gate) = (Switch(), Switch())
    let subject = Subject(.init(refreshAfter: .seconds(10))) { number, _ in
      if number == 2 {
        started.turnOn()
        while !gate.isOn { await Task.yield() }
      }
      return number
    }
    let (cache, clock) = (subject.cache, subject.clock)
    #expect(try await cache[1] == 1)
    clock.advance(by: .seconds(10))
    #expect(try await cache[1] == 1)
    while !started.isOn { await Task.yield() }
    switch write {
    case 0: cache.cache[1] = 7
    case 1: cache.cache.removeValue(forKey: 1)
    case 2: cache.cache.removeAll()
    // It outdates the load, whatever it says.
    default: cache.cache.removeAll { _, _ in false }
    }
    gate.turnOn()
    while cache.statistics.loads < 2 { await Task.yield() }
    await subject.settle()
    #expect(cache.cache.value(forKey: 1) == [7, nil, nil, 1][write])
    #expect(cache.statistics.outdated == 1)
    guard write == 0 || write == 3 else { return }
    clock.advance(by: .seconds(10))
    _ = try await cache[1]
    await subject.settle()
    #expect(try await cache[1] == 3)
  }

  @Test("A source that has no value any more takes the old one away", arguments: [true, false])
  func noValue(isOutdated: Bool) async throws {
    let (started, gate) = (Switch(), Switch())
    let subject = Subject(.init(refreshAfter: .seconds(10))) { number, _ in
      if number == 1 { return 1 }
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      throw NoValue()
    }
    let cache = subject.cache
    #expect(try await cache[1] == 1)
    subject.clock.advance(by: .seconds(10))
    #expect(try await cache[1] == 1)
    while !started.isOn { await Task.yield() }
    if isOutdated { cache.cache[1] = 5 }
    gate.turnOn()
    while cache.statistics.absences == 0 { await Task.yield() }
    await subject.settle()
    #expect(cache.cache.value(forKey: 1) == (isOutdated ? 5 : nil))
    cache.cache.checkInvariants()
  }

  /// A cache whose loader finds no value once `isGone`: it says that it has started, and waits.
  private func vanishing(
    _ tracker: LifetimeTracker, _ isGone: Switch, started: Switch, gate: Switch
  ) -> LoadingCache<Int, Tracked> {
    LoadingCache(options: .init(secondChances: 100)) { key in
      guard isGone.isOn else { return tracker.make(key) }
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      throw NoValue()
    }
  }

  @Test(
    "An evicted object does not come back if its key turns out to have no value",
    arguments: [true, false], [true, false])
  func evicted(isRefresh: Bool, isOutdated: Bool) async throws {
    let started = Switch()
    let gate = Switch()
    let isGone = Switch()
    let tracker = LifetimeTracker()
    let cache = vanishing(tracker, isGone, started: started, gate: gate)
    let held = try await cache[1]
    cache.cache.trim(toCount: 0)
    #expect(cache.cache.secondChanceCount == 1)
    isGone.turnOn()
    let caller = isRefresh ? nil : Task { try await cache[1] }
    if isRefresh { #expect(cache.refresh(forKey: 1)) }
    while !started.isOn { await Task.yield() }
    let newer = tracker.make(2)
    if isOutdated {
      cache.cache[1] = newer
      cache.cache.trim(toCount: 0)
    }
    gate.turnOn()
    if let caller { await #expect(throws: NoValue.self) { try await caller.value } }
    while cache.cache.flightCount > 0 || cache.statistics.absences == 0 { await Task.yield() }
    #expect(cache.cache.secondChanceCount == (isOutdated ? 1 : 0))
    #expect(cache.cache.survivingValue(forKey: 1) === (isOutdated ? newer : nil))
    withExtendedLifetime((held, newer)) {}
    cache.cache.checkInvariants()
  }

  @Test("Nor does one that is found again while the load runs")
  func foundAgain() async throws {
    let (started, gate, isGone) = (Switch(), Switch(), Switch())
    let tracker = LifetimeTracker()
    let cache = vanishing(tracker, isGone, started: started, gate: gate)
    let held = try await cache[1]
    cache.cache.trim(toCount: 0)
    isGone.turnOn()
    let caller = Task { try await cache[1] }
    while !started.isOn { await Task.yield() }
    #expect(cache.cache.survivingValue(forKey: 1) === held)
    gate.turnOn()
    await #expect(throws: NoValue.self) { try await caller.value }
    #expect(cache.cache.peek(forKey: 1) == nil)
    cache.cache.trim(toCount: 0)
    #expect(cache.cache.survivingValue(forKey: 1) == nil)
    withExtendedLifetime(held) {}
    cache.cache.checkInvariants()
  }

  @Test("Threads and tasks on old keys: one load of a key at a time, and nobody waits")
  func crowd() async throws {
    let keys = 50
    let loads = Overlaps()
    let clock = ManualClock()
    let cache = LoadingCache<Int, Int>(
      options: .init(clock: .manual(clock)), loading: .init(refreshAfter: .seconds(1))
    ) { key in
      loads.begin(key)
      await Task.yield()
      loads.end(key)
      return 1
    }
    for key in 0..<keys { cache.cache[key] = 0 }
    let rounds = Stress.scaled(20_000, atLeast: 1_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for reader in 0..<8 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(reader))
          for _ in 0..<rounds {
            _ = try await cache[random.below(keys)]
            if random.below(20) == 0 { clock.advance(by: .milliseconds(100)) }
          }
        }
      }
      try await group.waitForAll()
    }
    while cache.cache.flightCount > 0 || cache.cache.countedFlights > 0 { await Task.yield() }
    #expect(loads.most == 1)
    #expect(cache.cache.statistics.misses == 0)
    #expect(cache.statistics.loads == cache.statistics.refreshes && cache.statistics.loads > 0)
    cache.cache.checkInvariants()
  }
}
