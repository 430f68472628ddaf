// SPDX-License-Identifier: Apache-2.0
import Larder
import LarderTestSupport
import Testing

@Suite("Costs and limits")
struct CostTests {
  @Test("The sum of costs follows insertions, replacements and removals")
  func sumOfCosts() {
    let cache = Cache<Int, Int>(totalCostLimit: 100)
    cache.insert(0, forKey: 1, cost: 30)
    cache.insert(0, forKey: 2, cost: 30)
    #expect(cache.totalCost == 60)
    #expect(cache.insert(0, forKey: 1, cost: 5) == .replaced)
    #expect(cache.totalCost == 35)
    cache.removeValue(forKey: 2)
    #expect(cache.totalCost == 5)
    cache.removeAll()
    #expect(cache.totalCost == 0)
  }

  @Test("A cache that was made without a cost limit keeps costs, too", arguments: [1, 4])
  func costsWithoutALimit(shards: Int) {
    let tracker = LifetimeTracker()
    let cache = Cache<Int, Tracked>(countLimit: 500, policy: .lru, shards: shards)
    for round in 0..<3 {
      for key in 0..<2_000 {
        let cost = key % 3 == 0 ? nil : key
        cache.insert(tracker.make(key), forKey: key &* (round + 1) % 3_000, cost: cost)
      }
      let elements = cache.snapshot()
      #expect(elements.allSatisfy { $0.cost == ($0.value.payload % 3 == 0 ? 0 : $0.value.payload) })
      #expect(cache.totalCost == elements.reduce(0) { $0 + $1.cost })
      cache.checkInvariants()
    }
    let limit = cache.totalCost / 2
    cache.totalCostLimit = limit
    #expect(cache.totalCost <= limit && cache.totalCost > limit / 2)
    cache.removeAll()
    #expect(cache.totalCost == 0 && tracker.faults.isEmpty)
    waitUntil("all values are released") {
      cache.reclaim()
      return tracker.live == 0
    }
  }

  @Test(
    "A full cache stays full, and holds the key that was just stored",
    arguments: [EvictionPolicy.adaptive, .lru, .sieve], [1, 4])
  func fullCacheStaysFull(policy: EvictionPolicy, shards: Int) {
    let limit = 5_000 * shards
    let cache = Cache<Int, Int>(countLimit: limit, policy: policy, shards: shards)
    for key in 0..<3 * limit {
      cache[key] = key
      guard key >= limit else { continue }
      if cache.count != limit || !cache.contains(key) {
        Issue.record("\(cache.count) entries after \(key)")
        return
      }
    }
    let statistics = cache.statistics
    #expect(statistics.countLimitEvictions == 3 * limit - cache.count)
    cache.checkInvariants()
  }

  @Test("A cost limit evicts the coldest until the sum fits")
  func costLimitEvictsTheColdest() {
    let cache = Cache<Int, Int>(totalCostLimit: 10, policy: .lru)
    for key in 1...4 { cache.insert(key, forKey: key, cost: key) }
    #expect(cache.totalCost == 10)
    cache[1] = nil
    cache.insert(5, forKey: 5, cost: 4)
    #expect(cache.snapshot().map(\.key) == [5, 4])
    #expect(cache.totalCost == 8)
    cache.insert(6, forKey: 6, cost: 10)
    #expect(cache.snapshot().map(\.key) == [6])
    #expect(cache.statistics.costLimitEvictions == 4)
    #expect(cache.statistics.countLimitEvictions == 0)
  }

  @Test("A replacement that costs more evicts others, not itself")
  func costlierReplacement() {
    let cache = Cache<Int, Int>(totalCostLimit: 10)
    for key in 1...5 { cache.insert(key, forKey: key, cost: 2) }
    #expect(cache.insert(-1, forKey: 1, cost: 10) == .replaced)
    #expect(cache.snapshot().map(\.value) == [-1])
  }

  @Test("An oversize entry is refused, its key is emptied, and others stay", arguments: [1, 4])
  func oversizeEntryIsRefused(shards: Int) {
    let events = Protected<[Removal]>([])
    let cache = Cache<Int, Int>(totalCostLimit: 10, shards: shards) { key, value, cost, cause in
      events.withLock { $0.append(Removal(key: key, payload: value, cost: cost, cause: cause)) }
    }
    for key in 1...5 { cache.insert(key, forKey: key, cost: 2) }
    #expect(cache.insert(-3, forKey: 3, cost: 11) == .tooCostly)
    #expect(cache[3] == nil)
    #expect([1, 2, 4, 5].allSatisfy { cache.contains($0) })
    #expect(cache.totalCost == 8)
    #expect(cache.insert(-9, forKey: 9, cost: Int.max) == .tooCostly)
    #expect(cache.count == 4 && cache.statistics.refusals == 2)
    #expect(events.withLock { $0 } == [Removal(key: 3, payload: 3, cost: 2, cause: .removed)])
  }

  @Test("An entry that fits the whole limit is admitted by any shard", arguments: [1, 4, 64])
  func wholeLimit(shards: Int) {
    let cache = Cache<Int, Int>(totalCostLimit: 1_000, shards: shards)
    for key in 0..<100 { cache.insert(key, forKey: key, cost: 10) }
    #expect(cache.count == 100)
    for key in 200..<210 {
      #expect(cache.insert(key, forKey: key, cost: 1_000) == .inserted)
      #expect(cache.snapshot().map(\.key) == [key])
      #expect(cache.totalCost == 1_000)
    }
    let few = Cache<Int, Int>(countLimit: 3, shards: shards)
    for key in 0..<100 {
      few[key] = key
      #expect(few[key] == key)
      #expect(few.count == min(key + 1, 3))
    }
  }

  @Test("An unset cost is 1 if there is a cost limit, and 0 otherwise")
  func unsetCost() {
    func costOf(countLimit: Int, costLimit: Int, _ insert: (Cache<Int, Int>) -> Void) -> Int {
      let cache = Cache<Int, Int>(countLimit: countLimit, totalCostLimit: costLimit)
      insert(cache)
      return cache.totalCost
    }
    let ways: [(Cache<Int, Int>) -> Void] = [
      { $0[1] = 1 }, { $0.insert(1, forKey: 1) }, { $0.updateValue(1, forKey: 1) },
      { $0.insert(1, forKey: 1, cost: nil) },
    ]
    for way in ways {
      #expect(costOf(countLimit: 0, costLimit: 0, way) == 0)
      #expect(costOf(countLimit: 5, costLimit: 0, way) == 0)
      #expect(costOf(countLimit: 0, costLimit: 5, way) == 1)
      #expect(costOf(countLimit: 5, costLimit: 5, way) == 1)
    }
    let cache = Cache<Int, Int>(totalCostLimit: 5)
    for key in 0..<20 { cache[key] = key }
    #expect(cache.count == 5)
    let both = Cache<Int, Int>(countLimit: 1_000, totalCostLimit: 10)
    for key in 0..<1_000 { both[key] = key }
    #expect(both.count == 10 && both.totalCost == 10)
  }

  @Test("Costs near Int.max neither overflow nor drift", arguments: [1, 4])
  func hugeCosts(shards: Int) {
    let cache = Cache<Int, Int>(shards: shards)
    for key in 0..<9 { #expect(cache.insert(key, forKey: key, cost: .max) == .inserted) }
    #expect(cache.count == 9)
    #expect(cache.totalCost == .max)
    cache.insert(0, forKey: 0, cost: .max - 1)
    #expect(cache.totalCost == .max)
    cache.checkInvariants()
    for key in 0..<8 { cache.removeValue(forKey: key) }
    #expect(cache.totalCost == .max)
    cache.removeValue(forKey: 8)
    #expect(cache.totalCost == 0)
    cache.insert(1, forKey: 1, cost: 7)
    #expect(cache.totalCost == 7)
    cache.checkInvariants()
  }

  @Test("A limit of Int.max holds one entry of that cost")
  func hugeLimit() {
    let cache = Cache<Int, Int>(countLimit: .max, totalCostLimit: .max)
    for key in 0..<9 {
      #expect(cache.insert(key, forKey: key, cost: .max) == .inserted)
      #expect(cache.snapshot().map(\.key) == [key])
    }
    cache.insert(100, forKey: 100, cost: 1)
    #expect(cache.snapshot().map(\.key) == [100])
    cache.trim(toCost: .max)
    cache.trim(toCount: .max)
    #expect(cache.count == 1)
  }

  @Test("Limits change at run time, and hold when the setter returns")
  func runtimeLimits() {
    let cache = Cache<Int, Int>()
    for key in 0..<100 { cache.insert(key, forKey: key, cost: key) }
    cache.countLimit = 40
    #expect(cache.countLimit == 40 && cache.count == 40)
    #expect(cache.snapshot().map(\.key) == (60..<100).reversed())
    cache.totalCostLimit = 99 + 98 + 97
    #expect(cache.snapshot().map(\.key) == [99, 98, 97])
    cache.totalCostLimit = 98
    #expect(cache.isEmpty)
    (cache.countLimit, cache.totalCostLimit) = (0, 0)
    for key in 0..<100 { cache.insert(key, forKey: key, cost: 1_000) }
    #expect(cache.count == 100 && cache.totalCost == 100_000)
  }

  @Test("trim keeps the hottest entries and leaves the limits alone")
  func trimKeepsTheHottest() {
    let cache = Cache<Int, Int>(countLimit: 50)
    for key in 0..<50 { cache.insert(key, forKey: key, cost: 2) }
    cache.trim(toCount: 60)
    #expect(cache.count == 50)
    cache.trim(toCount: 20)
    #expect(cache.snapshot().map(\.key) == (30..<50).reversed())
    cache.trim(toCost: 9)
    #expect(cache.snapshot().map(\.key) == (46..<50).reversed())
    #expect(cache.countLimit == 50 && cache.totalCostLimit == 0)
    cache.trim(toCost: 0)
    #expect(cache.isEmpty)
    #expect(cache.statistics.trimEvictions == 50)
  }

  /// An insertion that evicts many puts the entry which it replaces back where new ones come, if the
  /// policy has named that one meanwhile.
  @Test("A value may come to cost as much as all others", arguments: EvictionPolicy.allCases)
  func costlyReplacement(policy: EvictionPolicy) {
    for (hits, churn) in [(0, 0), (1, 30), (2, 100), (3, 300), (7, 1_000)] {
      let cache = Cache<Int, Int>(totalCostLimit: 100, policy: policy, shards: 1)
      let local = LocalCache<Int, Int>(totalCostLimit: 100, policy: policy)
      func store(_ key: Int, cost: Int) {
        cache.insert(key, forKey: key, cost: cost)
        local.insert(key, forKey: key, cost: cost)
      }
      for key in 0..<100 { store(key, cost: 1) }
      for key in 100..<100 + churn {
        for _ in 0..<hits { (_, _) = (cache[0], local.value(forKey: 0)) }
        store(key, cost: 1)
      }
      for cost in [100, 1, 60, 90] {
        store(0, cost: cost)
        #expect(cache.totalCost <= 100 && local.totalCost <= 100)
        if policy == .adaptive {
          #expect(cache.peek(forKey: 0) == 0 && local.value(forKey: 0) == 0)
        }
        cache.checkInvariants()
        local.checkInvariants()
        for key in 2_000..<2_200 { store(key, cost: 1) }
        cache.checkInvariants()
        local.checkInvariants()
      }
    }
  }
}
