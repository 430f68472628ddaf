// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Values that serve past their deadline because they cannot be loaded.
@Suite("Stale values", .timeLimit(.minutes(20)))
struct StalenessTests {
  struct Broken: Error {}

  /// Values that live for 10 seconds and may serve for 20 more, on a source that works at first.
  struct Subject {
    let clock = ManualClock()
    let works = Protected(true)
    let loads = Counter()
    let cache: LoadingCache<Int, Int>

    init(
      staleIfError: Duration? = .seconds(20), failures: LoadingOptions.Backoff? = nil,
      options: Cache<Int, Int>.Options = .init(), countLimit: Int = 0,
      error: any Error = Broken()
    ) {
      var options = options
      options.clock = .manual(clock)
      cache = LoadingCache(
        countLimit: countLimit, policy: .lru, expiration: .afterWrite(.seconds(10)),
        options: options,
        loading: .init(failures: failures, staleIfError: staleIfError)
      ) { [works, loads] key in
        loads.next()
        if !works.withLock({ $0 }) { throw error }
        return key * 10
      }
    }

    /// Loads a value, waits until it has expired, and breaks the source.
    func prepare(after time: Duration = .seconds(10)) async throws {
      #expect(try await cache[1] == 10)
      clock.advance(by: time)
      works.withLock { $0 = false }
    }
  }

  @Test("A value serves past its deadline while loads fail, and says so; afterwards no more")
  func serves() async throws {
    let subject = Subject()
    let cache = subject.cache
    try await subject.prepare(after: .seconds(9))
    let fresh = try await cache.loaded(forKey: 1)
    #expect(fresh.value == 10 && !fresh.isStale && fresh.failure == nil)
    for _ in 0..<20 {
      subject.clock.advance(by: .seconds(1))
      let stale = try await cache.loaded(forKey: 1)
      #expect(stale.value == 10 && stale.isStale && stale.failure is Broken)
      #expect(try await cache[1] == 10)
      let all = await cache.values(forKeys: [1, 2])
      #expect(try all[1]!.get() == 10)
      #expect(throws: Broken.self) { try all[2]!.get() }
    }
    // Each of these calls has tried to load it.
    #expect(subject.loads.value == 1 + 20 * 4)
    #expect(cache.statistics.stale == 60)
    subject.clock.advance(by: .seconds(1))
    await #expect(throws: Broken.self) { try await cache[1] }
    #expect(cache.cache.removeExpired() == 1 && cache.cache.isEmpty)
    cache.cache.checkInvariants()
  }

  @Test("A cache that is given lifetimes later keeps what has expired as well", arguments: 0..<3)
  func later(way: Int) async throws {
    let clock = ManualClock()
    let works = Protected(true)
    let cache = LoadingCache<Int, Int>(
      options: .init(clock: .manual(clock)), loading: .init(staleIfError: .seconds(20))
    ) { key in
      if !works.withLock({ $0 }) { throw Broken() }
      return key * 10
    }
    #expect(try await cache[1] == 10)
    switch way {
    case 0: cache.cache.expiration = .afterWrite(.seconds(10))
    case 1: cache.cache.setLifetime(.seconds(10), forKey: 1)
    default: cache.cache.insert(10, forKey: 1, expiresAfter: .seconds(10))
    }
    works.withLock { $0 = false }
    clock.advance(by: .seconds(11))
    let stale = try await cache.loaded(forKey: 1)
    #expect(stale.value == 10 && stale.isStale)
    clock.advance(by: .seconds(20))
    await #expect(throws: Broken.self) { try await cache[1] }
    cache.cache.checkInvariants()
  }

  @Test("Without the option nothing serves past its deadline", arguments: [nil, 0])
  func off(seconds: Int?) async throws {
    let subject = Subject(staleIfError: seconds.map { .seconds($0) })
    try await subject.prepare()
    await #expect(throws: Broken.self) { try await subject.cache[1] }
    #expect(subject.cache.cache.removeExpired() == 1)
  }

  @Test("The plain cache never returns it, in no way")
  func plain() async throws {
    let subject = Subject()
    let cache = subject.cache.cache
    try await subject.prepare()
    #expect(cache.value(forKey: 1) == nil && cache.peek(forKey: 1) == nil && cache[1] == nil)
    #expect(!cache.contains(1) && cache.withValue(forKey: 1) { $0 } == nil)
    #expect(cache.values(forKeys: [1]) == [nil])
    #expect(cache.snapshot().isEmpty && cache.keys.isEmpty && cache.values.isEmpty)
    #expect(cache.remainingLifetime(forKey: 1) == nil)
    #expect(!cache.setLifetime(.seconds(5), forKey: 1))
    #expect(cache.modifyValue(forKey: 1) { $0 += 1 } == nil)
    #expect(blockingOrNil(cache) == nil)
    #expect(cache.count == 1)
    cache.removeAll { _, _ in
      Issue.record("asked about a value that has expired")
      return false
    }
    #expect(cache.isEmpty && cache.statistics.expirations == 1)
    for writes in [true, false] {
      let other = Subject()
      try await other.prepare()
      let old = writes ? other.cache.cache.updateValue(3, forKey: 1) : nil
      #expect(old == nil)
      #expect(other.cache.cache.removeValue(forKey: 1) == (writes ? 3 : nil))
    }
  }

  /// What a load of the plain cache finds that fails.
  private func blockingOrNil(_ cache: Cache<Int, Int>) -> Int? {
    try? blocking(cache, 1) { _ throws(Broken) in throw Broken() }
  }

  @Test("A trim by age takes it as it takes any other")
  func aged() async throws {
    let subject = Subject()
    let cache = subject.cache.cache
    try await subject.prepare(after: .seconds(15))
    cache.trim(toAge: .seconds(60))
    #expect(cache.count == 1)
    cache.trim(toAge: .seconds(10))
    #expect(cache.isEmpty && cache.statistics.expirations == 1)
    await #expect(throws: Broken.self) { try await subject.cache[1] }
    cache.checkInvariants()
  }

  @Test("It stays until its time is over, and then goes by itself")
  func leaves() async throws {
    let subject = Subject()
    let cache = subject.cache.cache
    try await subject.prepare(after: .seconds(29))
    for key in 1_000..<1_100 { cache[key] = 0 }
    #expect(cache.removeExpired() == 0 && cache.count == 101)
    subject.clock.advance(by: .seconds(1))
    for key in 1_100..<1_200 { cache[key] = 0 }
    #expect(cache.count == 200 && cache.statistics.expirations == 1)
    cache.checkInvariants()
  }

  enum Removal: CaseIterable, Sendable {
    case remove, assign, update, updateInPlace, removeAll, removeAllWhere, group, refused
  }

  @Test("It does not serve after a removal or an insertion", arguments: Removal.allCases)
  func removals(removal: Removal) async throws {
    let subject = Subject(options: .init(groups: .by({ $0 % 2 })))
    let cache = subject.cache.cache
    try await subject.prepare()
    #expect(try await subject.cache[1] == 10)
    switch removal {
    case .remove: cache.removeValue(forKey: 1)
    case .assign: cache[1] = nil
    case .update: cache.updateValue(7, forKey: 1)
    case .updateInPlace: cache.updateValue(forKey: 1) { $0 = nil }
    case .removeAll: cache.removeAll()
    case .removeAllWhere: cache.removeAll { _, _ in false }
    case .group: cache.removeAll(inGroup: 1)
    case .refused: cache.insert(5, forKey: 1, expiresAfter: .zero)
    }
    if removal == .update {
      let loaded = try await subject.cache.loaded(forKey: 1)
      #expect(loaded.value == 7 && !loaded.isStale)
      subject.clock.advance(by: .seconds(10))
      #expect(try await subject.cache.loaded(forKey: 1).value == 7)
    } else {
      await #expect(throws: Broken.self) { try await subject.cache[1] }
      #expect(cache.isEmpty)
    }
    cache.checkInvariants()
  }

  @Test("A source that says that there is no value takes it out; other errors of callers leave it")
  func noValue() async throws {
    let absent = Subject(error: NoValue())
    try await absent.prepare()
    await #expect(throws: NoValue.self) { try await absent.cache[1] }
    #expect(absent.cache.cache.isEmpty)
    let cancelled = Subject(error: CancellationError())
    try await cancelled.prepare()
    await #expect(throws: CancellationError.self) { try await cancelled.cache[1] }
    #expect(cancelled.cache.cache.count == 1)
  }

  @Test("With a remembered failure it serves at once, and the source is left alone")
  func remembered() async throws {
    let subject = Subject(failures: .init(first: .seconds(4), longest: .seconds(4), jitter: 0))
    try await subject.prepare()
    for _ in 0..<5 { #expect(try await subject.cache.loaded(forKey: 1).isStale) }
    #expect(subject.loads.value == 2)
    subject.clock.advance(by: .seconds(4))
    for _ in 0..<5 { #expect(try await subject.cache.loaded(forKey: 1).isStale) }
    #expect(subject.loads.value == 3 && subject.cache.statistics.remembered == 8)
    subject.works.withLock { $0 = true }
    subject.clock.advance(by: .seconds(4))
    let fresh = try await subject.cache.loaded(forKey: 1)
    #expect(fresh.value == 10 && !fresh.isStale)
  }

  @Test("The example of the article: fresh, refreshed, stale")
  func article() async throws {
    let clock = ManualClock()
    let works = Protected(true)
    let loads = Counter()
    @Sendable func fetch(_ symbol: String) async throws -> Int {
      loads.next()
      if !works.withLock({ $0 }) { throw Broken() }
      return symbol.utf8.count
    }
    let prices = LoadingCache<String, Int>(
      expiration: .afterWrite(.seconds(300)), options: .init(clock: .manual(clock)),
      loading: .init(refreshAfter: .seconds(60), staleIfError: .seconds(3_600))
    ) { symbol in try await fetch(symbol) }
    #expect(try await prices["ACME"] == 4)
    works.withLock { $0 = false }
    clock.advance(by: .seconds(60))
    #expect(try await prices["ACME"] == 4)
    while prices.cache.flightCount > 0 || prices.cache.countedFlights > 0 { await Task.yield() }
    #expect(loads.value == 2 && prices.statistics.failures == 1)
    clock.advance(by: .seconds(240 + 3_599))
    let loaded = try await prices.loaded(forKey: "ACME")
    #expect(loaded.value == 4 && loaded.isStale && loads.value == 3)
    clock.advance(by: .seconds(1))
    await #expect(throws: Broken.self) { try await prices.loaded(forKey: "ACME") }
  }

  @Test("It makes room like any other value")
  func room() async throws {
    let subject = Subject(countLimit: 5)
    let cache = subject.cache.cache
    try await subject.prepare()
    for key in 10..<100 { cache[key] = key }
    #expect(cache.count == 5)
    await #expect(throws: Broken.self) { try await subject.cache[1] }
    cache.checkInvariants()
  }

  @Test(
    "Options that make no sense end the process",
    arguments: ["refreshAfter", "zero", "staleIfError", "earlyRefresh", "nan", "infinity"])
  func badOptions(which: String) async {
    await #expect(processExitsWith: .failure) { [which] in
      var options = LoadingOptions()
      switch which {
      case "refreshAfter": options.refreshAfter = .seconds(-1)
      case "zero": options.refreshAfter = .zero
      case "staleIfError": options.staleIfError = .nanoseconds(-1)
      case "nan": options.earlyRefresh = .nan
      case "infinity": options.earlyRefresh = .infinity
      default: options.earlyRefresh = 0
      }
      _ = LoadingCache<Int, Int>(loading: options) { $0 }
    }
  }
}
