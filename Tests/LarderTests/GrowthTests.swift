// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Synchronization
import Testing

/// The table grows a little with every write, and no reader may notice.
@Suite("Growth", .timeLimit(.minutes(20)), .serialized)
struct GrowthTests {
  @Test("A cache grows to two million entries while readers run", arguments: [1, 4])
  func growthBesideReaders(shards: Int) {
    let total = Stress.scaled(2_000_000, atLeast: 50_000)
    let cache = Cache<Int, Int>(shards: shards)
    let inserted = Atomic<Int>(0)  // every key below it is in the cache
    onThreads(3, deadline: 600) { thread in
      if thread == 0 {
        for key in 0..<total {
          cache.insert(~key, forKey: key)
          inserted.store(key + 1, ordering: .releasing)
        }
      } else {
        var random = SplitMix64(seed: UInt64(thread))
        var known = 0
        while known < total {
          known = inserted.load(ordering: .acquiring)
          if known == 0 { continue }
          // Old keys at random, and the newest, whose bucket is probably moving.
          for key in [random.below(known), known - 1] {
            let value = thread == 1 ? cache.value(forKey: key) : cache.withValue(forKey: key) { $0 }
            precondition(value == ~key, "key \(key) of \(known) reads \(String(describing: value))")
          }
        }
      }
    }
    #expect(cache.count == total)
    var missing = 0
    for key in 0..<total where cache.peek(forKey: key) != ~key { missing += 1 }
    #expect(missing == 0)
    cache.checkInvariants()
    let batch = Array(stride(from: 0, to: total, by: 97))
    #expect(cache.values(forKeys: batch) == batch.map { ~$0 })
    cache.countLimit = 1_000
    #expect(cache.count == 1_000)
    cache.checkInvariants()
  }

  // Not under ThreadSanitizer: one thread, for long.
  /// Doubling the table once more would take 24 bytes for each entry here.
  @Test("A table grows no larger than the limit needs", arguments: [1, 8])
  func tableFitsTheLimit(shards: Int) {
    let cache = Cache<Int, Int>(countLimit: 200_000, policy: .lru, shards: shards)
    for key in 0..<250_000 { cache.insert(key, forKey: key) }
    #expect(cache.count == 200_000)
    let slots = 40
    let tables = 16
    let pages = 4 << 20
    #expect(cache.memoryFootprint <= 200_000 * (slots + tables) + pages)
    cache.checkInvariants()
    cache.countLimit = 400_000
    for key in 0..<500_000 { cache.insert(key, forKey: key) }
    #expect(cache.count == 400_000)
    cache.checkInvariants()
  }

  @Test("Several writers grow one table together", arguments: [1, 4])
  func severalWritersGrowOneTable(shards: Int) {
    let each = Stress.scaled(60_000, atLeast: 2_000)
    let cache = Cache<Int, Int>(shards: shards)
    onThreads(4) { thread in
      for number in 0..<each {
        let key = number * 4 + thread
        cache[key] = key
        precondition(cache[key] == key)
        if number % 3 == 2 { precondition(cache.removeValue(forKey: key - 4) == key - 4) }
      }
    }
    cache.checkInvariants()
    for key in 0..<(each * 4) {
      let number = key / 4
      let removed = number % 3 == 1 && number + 1 < each
      precondition(cache.contains(key) == !removed, "key \(key)")
    }
  }

  @Test("A table that empties and fills again keeps its entries")
  func tableEmptiesAndFillsAgain() {
    let cache = Cache<Int, Int>()
    for wave in 0..<5 {
      let size = [100, 20_000, 500, 30_000, 10][wave]
      for key in 0..<size { cache[key] = key + wave }
      #expect(cache.count == size)
      #expect((0..<size).allSatisfy { cache[$0] == $0 + wave })
      cache.checkInvariants()
      if wave % 2 == 0 { cache.removeAll() } else { cache.trim(toCount: 0) }
      #expect(cache.isEmpty)
      cache.checkInvariants()
    }
  }

  @Test("What threads that have ended had at hand keeps no memory")
  func endedThreads() {
    let threads = 40
    let cache = Cache<Int, SIMD64<Double>>(countLimit: 10_000)
    cache[-1] = .zero
    let stored = Protected(0)
    onThreads(threads) { thread in
      let keys = thread * 64..<(thread + 1) * 64
      for key in keys { cache[key] = .zero }
      // All at once, so that the slots of each lie in many pages.
      stored.withLock { $0 += 1 }
      while stored.withLock({ $0 }) < threads { sleepBriefly() }
      for key in keys { cache[key] = nil }
    }
    #expect(cache.count == 1)
    let fresh = Cache<Int, SIMD64<Double>>(countLimit: 10_000)
    fresh[-1] = .zero
    // Other tests use caches at the same time, and the background thread may have some in hand.
    waitUntil("the memory of \(threads) threads is back") {
      cache.reclaim()
      return cache.memoryFootprint < fresh.memoryFootprint + 256 << 10
    }
    cache.checkInvariants()
  }
}
