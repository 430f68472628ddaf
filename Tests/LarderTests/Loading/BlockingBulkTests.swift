// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Loads of several keys at once by threads.
@Suite("Blocking bulk loads", .timeLimit(.minutes(20)))
struct BlockingBulkTests {
  struct Broken: Error {}

  @Test("What is missing is loaded in one call; each key has its own result")
  func oneCall() throws {
    let cache = Cache<Int, Int>()
    cache[1] = 10
    var asked: [[Int]] = []
    // One too few, and one that nobody asked for.
    let load = { (keys: [Int]) in
      asked.append(keys.sorted())
      return [2: 20, 3: 30, 99: 990]
    }
    let first = cache.values(forKeys: [1, 2, 3, 2, 4], load: load)
    #expect(first.count == 4)
    #expect(try first[1]!.get() == 10 && first[2]!.get() == 20 && first[3]!.get() == 30)
    #expect(throws: NoValue.self) { try first[4]!.get() }
    #expect(cache.value(forKey: 99) == nil && cache.value(forKey: 2) == 20)
    #expect(cache.values(forKeys: [], load: load).isEmpty)
    #expect(cache.values(forKeys: [1, 2, 3], load: load).count == 3)
    #expect(asked == [[2, 3, 4]])
    let broken = cache.values(forKeys: [1, 5]) { _ throws(Broken) in throw Broken() }
    #expect(try broken[1]!.get() == 10)
    #expect(throws: Broken.self) { try broken[5]!.get() }
    #expect(cache.loadStatistics.loads == 2 && cache.loadStatistics.failures == 1)
    #expect(cache.flightCount == 0 && cache.countedFlights == 0)
    cache.checkInvariants()
  }

  @Test("It joins tasks and tasks join it; a removal outdates its key alone")
  func joins() async throws {
    let cache = Cache<Int, Int>()
    let (single, bulk) = (Switch(), Switch())
    let asked = Protected<[Int]>([])
    async let one = cache.value(forKey: 1) { _ in
      while !single.isOn { await Task.yield() }
      return 1
    }
    while cache.flightCount < 1 { await Task.yield() }
    async let all = run {
      Self.values(cache, [1, 2, 3]) { keys in
        asked.withLock { $0 = keys.sorted() }
        waitUntil("the end of the load") { bulk.isOn }
        return [2: 20, 3: 30]
      }
    }
    while asked.withLock({ $0.isEmpty }) { await Task.yield() }
    async let two = cache.value(forKey: 2) { _ in -1 }
    while cache.loadStatistics.shared < 2 { await Task.yield() }
    cache.removeValue(forKey: 3)
    bulk.turnOn()
    // The thread has its own values, and waits for the other one.
    while cache.value(forKey: 2) == nil { await Task.yield() }
    single.turnOn()
    let values = try await all.mapValues { try $0.get() }
    #expect(values == [1: 1, 2: 20, 3: 30])
    let singles = try await [one, two]
    #expect(singles == [1, 20])
    #expect(asked.withLock { $0 } == [2, 3])
    #expect(cache.value(forKey: 3) == nil && cache.flightCount == 0)
    #expect(cache.loadStatistics.outdated == 1)
  }

  /// The blocking form, which asynchronous functions cannot name.
  private static func values(
    _ cache: Cache<Int, Int>, _ keys: [Int], _ load: ([Int]) -> [Int: Int]
  ) -> [Int: Result<Int, any Error>] {
    cache.values(forKeys: keys, load: load)
  }

  @Test(
    "A load that asks for a key of its own gets a cycle, also from an observer", arguments: [1, 2])
  func cycles(asked: Int) throws {
    let home = Protected<Cache<Int, Int>?>(nil)
    let seen = Protected<[Bool]>([])
    @Sendable func ask() {
      let result = Self.values(home.withLock { $0! }, [asked]) { _ in [:] }
      guard case .failure(let error) = result[asked] else { return }
      seen.withLock { $0.append(error is LoadCycle) }
    }
    let cache = Cache<Int, Int>(onInsertion: { _, _, _ in ask() })
    home.withLock { $0 = cache }
    let values = cache.values(forKeys: [1, 2]) { _ in
      ask()
      return [1: 1, 2: 2]
    }
    home.withLock { $0 = nil }
    #expect(try values[1]!.get() == 1 && values[2]!.get() == 2)
    // The load asks, and the observer of whichever key is stored while the other one is loaded.
    #expect(seen.withLock { $0.first == true && $0.allSatisfy { $0 } })
    #expect(cache.flightCount == 0 && cache.countedFlights == 0)
  }

  @Test("Threads with the same keys in any order: each key is loaded once")
  func crowd() throws {
    for round in 0..<Stress.scaled(200, atLeast: 20) {
      let cache = Cache<Int, Int>()
      let loads = Protected([Int](repeating: 0, count: 20))
      onThreads(8) { thread in
        var random = SplitMix64(seed: UInt64(round * 8 + thread))
        let keys = (0..<12).map { _ in random.below(20) }
        let values = cache.values(forKeys: keys) { keys in
          loads.withLock { loads in for key in keys { loads[key] += 1 } }
          return Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 * 3) })
        }
        precondition(values.count == Set(keys).count)
        for (key, value) in values { precondition(try! value.get() == key * 3) }
      }
      #expect(loads.withLock { $0.allSatisfy { $0 <= 1 } })
      #expect(cache.flightCount == 0 && cache.countedFlights == 0)
    }
  }
}
