// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads of several keys at once.
@Suite("Bulk loads", .timeLimit(.minutes(20)))
struct BulkLoadTests {
  struct Broken: Error {}

  @Test("What is missing is loaded in one call; nothing missing, no call")
  func oneCall() async throws {
    let cache = Cache<Int, Int>()
    cache[1] = 10
    let asked = Protected<[[Int]]>([])
    let load = { @Sendable (keys: [Int]) async throws -> [Int: Int] in
      asked.withLock { $0.append(keys.sorted()) }
      // One too few, and one that nobody asked for.
      return [2: 20, 3: 30, 99: 990]
    }
    let first = await cache.values(forKeys: [1, 2, 3, 2, 4], load: load)
    #expect(first.count == 4)
    #expect(try first[1]!.get() == 10 && first[2]!.get() == 20 && first[3]!.get() == 30)
    #expect(throws: NoValue.self) { try first[4]!.get() }
    #expect(cache.value(forKey: 99) == nil)
    #expect(await cache.values(forKeys: [], load: load).isEmpty)
    #expect(await cache.values(forKeys: [1, 2, 3], load: load).count == 3)
    #expect(asked.withLock { $0 } == [[2, 3, 4]])
    #expect(cache.flightCount == 0 && cache.countedFlights == 0)
    cache.checkInvariants()
  }

  @Test("It joins loads under way, and single callers join it; removals outdate its keys alone")
  func joins() async throws {
    let cache = Cache<Int, Int>()
    let (single, bulk) = (Switch(), Switch())
    let asked = Protected<[Int]>([])
    async let one = cache.value(forKey: 1) { _ in
      while !single.isOn { await Task.yield() }
      return 1
    }
    while cache.flightCount < 1 { await Task.yield() }
    async let all = cache.values(forKeys: [1, 2, 3]) { keys in
      asked.withLock { $0 = keys.sorted() }
      while !bulk.isOn { await Task.yield() }
      return [2: 20, 3: 30]
    }
    while asked.withLock({ $0.isEmpty }) { await Task.yield() }
    async let two = cache.value(forKey: 2) { _ in -1 }
    while cache.loadStatistics.shared < 2 { await Task.yield() }
    cache.removeValue(forKey: 3)
    bulk.turnOn()
    single.turnOn()
    let values = try await all.mapValues { try $0.get() }
    #expect(values == [1: 1, 2: 20, 3: 30])
    let singles = try await [one, two]
    #expect(singles == [1, 20])
    #expect(asked.withLock { $0 } == [2, 3])
    #expect(cache.value(forKey: 2) == 20 && cache.value(forKey: 3) == nil)
  }

  @Test("An error fails the keys of the call; a cycle through it fails one key")
  func failures() async throws {
    let cache = Cache<Int, Int>()
    cache[1] = 1
    let broken = await cache.values(forKeys: [1, 2]) { _ in throw Broken() }
    #expect(try broken[1]!.get() == 1)
    #expect(throws: Broken.self) { try broken[2]!.get() }
    let cycle = await cache.values(forKeys: [3, 4]) { keys in
      _ = try await cache.value(forKey: 3) { _ in 0 }
      return [:]
    }
    #expect(throws: LoadCycle.self) { try cycle[4]!.get() }
    #expect(cache.flightCount == 0 && cache.countedFlights == 0)
  }

  @Test("A loading cache loads several keys together or one by one", arguments: [true, false])
  func loadingCache(together: Bool) async throws {
    let (singles, bulks) = (Counter(), Counter())
    let loadAll = { @Sendable (keys: [Int]) async throws -> [Int: Int] in
      bulks.next()
      return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 * 2) })
    }
    let cache = LoadingCache<Int, Int>(loadAll: together ? loadAll : nil) { key in
      singles.next()
      return key * 2
    }
    let values = try await cache.values(forKeys: [1, 2, 3]).mapValues { try $0.get() }
    #expect(values == [1: 2, 2: 4, 3: 6])
    #expect(bulks.value == (together ? 1 : 0) && singles.value == (together ? 0 : 3))
  }

  @Test("A cancelled caller leaves, and the bulk load goes on")
  func cancelled() async throws {
    let cache = Cache<Int, Int>()
    let gate = Switch()
    let caller = Task {
      await cache.values(forKeys: [1]) { _ in
        while !gate.isOn { await Task.yield() }
        return [1: 1]
      }
    }
    while cache.flightCount == 0 { await Task.yield() }
    caller.cancel()
    let results = await caller.value
    #expect(throws: CancellationError.self) { try results[1]!.get() }
    gate.turnOn()
    while cache.flightCount > 0 { await Task.yield() }
    #expect(cache.value(forKey: 1) == 1)
  }
}
