// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Observers that are added", .timeLimit(.minutes(20)))
struct ObservingTests {
  @Test("Added observers hear of removals until they are cancelled", arguments: [1, 4])
  func addedObservers(shards: Int) {
    let events = Protected<[String]>([])
    @Sendable func note(_ text: String) { events.withLock { $0.append(text) } }
    let cache = Cache<Int, String>(
      countLimit: 100, policy: .lru, name: "words", shards: shards,
      onRemoval: { key, _, _, _ in note("first \(key)") })
    cache[1] = "a"
    let second = cache.observeRemovals { cache, key, value, cost, cause in
      note("\(cache.name) \(key) \(value) \(cost) \(cause)")
    }
    cache[1] = nil
    let third = cache.observeRemovals { cache, key, _, _, _ in
      note("third \(key), \(cache.count) left")
    }
    cache.insert("b", forKey: 2, cost: 3)
    cache.insert("c", forKey: 2)
    second.cancel()
    second.cancel()
    cache.trim(toCount: 0)
    third.cancel()
    cache[3] = "d"
    cache.removeAll()
    #expect(
      events.withLock { $0 } == [
        "first 1", "words 1 a 0 removed",
        "first 2", "words 2 b 3 replaced", "third 2, 1 left",
        "first 2", "third 2, 0 left", "first 3",
      ])
    cache.checkInvariants()
  }

  @Test("What expires by itself is shown to a late observer")
  func lateObserverOfExpiry() {
    let cache = Cache<Int, Int>(expiration: .afterWrite(.milliseconds(20)))
    let causes = Protected<[RemovalCause]>([])
    cache.observeRemovals { _, _, _, _, cause in causes.withLock { $0.append(cause) } }
    for key in 0..<100 { cache[key] = key }
    waitUntil("the observer has heard of all") { causes.withLock { $0.count } == 100 }
    #expect(causes.withLock { $0.allSatisfy { $0 == .expired } })
    #expect(cache.isEmpty)
  }

  @Test("A cache that nobody observed hands its evictions to a late observer")
  func lateObserver() {
    let cache = Cache<Int, Int>(countLimit: 10, policy: .lru)
    for key in 0..<20 { cache[key] = key }
    let keys = Protected<[Int]>([])
    cache.observeRemovals { _, key, _, _, cause in
      #expect(cause == .limit)
      keys.withLock { $0.append(key) }
    }
    for key in 20..<40 { cache[key] = key }
    #expect(keys.withLock { $0 } == Array(10..<30))
  }

  @Test("An observer that comes while others write sees each later value leave", arguments: [1, 4])
  func whileOthersWrite(shards: Int) {
    for round in 0..<Stress.scaled(40, atLeast: 4) {
      let tracker = LifetimeTracker()
      let cache = Cache<Int, Tracked>(totalCostLimit: 300, policy: .lru, shards: shards)
      let seen = Protected<Set<Int>>([])
      let mark = Protected(0)
      onThreads(3) { thread in
        if thread == 0 {
          for _ in 0..<20 {
            cache.observeRemovals { _, _, _, _, _ in }.cancel()
          }
          cache.observeRemovals { _, _, value, _, _ in
            seen.withLock { _ = $0.insert(value.id) }
          }
          mark.withLock { $0 = max(tracker.created, 1) }
          return
        }
        var random = SplitMix64(seed: UInt64(round * 2 + thread))
        // Until some time after the observer has come.
        var left = 500
        while left > 0 {
          if mark.withLock({ $0 }) > 0 { left -= 1 }
          let key = random.below(100)
          cache.insert(tracker.make(key), forKey: key, cost: 1 + random.below(90))
        }
      }
      cache.removeAll()
      // Those made since have left since, and nobody has missed one.
      let since = mark.withLock { $0 }..<tracker.created
      #expect(since.count > 500)
      #expect(seen.withLock { $0 }.isSuperset(of: since))
      cache.checkInvariants()
      waitUntil("everything is released once") {
        cache.reclaim()
        return tracker.live == 0
      }
      #expect(tracker.faults.isEmpty)
    }
  }
}
