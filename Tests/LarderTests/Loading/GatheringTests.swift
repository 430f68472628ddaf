// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Misses of single keys that are loaded together.
@Suite("Gathered loads", .timeLimit(.minutes(20)))
struct GatheringTests {
  struct Broken: Error {}

  /// A cache of squares that notes which keys it loads together, and never one alone.
  private func squares(
    most: Int, delay: Duration, limit: Int = 0, asked: Protected<[[Int]]>,
    before: @escaping @Sendable ([Int]) async throws -> Void = { _ in }
  ) -> LoadingCache<Int, Int> {
    LoadingCache(
      loading: LoadingOptions(loadLimit: limit, gathering: .init(most: most, delay: delay)),
      loadAll: { keys in
        asked.withLock { $0.append(keys.sorted()) }
        try await before(keys)
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 * $0) })
      },
      load: { _ in throw Broken() })
  }

  private func sum(_ keys: Range<Int>, of cache: LoadingCache<Int, Int>) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for key in keys { group.addTask { try await cache[key] } }
      return try await group.reduce(0, +)
    }
  }

  @Test(
    "As many as are asked for are loaded at once, whatever the delay",
    arguments: [86_400, Int64.max])
  func full(seconds: Int64) async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 4, delay: .seconds(seconds), asked: asked)
    #expect(try await sum(0..<12, of: cache) == (0..<12).reduce(0) { $0 + $1 * $1 })
    #expect(asked.withLock { $0.map(\.count) } == [4, 4, 4])
    #expect(asked.withLock { $0.flatMap { $0 }.sorted() } == Array(0..<12))
    #expect(cache.cache.count == 12 && cache.cache.flightCount == 0)
  }

  @Test("A lookup of many keys loads no more of them in one call", arguments: [0, 1, 4, 9])
  func many(count: Int) async {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 4, delay: .seconds(86_400), asked: asked)
    let found = await cache.values(forKeys: Array(0..<count))
    #expect(
      found.mapValues { try? $0.get() }
        == .init(uniqueKeysWithValues: (0..<count).map { ($0, $0 * $0) }))
    let calls = asked.withLock { $0 }
    #expect(calls.count == (count + 3) / 4 && calls.allSatisfy { $0.count <= 4 })
    #expect(calls.flatMap { $0 }.sorted() == Array(0..<count))
  }

  @Test("The end of the window loads those who are there", arguments: [0, 1])
  func window(milliseconds: Int) async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 100, delay: .milliseconds(milliseconds), asked: asked)
    for key in 0..<3 { #expect(try await cache[key] == key * key) }
    #expect(asked.withLock { $0 } == [[0], [1], [2]])
    #expect(try await sum(0..<50, of: cache) == (0..<50).reduce(0) { $0 + $1 * $1 })
    #expect(asked.withLock { $0.flatMap { $0 }.sorted() } == Array(0..<50))
    #expect(cache.statistics.loads == 50 && cache.cache.flightCount == 0)
  }

  @Test("A key that is asked for again after a removal is loaded once, for both callers")
  func twice() async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 3, delay: .seconds(86_400), asked: asked)
    var callers: [Task<Int, any Error>] = []
    for _ in 0..<2 {
      callers.append(Task { try await cache[7] })
      while cache.cache.flightCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
      if callers.count == 1 { cache.cache.removeAll() }
    }
    callers.append(Task { try await cache[8] })
    for (caller, value) in zip(callers, [49, 49, 64]) { #expect(try await caller.value == value) }
    #expect(asked.withLock { $0 } == [[7, 8]])
    #expect(cache.cache.value(forKey: 7) == 49 && cache.cache.flightCount == 0)
  }

  @Test("A caller that leaves does not take the others with it")
  func leaving() async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 2, delay: .seconds(86_400), asked: asked)
    let leaver = Task { try await cache[1] }
    while cache.cache.flightCount == 0 { await Task.yield() }
    leaver.cancel()
    await #expect(throws: CancellationError.self) { try await leaver.value }
    #expect(try await cache[2] == 4)
    #expect(cache.cache.value(forKey: 1) == 1)
    #expect(cache.cache.flightCount == 0 && cache.cache.countedFlights == 0)
  }

  @Test(
    "All who wait for a key that is inserted meanwhile have it when the window ends",
    arguments: [false, true])
  func inserted(firstLeaves: Bool) async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 2, delay: .seconds(86_400), asked: asked)
    let ended = Counter()
    let first = Task { try await cache[7] }
    while cache.cache.flightCount == 0 { await Task.yield() }
    let callers = (0..<4).map { _ in
      Task {
        defer { ended.next() }
        return try await cache[7]
      }
    }
    while cache.statistics.shared < 4 { await Task.yield() }
    if firstLeaves {
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
    }
    cache.cache[7] = 1
    #expect(try await cache[8] == 64)
    // Whoever joined anew would wait for another window.
    while ended.value < 4 && cache.statistics.shared == 4 { await Task.yield() }
    #expect(ended.value == 4 && cache.statistics.shared == 4)
    // Each has looked once, and found nothing.
    let numbers = cache.cache.statistics
    #expect(numbers.hits == 0 && numbers.misses == 6)
    #expect(asked.withLock { $0 } == [[8]])
    for caller in callers { caller.cancel() }
    for caller in callers { #expect(try await caller.value == 1) }
    if !firstLeaves { #expect(try await first.value == 1) }
    cache.cache.checkInvariants()
  }

  @Test("A refresh that waits for others replaces nothing that is written meanwhile")
  func refreshed() async throws {
    let asked = Protected<[[Int]]>([])
    let cache = squares(most: 5, delay: .seconds(86_400), asked: asked)
    for key in 2..<5 {
      cache.cache[key] = 1
      #expect(cache.refresh(forKey: key))
    }
    #expect(cache.cache.countedFlights == 3)
    cache.cache[3] = 2
    cache.cache.removeValue(forKey: 4)
    // The removed key is asked for again, in the same batch.
    async let again = cache[4]
    #expect(try await cache[5] == 25)
    #expect(try await again == 16)
    while cache.cache.flightCount > 0 { await Task.yield() }
    #expect(asked.withLock { $0 } == [[2, 3, 4, 5]])
    #expect((2..<6).map { cache.cache.peek(forKey: $0) } == [4, 2, 16, 25])
    #expect(cache.statistics.outdated == 2 && cache.cache.countedFlights == 0)
    // One that nobody asks for does not come back.
    #expect(cache.refresh(forKey: 2))
    cache.cache.removeValue(forKey: 2)
    #expect(try await sum(6..<10, of: cache) == 230)
    while cache.cache.flightCount > 0 { await Task.yield() }
    #expect(cache.cache.peek(forKey: 2) == nil)
    cache.cache.checkInvariants()
  }

  @Test("A load that asks for others gets them though no other load may run")
  func nested() async throws {
    let asked = Protected<[[Int]]>([])
    let inner = Protected<LoadingCache<Int, Int>?>(nil)
    let cache = squares(most: 2, delay: .seconds(86_400), limit: 1, asked: asked) { keys in
      guard keys.contains(0) else { return }
      let cache = inner.withLock { $0! }
      // One of the load, and one of somebody else, who waits for it.
      let other = Task.detached { try await cache[11] }
      _ = try await cache[10]
      _ = try await other.value
    }
    inner.withLock { $0 = cache }
    #expect(try await sum(0..<2, of: cache) == 1)
    #expect(asked.withLock { $0 } == [[0, 1], [10, 11]])
    inner.withLock { $0 = nil }
  }

  @Test("An error reaches all of the batch; a removal outdates a key of it")
  func errors() async throws {
    let asked = Protected<[[Int]]>([])
    let broken = squares(most: 2, delay: .zero, asked: asked) { _ in throw Broken() }
    await #expect(throws: Broken.self) { try await sum(0..<2, of: broken) }
    #expect(broken.cache.isEmpty)
    let (started, gate) = (Switch(), Switch())
    let cache = squares(most: 2, delay: .seconds(86_400), asked: asked) { _ in
      started.turnOn()
      while !gate.isOn { await Task.yield() }
    }
    async let both = sum(1..<3, of: cache)
    while !started.isOn { await Task.yield() }
    cache.cache.removeValue(forKey: 1)
    gate.turnOn()
    #expect(try await both == 5)
    #expect(cache.cache.value(forKey: 1) == nil && cache.cache.value(forKey: 2) == 4)
  }
}
