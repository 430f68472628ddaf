// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

@Suite("A walk in the policy's order")
struct TourTests {
  /// One slice, under the lock of the only shard.
  private func slice(_ tour: inout lrd_tour, _ cache: Cache<Int, Int>) -> [Int] {
    cache.withCore { core in
      let shard = lrd_cache_shard_at(core, 0)
      lrd_shard_enter(core, nil, shard)
      defer { lrd_shard_leave(core, shard) }
      let count = lrd_tour_next_locked(core, shard, &tour, .max)
      return (0..<count).map {
        UnsafeRawPointer(lrd_tour_entry(&tour, $0))
          .load(fromByteOffset: EntryLayout<Int, Int>.keyOffset, as: Int.self)
      }
    }
  }

  @Test(
    "A lock is held for 64 entries at most, and all are met", arguments: EvictionPolicy.allCases,
    [true, false])
  func slices(policy: EvictionPolicy, hottestFirst: Bool) {
    let cache = Cache<Int, Int>(totalCostLimit: .max, policy: policy, shards: 1)
    for key in 0..<10_000 { cache.insert(key, forKey: key, cost: 1 + key % 100) }
    var tour = lrd_tour_start(hottestFirst)
    var met: [Int] = []
    while !tour.done {
      let found = slice(&tour, cache)
      #expect(found.count <= 64)
      met += found
    }
    #expect(!tour.changed && !tour.lost)
    let order = cache.keys
    #expect(met == (hottestFirst ? order : order.reversed()))
    #expect(Set(met).count == 10_000)
  }

  @Test("A tour goes on where it was, whatever left or moved")
  func goesOn() {
    let cache = Cache<Int, Int>(policy: .lru, shards: 1)
    for key in 0..<1_000 { cache[key] = key }
    var tour = lrd_tour_start(true)
    var expected = Array((0..<1_000).reversed())[...]
    func next(_ note: Comment) {
      #expect(slice(&tour, cache) == Array(expected.prefix(64)), note)
      expected = expected.dropFirst(64)
    }
    next("the first")
    #expect(!tour.changed)
    // The last of the slice moves to the hot end, those before it leave. An insertion notes the
    // hit.
    _ = cache[936]
    for key in 937..<950 { cache[key] = nil }
    cache[1_000] = 1_000
    next("behind those that left")
    #expect(tour.changed && !tour.lost)
    // What comes next leaves, and something is stored again.
    for key in 860..<872 { cache[key] = nil }
    expected = expected.dropFirst(12)
    cache[950] = 0
    next("past those that left")
    // All but the first of the slice leave.
    for key in (797..<860) { cache[key] = nil }
    next("behind the only one that is left")
    // The whole slice leaves.
    for key in expected.first! + 1...expected.first! + 64 { cache[key] = nil }
    #expect(slice(&tour, cache).isEmpty && tour.done && tour.lost)
  }

  /// A walk that takes its next slice each time that an answer to pressure looks at an entry.
  private struct Watch {
    var core: OpaquePointer?
    var tour = lrd_tour_start(true)
    var slices = 0
    var changed: [Bool] = []
  }
  // Guard: used by one thread, in a process of its own.
  nonisolated(unsafe) private static var watch = Watch()

  @Test("A tour hears of every entry that pressure passes over")
  func passedOver() async {
    await #expect(processExitsWith: .success) {
      let cache = Cache<Int, Int>(policy: .lru, shards: 1)
      cache.pressure = PressureResponse(background: 0.5)
      for key in 0..<1_000 { cache[key] = key }
      cache.withCore {
        Self.watch.core = $0
        lrdt_set_is_held($0) { _, _ in
          guard Self.watch.slices < 10 else { return false }
          let core = Self.watch.core!
          Self.watch.tour.changed = false
          _ = lrd_tour_next_locked(core, lrd_cache_shard_at(core, 0), &Self.watch.tour, .max)
          Self.watch.changed.append(Self.watch.tour.changed)
          Self.watch.slices += 1
          return true
        }
      }
      MemoryPressure.enterBackground()
      #expect(cache.count == 500)
      #expect(Self.watch.changed == [false] + Array(repeating: true, count: 9))
    }
  }
}
