// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What a cache with a loader does with values, failures and absences.
@Suite("Loading cache", .timeLimit(.minutes(20)))
struct LoadingCacheTests {
  struct Broken: Error {}

  /// Lasts longer than any test.
  static let long = Duration.seconds(3_600)
  /// Is over when somebody looks.
  static let short = Duration.nanoseconds(1)

  @Test("A hit does not load, a removal makes it load again")
  func hits() async throws {
    let loads = Counter()
    let cache = LoadingCache<Int, Int>(countLimit: 10) { $0 * 10 + loads.next() }
    #expect(try await cache[1] == 11)
    #expect(try await cache[1] == 11)
    #expect(try await cache.value(forKey: 1) == 11)
    cache.cache.removeValue(forKey: 1)
    #expect(try await cache[1] == 12)
    cache.cache[1] = 5
    #expect(try await cache[1] == 5)
    #expect(cache.statistics.loads == 2)
  }

  @Test("A refresh replaces the value when it is done; until then the old one serves")
  func refresh() async throws {
    let gate = Switch()
    let loads = Counter()
    let cache = LoadingCache<Int, Int> { _ in
      let number = loads.next()
      while number > 1 && !gate.isOn { await Task.yield() }
      return number
    }
    #expect(try await cache[1] == 1)
    #expect(cache.refresh(forKey: 1))
    while loads.value < 2 { await Task.yield() }
    #expect(!cache.refresh(forKey: 1))
    #expect(try await cache[1] == 1)
    gate.turnOn()
    while cache.cache.flightCount > 0 { await Task.yield() }
    #expect(try await cache[1] == 2)
    #expect(cache.statistics.refreshes == 1 && cache.statistics.loads == 2)
    cache.cache.checkInvariants()
  }

  @Test("A refresh does not overwrite an insertion nor undo a removal", arguments: 0..<4)
  func refreshLoses(write: Int) async throws {
    let (started, gate) = (Switch(), Switch())
    let cache = LoadingCache<Int, Int> { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      return 1
    }
    cache.cache[1] = 0
    cache.refresh(forKey: 1)
    while !started.isOn { await Task.yield() }
    switch write {
    case 0: cache.cache[1] = 7
    case 1: cache.cache[1] = nil
    case 2: cache.cache.updateValue(forKey: 1) { $0 = 7 }
    default: cache.cache.updateValue(forKey: 1) { $0 = nil }
    }
    gate.turnOn()
    while cache.statistics.loads == 0 { await Task.yield() }
    while cache.cache.withCore({ _ in cache.cache.flightCount }) > 0 { await Task.yield() }
    #expect(cache.cache.value(forKey: 1) == (write % 2 == 0 ? 7 : nil))
    #expect(cache.statistics.outdated == 1)
  }

  @Test("Hot keys that are refreshed under readers: one load of a key at a time, and no miss")
  func hotKeys() async throws {
    let keys = 1_000
    let loads = Overlaps()
    let cache = LoadingCache<Int, Int> { key in
      loads.begin(key)
      await Task.yield()
      loads.end(key)
      return 1
    }
    for key in 0..<keys { cache.cache[key] = 0 }
    let misses = Counter()
    let rounds = Stress.scaled(100_000, atLeast: 5_000)
    await run {
      onThreads(8) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for _ in 0..<rounds {
          // Few of them are very hot.
          let key = random.below(1 + random.below(keys))
          if cache.cache.value(forKey: key) == nil { misses.next() }
          if random.below(4) == 0 { cache.refresh(forKey: key) }
        }
      }
    }
    // Nobody waits for a refresh, so the test may see one before its shard has heard of its end.
    while cache.cache.flightCount > 0 || cache.cache.countedFlights > 0 { await Task.yield() }
    #expect(loads.most == 1 && misses.value == 0)
    #expect(cache.statistics.loads == cache.statistics.refreshes)
  }

  @Test("A refresh that fails leaves the old value")
  func refreshFails() async throws {
    let cache = LoadingCache<Int, Int> { _ in throw Broken() }
    cache.cache[1] = 4
    cache.refresh(forKey: 1)
    while cache.cache.flightCount > 0 { await Task.yield() }
    #expect(try await cache[1] == 4)
    #expect(cache.statistics.failures == 1)
  }

  @Test("A failure is remembered if asked for, until a write to its key", arguments: [true, false])
  func failures(remembers: Bool) async throws {
    let loads = Counter()
    let cache = LoadingCache<Int, Int>(
      loading: LoadingOptions(
        failures: remembers ? .init(first: Self.long, longest: Self.long, jitter: 0.5) : nil)
    ) { _ in
      loads.next()
      throw Broken()
    }
    for _ in 0..<5 { await #expect(throws: Broken.self) { try await cache[1] } }
    #expect(loads.value == (remembers ? 1 : 5))
    #expect(cache.statistics.remembered == (remembers ? 4 : 0))
    cache.cache.removeValue(forKey: 1)
    await #expect(throws: Broken.self) { try await cache[1] }
    #expect(loads.value == (remembers ? 2 : 6))
    cache.cache.removeAll()
    #expect(cache.cache.flightCount == 0)
    cache.cache[1] = 3
    #expect(try await cache[1] == 3)
    cache.cache.checkInvariants()
  }

  @Test("An absence is remembered apart from failures", arguments: [true, false])
  func absences(remembers: Bool) async throws {
    let loads = Counter()
    let cache = LoadingCache<Int, Int>(
      loading: LoadingOptions(
        failures: .init(first: Self.long, longest: Self.long),
        absences: remembers ? Self.long : nil)
    ) { _ in
      loads.next()
      throw NoValue()
    }
    for _ in 0..<3 { await #expect(throws: NoValue.self) { try await cache[1] } }
    #expect(loads.value == (remembers ? 1 : 3))
    #expect(cache.statistics.absences == loads.value && cache.statistics.failures == 0)
  }

  @Test("A remembered failure ends with its time; the memory is bounded")
  func memory() async throws {
    let loads = Counter()
    let brief = LoadingCache<Int, Int>(
      loading: LoadingOptions(failures: .init(first: Self.short, longest: Self.short))
    ) { _ in
      loads.next()
      throw Broken()
    }
    for _ in 0..<3 { await #expect(throws: Broken.self) { try await brief[1] } }
    #expect(loads.value == 3 && brief.cache.flightCount == 1)
    let full = LoadingCache<Int, Int>(
      loading: LoadingOptions(failures: .init(first: Self.long))
    ) { _ in
      loads.next()
      throw Broken()
    }
    for _ in 0..<2 { for key in 0..<1_024 { _ = try? await full[key] } }
    #expect(loads.value == 3 + 1_024 && full.cache.flightCount == 1_024)
    for key in 1_024..<3_000 { _ = try? await full[key] }
    #expect(full.cache.flightCount == 1_024)
    full.cache.checkInvariants()
    for key in 0..<3_000 { full.cache.removeValue(forKey: key) }
    #expect(full.cache.flightCount == 0)
    let before = loads.value
    for _ in 0..<2 { for key in 0..<1_024 { _ = try? await full[key] } }
    #expect(loads.value == before + 1_024, "there is room for as many as at first")
    full.cache.checkInvariants()
  }

  @Test("A failure that is forgotten takes no other one's room")
  func forgotten() async throws {
    let loads = Counter()
    let cache = LoadingCache<Int, Int>(loading: LoadingOptions(absences: Self.long)) { _ in
      loads.next()
      throw NoValue()
    }
    for key in 0..<100 { _ = try? await cache[key] }
    for _ in 0..<1_200 {
      cache.cache.removeValue(forKey: -1)
      _ = try? await cache[-1]
    }
    #expect(loads.value == 1_300 && cache.cache.flightCount == 101)
    for key in 0..<100 { _ = try? await cache[key] }
    #expect(loads.value == 1_300)
    cache.cache.checkInvariants()
  }

  @Test("Backoff doubles up to its longest, less what chance takes")
  func backoff() {
    let backoff = LoadingOptions.Backoff(first: .seconds(1), longest: .seconds(10), jitter: 0.5)
    let delays = [1, 2, 3, 4, 5, 60].map { backoff.delay(afterFailures: $0, chance: 0) }
    #expect(delays == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
    #expect(backoff.delay(afterFailures: 3, chance: 1) == .seconds(2))
    let endless = LoadingOptions.Backoff(first: Duration(attoseconds: .max), jitter: 0)
    #expect(endless.delay(afterFailures: 3, chance: 0) > .seconds(3_000_000_000))
  }

  @Test("No more loads than the limit run at once, and those nested in a load do not wait")
  func limit() async throws {
    let loads = Overlaps()
    let home = Protected<LoadingCache<Int, Int>?>(nil)
    let cache = LoadingCache<Int, Int>(loading: LoadingOptions(loadLimit: 2)) { key in
      if key >= 1_000 { return key }
      loads.begin(0)
      for _ in 0..<20 { await Task.yield() }
      let inner = try await home.withLock { $0 }![key + 1_000]
      loads.end(0)
      return inner
    }
    home.withLock { $0 = cache }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for key in 0..<40 { group.addTask { try await cache[key] } }
      for try await value in group { #expect(value >= 1_000) }
    }
    home.withLock { $0 = nil }
    #expect(loads.most == 2)
    #expect(cache.statistics.loads == 80)
  }

  @Test("A load may wait for one that waits for its turn", arguments: [true, false])
  func limitAndJoin(together: Bool) async throws {
    let home = Protected<LoadingCache<Int, Int>?>(nil)
    let runs = Switch()
    let load = { @Sendable (key: Int) async throws -> Int in
      guard key == 1 else { return key }
      runs.turnOn()
      let cache = home.withLock { $0! }
      // The other one is in the table, and has no turn.
      while cache.cache.flightCount < 2 { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      return try await cache[2]
    }
    let loadAll = { @Sendable (keys: [Int]) async throws -> [Int: Int] in
      var values: [Int: Int] = [:]
      for key in keys { values[key] = try await load(key) }
      return values
    }
    let cache = LoadingCache<Int, Int>(
      loading: LoadingOptions(loadLimit: 1), loadAll: together ? loadAll : nil, load: load)
    home.withLock { $0 = cache }
    async let one = cache.values(forKeys: [1])
    while !runs.isOn { await Task.yield() }
    async let two = cache.values(forKeys: [2])
    let values = try await [one[1]!.get(), two[2]!.get()]
    #expect(values == [2, 2])
    // The turns are right afterwards.
    for key in 10..<13 { #expect(try await cache[key] == key) }
    home.withLock { $0 = nil }
  }

  @Test(
    "Options that make no sense end the process",
    arguments: ["limit", "absences", "first", "longest", "jitter", "most", "delay", "loadAll"])
  func badOptions(which: String) async {
    await #expect(processExitsWith: .failure) { [which] in
      var options = LoadingOptions(failures: .init(first: .seconds(1)))
      switch which {
      case "limit": options.loadLimit = -1
      case "absences": options.absences = .zero
      case "first": options.failures?.first = .zero
      case "longest": options.failures?.longest = .milliseconds(1)
      case "jitter": options.failures?.jitter = 1.5
      case "most": options.gathering = .init(most: 0)
      case "delay": options.gathering = .init(delay: .seconds(-1))
      default: options.gathering = .init()
      }
      let all = { @Sendable (_: [Int]) in [Int: Int]() }
      _ = LoadingCache<Int, Int>(loading: options, loadAll: which == "loadAll" ? nil : all) { $0 }
    }
  }

  @Test("What is removed is loaded anew")
  func removals() async throws {
    let version = Counter()
    let cache = LoadingCache<Int, Int> { _ in version.next() }
    let first = try await cache[1]
    #expect(cache.removeValue(forKey: 1) == first && cache.removeValue(forKey: 1) == nil)
    let second = try await cache[1]
    #expect(second > first)
    cache.removeAll()
    #expect(cache.cache.count == 0)
    #expect(try await cache[1] > second)
  }
}
