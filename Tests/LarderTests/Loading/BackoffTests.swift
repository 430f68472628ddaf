// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads that are given up between failures: they neither count as one nor end the row.
@Suite("Backoff and loads that are given up", .timeLimit(.minutes(20)))
struct BackoffTests {
  struct Broken: Error {}

  /// How a load ends without saying anything of its key.
  enum GivenUp: String, CaseIterable, Sendable {
    case callerLeaves, throwsCancellation, throwsCycle, otherLoader, blocked
  }

  /// A cache whose loads fail, or do what they are told. A first failure is remembered for a
  /// second.
  final class Subject<Key: Hashable & Sendable>: Sendable {
    let clock = ManualClock()
    let loads = Counter()
    let next = Protected<GivenUp?>(nil)
    /// Asks the cache, where a loader does.
    private let asks = Protected<(@Sendable (Key) async throws -> Int)?>(nil)
    let cache: LoadingCache<Key, Int>

    init(groups: KeyGroups<Key>? = nil) {
      cache = LoadingCache(
        options: .init(groups: groups, clock: .manual(clock)),
        loading: .init(failures: .init(first: .seconds(1), longest: .seconds(1_000), jitter: 0))
      ) { [loads, next, asks] key in
        loads.next()
        switch next.withLock({ $0 }) {
        case .callerLeaves:
          while !Task.isCancelled { await Task.yield() }
          throw Broken()
        case .throwsCancellation: throw CancellationError()
        case .throwsCycle: return try await asks.withLock { $0! }(key)
        default: throw Broken()
        }
      }
    }

    /// Fails this often in a row.
    func fail(_ key: Key, times: Int) async {
      for _ in 0..<times {
        _ = try? await cache[key]
        clock.advance(by: .seconds(1_001))
      }
    }

    /// Gives up a load. Returns once it is out of the way.
    func giveUp(_ key: Key, _ way: GivenUp) async {
      next.withLock { $0 = way }
      switch way {
      case .callerLeaves:
        let before = loads.value
        let caller = Task { try await cache[key] }
        while loads.value == before { await Task.yield() }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
      case .throwsCancellation: _ = try? await cache[key]
      case .throwsCycle:
        asks.withLock { $0 = { [cache] in try await cache[$0] } }
        await #expect(throws: LoadCycle.self) { try await cache[key] }
        asks.withLock { $0 = nil }
      case .otherLoader: _ = try? await cache.cache.value(forKey: key) { _ in throw Broken() }
      case .blocked:
        await run { [cache] in
          _ = try? blocking(cache.cache, key) { _ in throw CancellationError() }
        }
      }
      next.withLock { $0 = nil }
    }

    /// Whether the next load is made at once, and fails as one that is remembered this long.
    func failsAtOnce(_ key: Key, rememberedFor seconds: Int) async -> Bool {
      let before = loads.value
      _ = try? await cache[key]
      let isAtOnce = loads.value == before + 1
      clock.advance(by: .seconds(seconds) - .milliseconds(1))
      _ = try? await cache[key]
      let isRemembered = loads.value == before + 1
      clock.advance(by: .milliseconds(2))
      _ = try? await cache[key]
      return isAtOnce && isRemembered && loads.value == before + 2
    }
  }

  @Test("The row goes on after a load that is given up", arguments: GivenUp.allCases)
  func goesOn(way: GivenUp) async {
    let subject = Subject<Int>()
    await subject.fail(1, times: 3)
    for _ in 0..<2 { await subject.giveUp(1, way) }
    #expect(await subject.failsAtOnce(1, rememberedFor: 8))
    // Without failures before it nothing is remembered.
    await subject.giveUp(2, way)
    while subject.cache.cache.countedFlights > 1 { await Task.yield() }
    #expect(subject.cache.cache.flightCount == 1)
    #expect(await subject.failsAtOnce(2, rememberedFor: 1))
    subject.cache.cache.checkInvariants()
  }

  @Test("A write forgets the row, before the load is given up and after", arguments: [true, false])
  func forgotten(before: Bool) async {
    typealias Write = @Sendable (Cache<Int, Int>) -> Void
    let writes: [Write] = [
      { $0.removeValue(forKey: 1) }, { $0.removeAll() }, { $0.removeAll(inGroup: 1) },
      { $0.removeAll { _, _ in true } },
      { cache in
        cache.insert(5, forKey: 1)
        cache.trim(toCount: 0)
      },
    ]
    for write in writes {
      let subject = Subject<Int>(groups: .by { $0 % 10 })
      await subject.fail(1, times: 3)
      if before {
        subject.next.withLock { $0 = .callerLeaves }
        let caller = Task { try await subject.cache[1] }
        while subject.loads.value < 4 { await Task.yield() }
        write(subject.cache.cache)
        caller.cancel()
        _ = try? await caller.value
        subject.next.withLock { $0 = nil }
      } else {
        await subject.giveUp(1, .callerLeaves)
        #expect(subject.cache.cache.flightCount == 1)
        write(subject.cache.cache)
      }
      #expect(subject.cache.cache.flightCount == 0)
      while subject.cache.cache.countedFlights > 0 { await Task.yield() }
      #expect(await subject.failsAtOnce(1, rememberedFor: 1))
      subject.cache.cache.checkInvariants()
    }
  }

  @Test("So does the removal of a group during which the load is given up")
  func forgottenMeanwhile() async {
    let caller = Protected<Task<Int, any Error>?>(nil)
    let subject = Subject<Int>(
      groups: .by { key in
        // The handler of the caller runs before this returns.
        caller.withLock { $0.take() }?.cancel()
        return key % 10
      })
    await subject.fail(1, times: 3)
    subject.next.withLock { $0 = .callerLeaves }
    let task = Task { try await subject.cache[1] }
    while subject.loads.value < 4 { await Task.yield() }
    caller.withLock { $0 = task }
    subject.cache.cache.removeAll(inGroup: 1)
    #expect(subject.cache.statistics.cancellations == 1 && subject.cache.cache.flightCount == 0)
    _ = try? await task.value
    subject.next.withLock { $0 = nil }
    let cache = subject.cache.cache
    while cache.countedFlights > cache.flightCount { await Task.yield() }
    #expect(await subject.failsAtOnce(1, rememberedFor: 1))
    cache.checkInvariants()
  }

  /// A key that notes that it lives.
  struct Name: Hashable, Sendable {
    let number: Int
    let life: Tracked

    static func == (a: Name, b: Name) -> Bool { a.number == b.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  @Test("As many are kept as failures, and none outlives a removal", arguments: GivenUp.allCases)
  func bounded(way: GivenUp) async {
    let tracker = LifetimeTracker()
    let subject = Subject<Name>()
    for round in 0..<2 {
      for number in 0..<1_200 {
        let name = Name(number: 1_200 * round + number, life: tracker.make())
        await subject.fail(name, times: 1)
        await subject.giveUp(name, way)
      }
      while subject.cache.cache.countedFlights > 1_024 { await Task.yield() }
      #expect(subject.cache.cache.flightCount == 1_024)
      while tracker.live > 1_024 { await Task.yield() }
      subject.cache.cache.checkInvariants()
    }
    subject.cache.removeAll()
    #expect(subject.cache.cache.flightCount == 0)
    while tracker.live > 0 || subject.cache.cache.countedFlights > 0 { await Task.yield() }
  }

  @Test("Callers that leave, failures and removals at random leave nothing behind")
  func storm() async {
    let tracker = LifetimeTracker()
    let subject = Subject<Name>()
    await withTaskGroup { group in
      for number in 0..<Stress.scaled(20_000) {
        group.addTask {
          let name = Name(number: number % 20, life: tracker.make())
          let task = Task { try await subject.cache[name] }
          if number % 2 == 0 {
            for _ in 0..<(number % 5) { await Task.yield() }
            task.cancel()
          }
          _ = try? await task.value
          if number % 7 == 0 { subject.clock.advance(by: .seconds(1)) }
          if number % 11 == 0 { subject.cache.removeValue(forKey: name) }
          if number % 101 == 0 { subject.cache.removeAll() }
        }
      }
    }
    while subject.cache.cache.countedFlights > 20 { await Task.yield() }
    #expect(subject.cache.cache.flightCount <= 20)
    subject.cache.removeAll()
    #expect(subject.cache.cache.flightCount == 0)
    while tracker.live > 0 || subject.cache.cache.countedFlights > 0 { await Task.yield() }
    subject.cache.cache.checkInvariants()
  }
}
