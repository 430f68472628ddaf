// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// What a write does to the load of its key, one kind of write after the other.
@Suite("Invalidation beats loads", .timeLimit(.minutes(20)))
struct InvalidationTests {
  /// An error that does something when it goes.
  final class Parting: Error {
    let act: @Sendable () -> Void
    init(_ act: @escaping @Sendable () -> Void) { self.act = act }
    deinit { act() }
  }

  @Test("Remembered failures that are forgotten die without a lock")
  func forgottenFailures() async {
    await #expect(processExitsWith: .success) {
      let home = Protected<LoadingCache<Int, Int>?>(nil)
      let died = Counter()
      let long = LoadingOptions.Backoff(first: .seconds(3_600), longest: .seconds(3_600))
      let cache = LoadingCache<Int, Int>(loading: .init(failures: long)) { _ in
        throw Parting {
          // Takes the locks of all flights.
          _ = home.withLock { $0 }?.statistics
          died.next()
        }
      }
      home.withLock { $0 = cache }
      for key in 0..<3_000 {
        _ = try? await cache[key]
        cache.cache.removeValue(forKey: key)
      }
      // The task of the last load may be about to let go of its error.
      waitUntil("what is forgotten dies") { died.value >= 3_000 - 1_024 }
      home.withLock { $0 = nil }
    }
  }

  enum Write: String, CaseIterable, Sendable {
    case remove, assignNil, updateToNil, removeAll, removeAllWhere, removeGroup
    case insert, update, insertTooCostly

    /// What is stored for key 1 afterwards.
    var leaves: Int? { self == .insert || self == .update ? 1_000 : nil }

    func perform(on cache: Cache<Int, Int>) {
      switch self {
      case .remove: cache.removeValue(forKey: 1)
      case .assignNil: cache[1] = nil
      case .updateToNil: cache.updateValue(forKey: 1) { $0 = nil }
      case .removeAll: cache.removeAll()
      case .removeAllWhere: cache.removeAll { _, _ in false }
      case .removeGroup: cache.removeAll(inGroup: 1 % 10)
      case .insert: cache.insert(1_000, forKey: 1)
      case .update: cache.updateValue(1_000, forKey: 1)
      case .insertTooCostly: cache.insert(1_000, forKey: 1, cost: 1_000)
      }
    }
  }

  static func cache(_ write: Write, shards: Int) -> Cache<Int, Int> {
    var options = Cache<Int, Int>.Options()
    if write == .removeGroup { options.groups = .by { $0 % 10 } }
    return Cache(
      totalCostLimit: write == .insertTooCostly ? 500 : 0, shards: shards, options: options)
  }

  @Test("During a load", arguments: Write.allCases, [1, 8])
  func during(write: Write, shards: Int) async throws {
    let cache = Self.cache(write, shards: shards)
    cache[2] = 2
    let (started, gate) = (Switch(), Switch())
    async let first = cache.value(forKey: 1) { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      return 1
    }
    while !started.isOn { await Task.yield() }
    async let second = cache.value(forKey: 1) { _ in 2 }
    while cache.loadStatistics.shared == 0 { await Task.yield() }
    write.perform(on: cache)
    #expect(cache.loadStatistics.outdated == 1)
    #expect(cache.value(forKey: 1) == write.leaves)
    // Who asks from now on must not get the outdated load, which is still under way.
    let later = try await cache.value(forKey: 1) { _ in 3 }
    #expect(later == write.leaves ?? 3)
    gate.turnOn()
    // Who waited gets what was loaded for them.
    let values = try await [first, second]
    #expect(values == [1, 1])
    #expect(cache.value(forKey: 1) == later)
    #expect(cache.flightCount == 0)
    cache.checkInvariants()
  }

  @Test("A failure is forgotten with its key's value, present or not, but not by a change of none")
  func forgottenFailure() async {
    let long = LoadingOptions.Backoff(first: .seconds(3_600), longest: .seconds(3_600))
    let loads = Counter()
    let cache = LoadingCache<Int, Int>(loading: .init(failures: long)) { key in
      loads.next()
      throw KeyError(key: key)
    }
    func count(after change: () -> Void) async -> Int {
      change()
      _ = try? await cache[1]
      return loads.value
    }
    #expect(await count {} == 1)
    #expect(await count {} == 1)
    #expect(await count { cache.cache.modifyValue(forKey: 1) { $0 += 1 } } == 1)
    #expect(await count { cache.cache[1]? += 1 } == 1)
    #expect(await count { _ = cache.cache[1].take() } == 1)
    #expect(await count { cache.cache.updateValue(forKey: 1) { $0 = nil } } == 2)
  }

  private struct KeyError: Error {
    let key: Int
  }

  @Test("After it was outdated, a load does not come back over a later removal")
  func outdatedTwice() async throws {
    let cache = Cache<Int, Int>()
    let (started, gate) = (Switch(), Switch())
    async let first = cache.value(forKey: 1) { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
      return 1
    }
    while !started.isOn { await Task.yield() }
    cache.insert(5, forKey: 1)
    cache.removeValue(forKey: 1)
    gate.turnOn()
    #expect(try await first == 1)
    #expect(cache.value(forKey: 1) == nil)
  }

  @Test("Groups and other keys leave a load alone")
  func others() async throws {
    var options = Cache<Int, Int>.Options()
    options.groups = .by { $0 % 10 }
    let cache = Cache<Int, Int>(countLimit: 2, shards: 1, options: options)
    let value = try await cache.value(forKey: 1) { _ in
      cache[2] = 2
      cache.removeValue(forKey: 3)
      cache.removeAll(inGroup: 2)
      cache.trim(toCount: 0)
      return 1
    }
    #expect(value == 1 && cache.value(forKey: 1) == 1)
    #expect(cache.loadStatistics.outdated == 0)
  }

  @Test("What removes a value that was stored outdates no load")
  func removedOnceStored() throws {
    let home = Protected<Cache<Int, Int>?>(nil)
    let cache = Cache<Int, Int>(onInsertion: { key, _, _ in
      home.withLock { $0 }?.removeValue(forKey: key)
    })
    home.withLock { $0 = cache }
    #expect(try blocking(cache, 1) { _ in 7 } == 7)
    home.withLock { $0 = nil }
    #expect(cache.statistics.insertions == 1 && cache.statistics.removals == 1)
    #expect(cache.loadStatistics.loads == 1 && cache.loadStatistics.outdated == 0)
  }

  @Test("A load is stored or outdated, under removals by other threads too")
  func storedOrOutdated() {
    let cache = Cache<Int, Int>(shards: 1)
    let done = Switch()
    onThreads(3) { thread in
      if thread == 0 {
        for number in 0..<Stress.scaled(20_000) {
          _ = try? cache.value(forKey: number % 8) { _ in number }
        }
        done.turnOn()
      } else {
        while !done.isOn { for key in 0..<8 { cache.removeValue(forKey: key) } }
      }
    }
    let loads = cache.loadStatistics
    #expect(cache.statistics.insertions + loads.outdated == loads.loads)
    cache.checkInvariants()
  }

  @Test("A loader that inserts or removes its own key outdates its own load")
  func loaderWrites() throws {
    let cache = Cache<Int, Int>()
    let first = try blocking(cache, 1) { key in
      cache[key] = 10
      return 1
    }
    #expect(first == 1 && cache.value(forKey: 1) == 10)
    let second = try blocking(cache, 2) { key in
      cache.removeValue(forKey: key)
      return 2
    }
    #expect(second == 2 && cache.value(forKey: 2) == nil)
    #expect(cache.loadStatistics.outdated == 2 && cache.flightCount == 0)
    cache.checkInvariants()
  }

  @Test("Observers and deinits may load, and get a cycle inside the load of their key")
  func reentrant() throws {
    let cycles = Counter()
    let home = Home()
    let cache = Cache<Int, Tracked>(
      countLimit: 1,
      onRemoval: { _, _, _, _ in
        guard let cache = home.cache else { return }
        if (try? blocking(cache, 9) { _ in home.tracker.make() }) == nil {
          cycles.next()
        }
      },
      onInsertion: { key, _, _ in
        guard let cache = home.cache, key != 9 else { return }
        _ = try? blocking(cache, key) { _ in home.tracker.make() }
      })
    home.cache = cache
    for key in 0..<5 { _ = try blocking(cache, key) { _ in home.tracker.make() } }
    home.cache = nil
    #expect(cache.flightCount == 0)
    cache.checkInvariants()
    let inner = Cache<Int, Int>()
    _ = home.tracker.make(0) { _ = try? blocking(inner, 1) { _ in 1 } }
    #expect(inner.value(forKey: 1) == 1)
  }

  private final class Home: @unchecked Sendable {
    var cache: Cache<Int, Tracked>?
    let tracker = LifetimeTracker()
  }

  @Test("A trap in a loader ends the process like any other")
  func trap() async {
    await #expect(processExitsWith: .failure) {
      _ = try blocking(Cache<Int, Int>(), 1) { _ in preconditionFailure("as it should") }
    }
  }

  @Test("Keys that do not equal themselves load each time, and nothing is left")
  func oddKeys() throws {
    let cache = Cache<Double, Int>()
    for number in 0..<3 { #expect(try blocking(cache, .nan) { _ in number } == number) }
    #expect(cache.flightCount == 0)
    cache.removeAll()
    cache.checkInvariants()
  }
}
