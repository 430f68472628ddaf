// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Changes in place", .timeLimit(.minutes(20)))
struct ModifyingTests {
  struct Stop: Error {}

  @Test("No change of another thread is lost", arguments: [1, 4], [false, true])
  func threads(shards: Int, observed: Bool) {
    let seen = Protected(0)
    let count: Cache<String, Int>.InsertionObserver = { _, _, _ in seen.withLock { $0 += 1 } }
    let cache = Cache<String, Int>(shards: shards, onInsertion: observed ? count : nil)
    let rounds = Stress.scaled(50_000, atLeast: 5_000)
    onThreads(4) { _ in
      for _ in 0..<rounds { cache.modifyValue(forKey: "n", default: 0) { $0 += 1 } }
    }
    #expect(cache["n"] == 4 * rounds)
    #expect(cache.count == 1)
    if observed { #expect(seen.withLock { $0 } == 4 * rounds) }
    cache.checkInvariants()
  }

  @Test("The cost stays unless another is given or a cost function computes it")
  func costs() {
    let cache = Cache<String, [Int]>(totalCostLimit: 1_000)
    cache.insert([1], forKey: "a", cost: 100)
    cache["a"]?.append(2)
    #expect(cache.totalCost == 100 && cache["a"] == [1, 2])
    cache.modifyValue(forKey: "a") { $0.append(3) }
    #expect(cache.totalCost == 100 && cache["a"] == [1, 2, 3])
    cache.modifyValue(forKey: "a", cost: 7) { $0.append(4) }
    #expect(cache.totalCost == 7)
    cache["a"] = [1]
    #expect(cache.totalCost == 1, "an assignment stores anew")
    cache["a"]? = [2]
    #expect(cache["b"]?.append(1) == nil && !cache.contains("b"))
    let sizes = Cache<String, [Int]>(totalCostLimit: 1_000, cost: { $1.count })
    sizes["a"] = [1]
    sizes["a"]?.append(2)
    #expect(sizes.totalCost == 2)
    sizes.modifyValue(forKey: "a") { $0 += [3, 4] }
    #expect(sizes.totalCost == 4)
  }

  @Test("It tells what became of the value")
  func outcomes() {
    let cache = Cache<Int, Int>(totalCostLimit: 10)
    #expect(cache.modifyValue(forKey: 1) { $0 += 1 } == nil)
    #expect(cache.modifyValue(forKey: 1, default: 5) { $0 += 1 } == .inserted)
    #expect(cache.modifyValue(forKey: 1, default: 5) { $0 += 1 } == .replaced)
    #expect(cache[1] == 7)
    #expect(cache.modifyValue(forKey: 1, default: 0, cost: 11) { $0 = 0 } == .tooCostly)
    #expect(cache[1] == nil)
    #expect(cache.statistics.misses == 3 && cache.statistics.hits == 3)
  }

  @Test("If the body throws, nothing changes")
  func throwing() {
    let cache = Cache<Int, Int>()
    cache[1] = 1
    #expect(throws: Stop.self) {
      try cache.modifyValue(forKey: 1) { (value) throws(Stop) in
        value = 2
        throw Stop()
      }
    }
    #expect(cache[1] == 1)
  }

  /// Calls `body` inside of so many loans of one key.
  private func nest<Value>(
    _ loans: Int, of key: Int, in cache: Cache<Int, Value>, _ body: () -> Void
  ) {
    if loans == 0 { return body() }
    cache.withValue(forKey: key) { _ in nest(loans - 1, of: key, in: cache, body) }
  }

  @Test("A body that writes the key runs again on what it has written", arguments: [0, 40])
  func reentry(loans: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(countLimit: 3)
    cache[9] = tracker.make(9)
    nest(loans, of: 9, in: cache) { writeInBody(of: cache, tracker) }
    cache.removeAll()
    #expect(settles(tracker, at: 0, cache) && tracker.faults.isEmpty)
  }

  private func writeInBody(of cache: Cache<Int, Tracked>, _ tracker: LifetimeTracker) {
    cache[1] = tracker.make(10)
    var runs = 0
    cache.modifyValue(forKey: 1) { value in
      runs += 1
      if runs == 1 { cache[1] = tracker.make(20) }
      if runs == 2 { cache[1] = nil }
      value = tracker.make(value.payload + 1)
    }
    #expect(runs == 2 && cache[1] == nil)
    cache.modifyValue(forKey: 1, default: tracker.make(1)) { value in
      runs += 1
      if runs == 3 { cache[1] = tracker.make(30) }
      value = tracker.make(value.payload + 1)
    }
    #expect(runs == 4 && cache[1]?.payload == 31)
  }

  @Test("A body that writes other keys runs once, also where no loan is left", arguments: [0, 40])
  func otherKeys(loans: Int) {
    let cache = Cache<Int, [Int]>(countLimit: 100, policy: .lru, shards: 1)
    for key in 0..<100 { cache[key] = [key] }
    var runs = 0
    nest(loans, of: 9, in: cache) {
      cache.modifyValue(forKey: 50) { value in
        runs += 1
        cache[60] = [7]
        cache[61] = nil
        for key in 200..<210 { cache[key] = [key] }
        value.append(1)
      }
    }
    #expect(runs == 1 && cache[50] == [50, 1] && cache[60] == [7])
    cache.checkInvariants()
  }

  @Test("A change keeps the lifetime that is set meanwhile", arguments: [0, 40])
  func lifetimeSetMeanwhile(loans: Int) {
    let clock = ManualClock()
    let cache = Cache<Int, Int>(options: .init(clock: .manual(clock)))
    for key in [1, 9] { cache.insert(0, forKey: key, expiresAfter: .seconds(600)) }
    var runs = 0
    nest(loans, of: 9, in: cache) {
      cache.modifyValue(forKey: 1) { value in
        runs += 1
        if runs == 1 { cache.setLifetime(.seconds(10), forKey: 1) }
        value += 1
      }
    }
    #expect(runs == 2 && cache[1] == 1)
    clock.advance(by: .seconds(10))
    #expect(cache[1] == nil)
  }

  @Test("A change that costs more evicts others, whatever shard they are in", arguments: [1, 2, 8])
  func growth(shards: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 40, policy: .lru, shards: shards)
    for key in 0..<8 { cache.insert(0, forKey: key, cost: 5) }
    for key in 0..<8 {
      cache.modifyValue(forKey: key, default: 0, cost: 30) { $0 += 1 }
      #expect(cache[key] == 1 && cache.totalCost <= 40)
    }
    cache.checkInvariants()
  }
}
