// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

@Suite("Demand, which filling needs")
struct DemandTests {
  @Test("There is demand while misses outnumber hits, or stores of what nobody had missed")
  func demand() {
    func demands(_ events: [lrd_heard]) -> Bool {
      lrdt_hears_demand(512, events, events.count) != LRD_DEMAND_NONE
    }
    #expect(demands([LRD_HEARD_LOAD]) && !demands([LRD_HEARD_STORE]))
    #expect(demands([LRD_HEARD_STORE, LRD_HEARD_STORE, LRD_HEARD_MISS]))
    #expect(demands([LRD_HEARD_HIT, LRD_HEARD_HIT, LRD_HEARD_MISS]))
    // Only the first store follows the miss.
    #expect(demands([LRD_HEARD_HIT, LRD_HEARD_MISS, LRD_HEARD_STORE]))
    #expect(!demands([LRD_HEARD_HIT, LRD_HEARD_MISS, LRD_HEARD_STORE, LRD_HEARD_STORE]))
    // What was long ago is forgotten.
    let calm = (0..<100_000).flatMap { _ in [LRD_HEARD_STORE, LRD_HEARD_HIT] }
    #expect(!demands(calm + [LRD_HEARD_MISS]))
    #expect(demands(calm + [lrd_heard](repeating: LRD_HEARD_MISS, count: 300)))
  }

  @Test("Demand presses while stores follow misses, or next to nothing is found")
  func pressingDemand() {
    func presses(_ events: lrd_heard..., in entries: UInt64 = 512) -> Bool {
      lrdt_hears_demand(entries, events, events.count) == LRD_DEMAND_PRESSING
    }
    let (load, miss, store, hit) = (
      LRD_HEARD_LOAD, LRD_HEARD_MISS, LRD_HEARD_STORE, LRD_HEARD_HIT
    )
    #expect(presses(load) && presses(load, hit) && presses(miss, hit))
    #expect(presses(store, store, miss))
    #expect(presses(load, load, store, store, store, store, hit))
    #expect(!presses(load, load, store, store, store, store, store, hit))
    #expect(!presses(store) && !presses(hit))
    #expect(presses(store, store, store, hit, miss, miss, miss, miss, miss))
    #expect(!presses(store, store, store, hit, miss, miss, miss, miss))
    #expect(!presses(load, in: 511), "it never does in a small cache")
  }

  @Test("A full cache settles where demand presses, and a small one where it fills")
  func settling() {
    /// How many of the keys stay that were stored last without demand, under a small queue of 10 %,
    /// once as many others were stored under one of 1 %.
    func kept(_ limit: Int, _ demand: lrd_demand) -> Int {
      let cache = Cache<Int, Int>(
        countLimit: limit, policy: .adaptive, shards: 1, options: .repeatable())
      for key in 0..<limit { cache[-1 - key] = 0 }
      cache.withCore { lrdt_pin_expert($0, UInt32(LRD_EXPERT_FIRST)) }
      cache.withCore { lrdt_turn_to_expert($0, UInt32(LRD_EXPERT_FIRST), LRD_DEMAND_NONE) }
      for key in 0..<2 * limit { cache[key] = key }
      cache.withCore { lrdt_turn_to_expert($0, 0, demand) }
      for key in 2 * limit..<3 * limit { cache[key] = key }
      return (limit..<2 * limit).count { cache.contains($0) }
    }
    #expect(kept(1_000, LRD_DEMAND_PRESSING) > 600)
    #expect(kept(1_000, LRD_DEMAND_SOME) < 100)
    #expect(kept(1_000, LRD_DEMAND_NONE) < 100)
    #expect(kept(300, LRD_DEMAND_SOME) > 180)
    #expect(kept(300, LRD_DEMAND_NONE) < 30)
  }
}
