// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Entries of cost 0")
struct FreeEntryTests {
  @Test("Entries without a cost stay under a cost limit")
  func freeEntries() {
    let cache = Cache<Int, Int>(totalCostLimit: 1)
    for key in 0..<100 { cache.insert(key, forKey: key, cost: 0) }
    #expect(cache.count == 100)
    cache.insert(100, forKey: 100, cost: 1)
    #expect(cache.count == 101)
    cache.insert(101, forKey: 101, cost: 1)
    #expect(!cache.contains(100) && cache.contains(101))
    #expect(cache.count == 96, "one in seventeen goes where no other is in reach")
  }

  @Test(
    "To free cost, entries of cost 0 are passed over, unless the policy goes by cost",
    arguments: EvictionPolicy.allCases.filter { !$0.needsCosts }, [1, 4])
  func freeEntriesArePassedOver(policy: EvictionPolicy, shards: Int) {
    let free = 0..<10
    let cache = Cache<Int, Int>(totalCostLimit: 20, policy: policy, shards: shards)
    for key in free { cache.insert(key, forKey: key, cost: 0) }
    for key in 100..<1_100 {
      cache.insert(key, forKey: key, cost: 1 + key % 2)
      cache.removeValue(forKey: key - 30)
      cache.checkInvariants()
    }
    #expect(free.allSatisfy(cache.contains))
    #expect(cache.totalCost <= 20 && cache.totalCost > 0)
    cache.trim(toCost: 0)
    #expect(free.allSatisfy(cache.contains) && cache.totalCost == 0)
    cache.trim(toCount: 3)
    #expect(cache.count == 3, "want of places does not")
  }

  @Test("LFU passes over free entries, however often the others were used", arguments: [1, 2, 8])
  func freeEntriesUnderLFU(free: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 20, policy: .lfu)
    cache.insert(0, forKey: 0, cost: 20)
    for _ in 0..<60 { _ = cache[0] }
    for key in 1...free { cache.insert(key, forKey: key, cost: 0) }
    cache.insert(100, forKey: 100, cost: 5)
    #expect((1...free).allSatisfy(cache.contains) && cache.contains(100) && !cache.contains(0))
  }

  @Test("tinyLFU passes over free entries that are alone in its window")
  func freeEntriesUnderTinyLFU() {
    let cache = Cache<Int, Int>(totalCostLimit: 100, policy: .tinyLFU)
    for key in 1...3 { cache.insert(key, forKey: key, cost: 50) }
    _ = cache[2]
    cache.removeValue(forKey: 3)
    for key in 10..<13 { cache.insert(key, forKey: key, cost: 0) }
    cache.insert(4, forKey: 4, cost: 60)
    #expect((10..<13).allSatisfy(cache.contains) && cache.contains(4))
  }

  @Test("Free entries are passed over even if their queue is too long", arguments: [1, 4])
  func freeEntriesInShortQueues(shards: Int) {
    for policy in [EvictionPolicy.twoQueue, .s3fifo, .tinyLFU, .adaptive] {
      let cache = Cache<Int, Int>(
        countLimit: 40, totalCostLimit: 20, policy: policy, shards: shards)
      for key in 0..<12 { cache.insert(key, forKey: key, cost: 0) }
      for key in 100..<200 { cache.insert(key, forKey: key, cost: 2) }
      #expect((0..<12).allSatisfy(cache.contains), "\(policy)")
      cache.checkInvariants()
    }
  }

  @Test("A free value stays until its replacement has got room from other shards")
  func replacementOfFreeValues() {
    let cache = Cache<Int, Int>(totalCostLimit: 64, policy: .lru, shards: 8)
    let keys = 0..<40
    for key in keys { cache.insert(0, forKey: key, cost: 0) }
    for key in 100..<300 { cache.insert(key, forKey: key, cost: 8) }
    let isDone = Protected(false)
    let misses = Protected(0)
    onThreads(2) { thread in
      if thread == 1 {
        while !isDone.withLock({ $0 }) {
          for key in keys where cache.peek(forKey: key) == nil { misses.withLock { $0 += 1 } }
        }
        return
      }
      for round in 1...Stress.scaled(2_000, atLeast: 100) {
        let key = round % keys.count
        cache.insert(round, forKey: key, cost: 8)
        cache.insert(round, forKey: key, cost: 0)
        cache.insert(round, forKey: 1_000 + round, cost: 8)
      }
      isDone.withLock { $0 = true }
    }
    #expect(misses.withLock { $0 } == 0)
    #expect(keys.allSatisfy(cache.contains))
    cache.checkInvariants()
  }
}
