// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads that wait for each other in a circle are told so.
@Suite("Load cycles", .timeLimit(.minutes(20)))
struct LoadCycleTests {
  private func keys(_ error: (any Error)?) -> [Int]? {
    (error as? LoadCycle)?.keys.compactMap { $0 as? Int }
  }

  @Test("A load that asks for its own key")
  func own() async {
    let cache = Cache<Int, Int>()
    let blocked = #expect(throws: LoadCycle.self) {
      try blocking(cache, 1) { key in try blocking(cache, key) { _ in 2 } }
    }
    #expect(keys(blocked) == [1])
    let suspended = await #expect(throws: LoadCycle.self) {
      try await cache.value(forKey: 1) { key in try await cache.value(forKey: key) { _ in 2 } }
    }
    #expect(keys(suspended) == [1])
    #expect(suspended?.description == "a load waits for itself: 1 > 1")
    #expect(cache.flightCount == 0)
  }

  @Test("Keys that are loaded in one call are one load, also for what only one of them needs")
  func together() async {
    let inner = Protected<LoadingCache<Int, Int>?>(nil)
    let cache = LoadingCache<Int, Int>(
      loading: .init(gathering: .init(most: 2, delay: .seconds(86_400))),
      loadAll: { keys in
        let cache = inner.withLock { $0! }
        // Of the two only key 12 is made from key 1.
        let one = keys.contains(12) ? try await cache[1] : 1
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 * one) })
      },
      load: { $0 })
    inner.withLock { $0 = cache }
    let other = Task { try await cache[1] }
    let error = await #expect(throws: LoadCycle.self) { try await cache[12] }
    #expect(keys(error) == [1])
    await #expect(throws: LoadCycle.self) { try await other.value }
    #expect(cache.cache.flightCount == 0 && cache.cache.countedFlights == 0)
    inner.withLock { $0 = nil }
  }

  @Test("Through other loads, of threads and tasks in any mix", arguments: 0..<8)
  func mixed(kinds: Int) async {
    let cache = Cache<Int, Int>()
    let other = Cache<String, Int>()
    // Bit n: whether load n blocks a thread.
    @Sendable func one() throws -> Int { try blocking(cache, 1) { _ in try two() } }
    @Sendable func two() throws -> Int { try blocking(other, "2") { _ in try three() } }
    @Sendable func three() throws -> Int { try blocking(cache, 3) { _ in try one() } }
    @Sendable func oneAsync() async throws -> Int {
      if kinds & 1 != 0 { return try await Self.onThread(one) }
      return try await cache.value(forKey: 1) { _ in try await twoAsync() }
    }
    @Sendable func twoAsync() async throws -> Int {
      if kinds & 2 != 0 { return try blockingTwo() }
      return try await other.value(forKey: "2") { _ in try await threeAsync() }
    }
    @Sendable func blockingTwo() throws -> Int { try two() }
    @Sendable func threeAsync() async throws -> Int {
      if kinds & 4 != 0 { return try blockingThree() }
      return try await cache.value(forKey: 3) { _ in
        // In a child task, which inherits what is running.
        try await withThrowingTaskGroup(of: Int.self) { group in
          group.addTask { try await cache.value(forKey: 1) { _ in 0 } }
          return try await group.next()!
        }
      }
    }
    @Sendable func blockingThree() throws -> Int { try three() }
    let error = await #expect(throws: LoadCycle.self) { try await oneAsync() }
    // Any load may be the one that closes the circle.
    let keys = error?.keys.map { "\($0)" } ?? []
    let first = keys.firstIndex(of: "1") ?? 0
    #expect(keys[first...] + keys[..<first] == ["1", "2", "3"])
    #expect(cache.flightCount == 0 && other.flightCount == 0)
  }

  private static func onThread(_ body: @escaping @Sendable () throws -> Int) async throws -> Int {
    try await run { Result(catching: body) }.get()
  }

  @Test("Two threads and two tasks that ask for each other's keys: never a hang", arguments: 0..<3)
  func crossing(kind: Int) async {
    for _ in 0..<Stress.scaled(200, atLeast: 20) {
      let cache = Cache<Int, Int>()
      let begun = Counter()
      @Sendable func blockingSide(_ own: Int, _ other: Int) -> Bool {
        do {
          _ = try blocking(cache, own) { _ in
            begun.next()
            waitUntil("both") { begun.value >= 2 }
            return try blocking(cache, other) { _ in 0 }
          }
          return false
        } catch { return error is LoadCycle }
      }
      @Sendable func asyncSide(_ own: Int, _ other: Int) async -> Bool {
        do {
          _ = try await cache.value(forKey: own) { _ in
            begun.next()
            while begun.value < 2 { await Task.yield() }
            return try await cache.value(forKey: other) { _ in 0 }
          }
          return false
        } catch { return error is LoadCycle }
      }
      async let first = kind == 0 ? asyncSide(1, 2) : run { blockingSide(1, 2) }
      async let second = kind == 2 ? run { blockingSide(2, 1) } : asyncSide(2, 1)
      let results = await [first, second]
      #expect(results == [true, true])
      #expect(cache.flightCount == 0)
    }
  }

  @Test("Loads that wait for others in a tree or a diamond are no cycle")
  func diamond() async throws {
    let cache = Cache<Int, Int>()
    @Sendable func value(_ key: Int) async throws -> Int {
      try await cache.value(forKey: key) { key in
        if key == 0 { return 1 }
        async let left = value(key - 1)
        async let right = value(max(0, key - 2))
        return try await left + right
      }
    }
    #expect(try await value(12) == 377)
    #expect(cache.loadStatistics.loads == 13)
  }
}
