// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// Changes that depend on what is stored.
@Suite("Atomic changes", .timeLimit(.minutes(20)))
struct AtomicChangeTests {
  struct Broken: Error {}

  @Test("Inserting if absent")
  func ifAbsent() {
    let cache = Cache<Int, Int>(totalCostLimit: 10)
    var result = cache.insert(1, ifAbsentForKey: 1, cost: 3)
    #expect(result.inserted && result.current == 1 && cache.totalCost == 3)
    result = cache.insert(2, ifAbsentForKey: 1)
    #expect(!result.inserted && result.current == 1)
    result = cache.insert(2, ifAbsentForKey: 2, cost: 11)
    #expect(!result.inserted && result.current == nil && cache.count == 1)
  }

  @Test("An update inserts, changes, tells the cost anew, removes, and throws")
  func update() throws {
    let cache = Cache<Int, Int>(totalCostLimit: 100)
    func add(_ amount: Int) -> Int {
      func change(_ value: inout Int?) -> Int {
        value = (value ?? 0) + amount
        return value!
      }
      return cache.updateValue(forKey: 1, cost: { $0 }, change)
    }
    #expect(add(5) == 5 && add(7) == 12 && cache.totalCost == 12)
    #expect(throws: Broken.self) {
      try cache.updateValue(forKey: 1) { value in
        value = 0
        throw Broken()
      }
    }
    #expect(cache.value(forKey: 1) == 12)
    cache.updateValue(forKey: 1) { $0 = nil }
    cache.updateValue(forKey: 1) { $0 = nil }
    #expect(cache.isEmpty)
    cache.checkInvariants()
  }

  @Test("Another write in between makes it begin again", arguments: [true, false])
  func conflict(removes: Bool) {
    let cache = Cache<Int, Int>()
    cache[1] = 1
    var runs = 0
    cache.updateValue(forKey: 1) { value in
      runs += 1
      if runs == 1 { cache[1] = removes ? nil : 10 }
      value = (value ?? 100) + 1
    }
    #expect(runs == 2 && cache.value(forKey: 1) == (removes ? 101 : 11))
    runs = 0
    cache.updateValue(forKey: 1) { value in
      runs += 1
      if runs == 1 { cache[1] = 50 }
      value = nil
    }
    #expect(runs == 2 && cache.value(forKey: 1) == nil)
  }

  @Test("No change of many threads is lost", arguments: [0, 40])
  func counting(loans: Int) {
    let cache = Cache<Int, Int>()
    let rounds = Stress.scaled(5_000)
    cache[9] = 9
    @Sendable func nest(_ depth: Int, _ body: () -> Void) {
      if depth == 0 { return body() }
      cache.withValue(forKey: 9) { _ in nest(depth - 1, body) }
    }
    onThreads(4) { _ in
      nest(loans) {
        for round in 0..<rounds { cache.updateValue(forKey: round % 2) { $0 = ($0 ?? 0) + 1 } }
      }
    }
    #expect(cache.value(forKey: 0)! + cache.value(forKey: 1)! == 4 * rounds)
    cache.checkInvariants()
  }

  @Test("An atomic change outdates a load")
  func outdates() throws {
    let cache = Cache<Int, Int>()
    _ = try blocking(cache, 1) { key in
      cache.updateValue(forKey: key) { $0 = 7 }
      return 1
    }
    #expect(cache.value(forKey: 1) == 7)
    _ = try blocking(cache, 2) { key in
      cache.insert(8, ifAbsentForKey: key)
      return 2
    }
    #expect(cache.value(forKey: 2) == 8)
    #expect(cache.loadStatistics.outdated == 2)
  }

  @Test("An access in place that finds nothing and leaves nothing outdates no load")
  func absent() throws {
    let cache = Cache<Int, [Int]>()
    let loaded = try blocking(cache, 1) { key in
      cache[key]?.append(5)
      return [key]
    }
    #expect(loaded == [1] && cache[1] == [1] && cache.loadStatistics.outdated == 0)
    cache[1]?.append(5)
    #expect(cache[1] == [1, 5])
    #expect(cache[1].take() == [1, 5] && cache[1] == nil)
    cache[1] = [2]
    #expect(cache[1] == [2])
  }

  @Test("A negative cost ends the process")
  func negativeCost() async {
    await #expect(processExitsWith: .failure) {
      Cache<Int, Int>().insert(1, ifAbsentForKey: 1, cost: -1)
    }
    await #expect(processExitsWith: .failure) {
      let negative = { (_: Int) in -1 }
      Cache<Int, Int>().updateValue(forKey: 1, cost: negative) { $0 = 1 }
    }
  }
}
