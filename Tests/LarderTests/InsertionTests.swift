// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

/// The cost function and the insertion observer.
@Suite("Cost function and insertion observer", .timeLimit(.minutes(20)))
struct InsertionTests {
  @Test("The function gives the cost of values without one; a given cost takes precedence")
  func costFunction() {
    let asked = Protected<[String]>([])
    let cache = Cache<String, String>(
      totalCostLimit: 100, policy: .lru,
      cost: { key, value in
        asked.withLock { $0.append(key) }
        return value.utf8.count
      })
    cache["a"] = "four"
    cache.insert("seven..", forKey: "b")
    cache.updateValue("six...", forKey: "a")
    cache.insert("five.", forKey: "c", cost: 50)
    #expect(cache.totalCost == 7 + 6 + 50)
    #expect(asked.withLock { $0 } == ["a", "b", "a"])
    #expect(cache.insert(String(repeating: "x", count: 101), forKey: "a") == .tooCostly)
    #expect(cache.insert("", forKey: "d") == .inserted)
    #expect(cache.totalCost == 57 && cache.count == 3)
    cache.insert(String(repeating: "x", count: 95), forKey: "e")
    #expect(cache.totalCost <= 100 && cache.contains("e"))
  }

  @Test("Huge costs from the function stay within bounds")
  func hugeCosts() {
    let cache = Cache<Int, Int>(countLimit: 3, cost: { _, value in value })
    for key in 0..<3 { cache[key] = .max }
    #expect(cache.totalCost == .max && cache.count == 3)
    cache.removeAll()
    #expect(cache.totalCost == 0)
    cache.checkInvariants()
  }

  @Test("A negative cost from the function stops the process")
  func negativeCost() async {
    await #expect(processExitsWith: .failure) {
      let cache = Cache<Int, Int>(cost: { _, _ in -1 })
      cache[1] = 1
    }
  }

  @Test("The cost function may use the cache")
  func costFunctionCallsTheCache() {
    let home = Protected<Cache<Int, Int>?>(nil)
    let cache = Cache<Int, Int>(
      totalCostLimit: 100,
      cost: { key, _ in
        let cache = home.withLock { $0 }
        cache?.insert(-1, forKey: key + 100, cost: 1)
        return cache?.count ?? 0
      })
    home.withLock { $0 = cache }
    for key in 0..<5 { cache[key] = key }
    #expect(cache.count > 5 && cache.totalCost <= 100)
    cache.checkInvariants()
    home.withLock { $0 = nil }
  }

  @Test("An observer hears of each stored value after the removals that the value caused")
  func observerHearsOfStoredValues() {
    let events = Protected<[String]>([])
    let cache = Cache<Int, String>(
      countLimit: 2, totalCostLimit: 10, policy: .lru,
      onRemoval: { key, value, _, cause in events.withLock { $0.append("-\(key)\(value) \(cause)") }
      },
      onInsertion: { key, value, cost in events.withLock { $0.append("+\(key)\(value) \(cost)") } })
    cache[1] = "a"
    cache.insert("b", forKey: 2, cost: 3)
    cache.insert("c", forKey: 3, cost: 4)
    cache.updateValue("d", forKey: 3)
    cache.insert("e", forKey: 3, cost: 11)
    cache.removeAll()
    #expect(
      events.withLock { $0 } == [
        "+1a 1", "+2b 3", "-1a limit", "+3c 4", "-3c replaced", "+3d 1", "-3d removed",
        "-2b removed",
      ])
  }

  @Test("With many threads, observers see every value once in and once out", arguments: [1, 4])
  func observersSeeEachValueTwice(shards: Int) {
    let tracker = LifetimeTracker()
    let balance = Protected<[Int: Int]>([:])
    do {
      let cache = Cache<Int, Tracked>(
        countLimit: 40, policy: .lru, shards: shards,
        onRemoval: { _, value, _, _ in
          precondition(value.isIntact)
          balance.withLock { $0[value.id, default: 0] -= 1 }
        },
        onInsertion: { key, value, cost in
          precondition(value.isIntact && value.payload == key && cost == key % 7)
          balance.withLock { $0[value.id, default: 0] += 1 }
        }, cost: { key, _ in key % 7 })
      onThreads(4) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for step in 0..<Stress.scaled(5_000, atLeast: 500) {
          let key = random.below(100)
          if step % 5 == 0 {
            cache.removeValue(forKey: key)
          } else {
            cache[key] = tracker.make(key)
          }
        }
      }
      let stored = Set(cache.values.map(\.id))
      #expect(balance.withLock { Set($0.filter { $0.value != 0 }.keys) } == stored)
      #expect(balance.withLock { counts in stored.allSatisfy { counts[$0] == 1 } })
      #expect(cache.keys.allSatisfy { cache.contains($0) } && cache.keys.count == cache.count)
      cache.checkInvariants()
    }
    waitUntil("all values are released") { tracker.live == 0 }
    #expect(tracker.faults.isEmpty)
  }

  @Test("An insertion observer may insert and remove")
  func insertionObserverMayWrite() {
    let home = Protected<Cache<Int, Int>?>(nil)
    let cache = Cache<Int, Int>(
      countLimit: 4, policy: .lru,
      onInsertion: { key, value, _ in
        guard value > 0, let cache = home.withLock({ $0 }) else { return }
        cache[key + 1] = value - 1
        cache.removeValue(forKey: key)
      })
    home.withLock { $0 = cache }
    cache[0] = 20
    #expect(cache.count == 1 && cache[20] == 0)
    home.withLock { $0 = nil }
  }

  @Test("Keys and values come in the order of the policy")
  func keysAndValuesInOrder() {
    let cache = Cache<Int, String>(policy: .lru)
    #expect(cache.keys.isEmpty && cache.values.isEmpty)
    for key in 1...3 { cache[key] = "\(key)" }
    _ = cache[1]
    #expect(cache.keys == [1, 3, 2])
    #expect(cache.values == ["1", "3", "2"])
  }

  @Test("insert tells what became of the value, and which was there before", arguments: [1, 4])
  func replacedValue(shards: Int) {
    for options in [Cache<Int, Int>.Options(), .init(rememberedEvictions: 10)] {
      let cache = Cache<Int, Int>(totalCostLimit: 10, shards: shards, options: options)
      var old: Int? = -1
      #expect(cache.insert(1, forKey: 1, replaced: &old) == .inserted && old == nil)
      #expect(cache.insert(2, forKey: 1, cost: 3, replaced: &old) == .replaced && old == 1)
      #expect(cache.insert(3, forKey: 1, cost: 11, replaced: &old) == .tooCostly && old == 2)
      #expect(cache.insert(4, forKey: 1, cost: 11, replaced: &old) == .tooCostly && old == nil)
      // By subscript only the statistics tell.
      let heavy = Cache<Int, Int>(totalCostLimit: 10, shards: shards, cost: { _, value in value })
      (heavy[1], heavy[1]) = (5, 11)
      #expect(heavy[1] == nil && heavy.statistics.refusals == 1)
    }
  }
}
