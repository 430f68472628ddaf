// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

/// The table of ghosts, driven from Swift.
@Suite("Ghosts of evicted keys")
struct GhostsTests {
  /// A table in memory of its own, with a slot for each ghost of `life` capacities.
  final class Memory {
    var ghosts = lrd_ghosts()
    private let slots: UnsafeMutablePointer<UInt16>

    init(capacity: UInt64, life: UInt32) {
      let buckets = lrd_ghosts_buckets(capacity * UInt64(life))
      let count = lrd_ghosts_bytes(buckets) / MemoryLayout<UInt16>.size
      slots = .allocate(capacity: max(count, 1))
      slots.initialize(repeating: 0, count: max(count, 1))
      lrd_ghosts_open(&ghosts, slots, buckets, capacity / UInt64(LRD_EXPERT_EPOCHS))
    }

    deinit { slots.deallocate() }

    func recall(_ key: UInt64, life: UInt32) -> Bool {
      lrd_ghosts_recall(&ghosts, lrd_hash_mix(key << 16), life * UInt32(LRD_EXPERT_EPOCHS))
    }

    func add(_ key: UInt64, weight: UInt64 = 1) {
      lrd_ghosts_add(&ghosts, lrd_hash_mix(key << 16), weight)
    }
  }

  @Test("A ghost is found once, while it is young enough", arguments: [UInt32(1), 2, 3])
  func life(life: UInt32) {
    let memory = Memory(capacity: 1_000, life: 3)
    for key in 0..<UInt64(life) * 1_000 { memory.add(key) }
    let young = (0..<UInt64(life) * 1_000).count { memory.recall($0, life: life) }
    // Buckets overflow when the table is full; otherwise next to nothing is lost.
    #expect(young >= Int(life) * (life == 3 ? 830 : 950))
    #expect((0..<UInt64(life) * 1_000).allSatisfy { !memory.recall($0, life: 3) })
    for key in 10_000..<11_000 { memory.add(UInt64(key)) }
    for key in 11_000..<UInt64(11_300 + life * 1_000) { memory.add(key) }
    let old = (10_000..<11_000).count { memory.recall(UInt64($0), life: life) }
    #expect(old < 80 * Int(life) + 20, "older than its life: at most what the last epoch blurs")
  }

  @Test("Dead ghosts do not come back when epochs come round")
  func noReturn() {
    let memory = Memory(capacity: 100, life: 3)
    for key in 0..<UInt64(100) { memory.add(key) }
    for key in 0..<UInt64(20) * 100 {
      memory.add(1_000 + key)
      if key < 500 || key % 7 != 0 { continue }
      // 100 lookups of dead keys, each taken for another one in 500.
      let returned = (0..<UInt64(100)).count { memory.recall($0, life: 3) }
      #expect(returned <= 6, "after \(key)")
    }
  }

  @Test("Strangers are seldom recognised")
  func strangers() {
    let memory = Memory(capacity: 10_000, life: 3)
    for key in 0..<UInt64(40_000) { memory.add(key) }
    let found = (0..<UInt64(100_000)).count {
      memory.recall(1_000_000 + $0, life: 3)
    }
    #expect(found < 300)
  }

  @Test("Heavy ghosts age the others, but none by more than an epoch")
  func heavy() {
    let memory = Memory(capacity: 400, life: 3)
    // An epoch is a weight of 100, and a life of 1 is four epochs.
    memory.add(7)
    for key in 10..<UInt64(14) { memory.add(key, weight: 100) }
    #expect(memory.recall(7, life: 1))
    memory.add(7)
    for key in 20..<UInt64(25) { memory.add(key, weight: 100) }
    #expect(!memory.recall(7, life: 1))
    for count in UInt64(1)...4 {
      memory.add(7)
      for key in 30..<30 + count { memory.add(key, weight: 1 << 40) }
      #expect(memory.recall(7, life: 1), "\(count) heavy ones")
    }
  }

  /// One bucket, and the list of what it should hold, the newest first.
  @Test("A bucket holds what was added and not recalled, in order")
  func bucket() {
    let memory = Memory(capacity: 8, life: 1)
    #expect(memory.ghosts.buckets == 1)
    var random = SplitMix64(seed: 1)
    var held: [UInt64] = []
    for _ in 0..<5_000 {
      let key = UInt64.random(in: 0..<12, using: &random)
      if Bool.random(using: &random) {
        memory.add(key, weight: 0)
        held = Array(([key] + held).prefix(Int(LRD_GHOSTS_BUCKET)))
      } else {
        #expect(memory.recall(key, life: 1) == held.contains(key))
        held.removeAll { $0 == key }
      }
      let marks = held.map { lrd_ghosts_mark(lrd_hash_mix($0 << 16)) }
      let empty = [UInt16](repeating: 0, count: Int(LRD_GHOSTS_BUCKET) - marks.count)
      let bucket = UnsafeBufferPointer(start: memory.ghosts.slots, count: Int(LRD_GHOSTS_BUCKET))
      #expect(Array(bucket) == marks + empty)
    }
  }

  @Test("Without memory nothing is remembered")
  func nothing() {
    var ghosts = lrd_ghosts()
    lrd_ghosts_add(&ghosts, 5, 1)
    #expect(!lrd_ghosts_recall(&ghosts, 5, 12))
    lrd_ghosts_open(&ghosts, nil, 0, 0)
    lrd_ghosts_add(&ghosts, 5, 1)
    #expect(!lrd_ghosts_recall(&ghosts, 5, 12))
  }
}

/// The ghosts of a policy that keeps nothing else in its history.
@Suite("Ghosts of a shard")
struct ShardGhostsTests {
  /// A shard that holds `held` entries without links.
  final class Shard {
    var ghosts = lrd_ghosts()
    var order = lrd_order()

    init(count: UInt64 = .max, cost: UInt64 = .max, held: UInt64) {
      order.share = lrd_amount(count: count, cost: cost)
      order.queue.0.size.count = held
    }

    deinit { order.history.memory?.deallocate() }

    /// Calls `body` with an entry that has room for a cost before it.
    private static func withEntry<Result>(
      _ key: UInt64, _ cost: UInt64, _ body: (UnsafeMutablePointer<lrd_entry>) -> Result
    ) -> Result {
      withUnsafeTemporaryAllocation(of: lrd_entry.self, capacity: 2) { memory in
        memory.initialize(repeating: lrd_entry())
        lrd_entry_describe(memory.baseAddress! + 1, lrd_hash_mix(key << 16), cost)
        return body(memory.baseAddress! + 1)
      }
    }

    /// Adds a ghost, and brings the history that the table then asks for.
    func add(_ key: UInt64, cost: UInt64 = 0, percent: UInt32 = 100) {
      Self.withEntry(key, cost) { lrd_ghosts_add_entry(&ghosts, &order, $0, percent) }
      if order.history.wanted == order.history.bytes { return }
      order.history.memory?.deallocate()
      order.history.bytes = order.history.wanted
      order.history.memory = .allocate(byteCount: order.history.bytes, alignment: 64)
      order.history.memory!.initializeMemory(
        as: UInt8.self, repeating: 0, count: order.history.bytes)
      lrd_ghosts_renewed(&ghosts, &order)
    }

    func add(_ keys: Range<UInt64>, cost: UInt64 = 0, percent: UInt32 = 100) {
      for key in keys { add(key, cost: cost, percent: percent) }
    }

    func take(_ key: UInt64, cost: UInt64 = 0) -> Bool {
      Self.withEntry(key, cost) { lrd_ghosts_take(&ghosts, &order, $0) }
    }
  }

  @Test("A shard that holds less than a sixteenth asks for no history")
  func idle() {
    let idle = Shard(count: 1_600, held: 99)
    idle.add(1)
    #expect(idle.order.history.wanted == 0)
    let shard = Shard(count: 1_600, held: 100)
    shard.add(1)
    // Two slots of two bytes for a ghost.
    #expect(shard.order.history.wanted == 1_600 * 4)
    #expect(!shard.take(1), "lost for want of memory")
  }

  @Test("A wish that was refused does not outlast the limits that it was for")
  func wishForOtherLimits() {
    let shard = Shard(count: 1_600, held: 100)
    shard.order.history.wanted = 1_600 * 4
    shard.order.share.count = 1_000
    lrd_ghosts_resize(&shard.ghosts, &shard.order, 100)
    #expect(shard.order.history.wanted == 1_000 * 4)
    shard.order.share.count = 2_000
    lrd_ghosts_resize(&shard.ghosts, &shard.order, 100)
    #expect(shard.order.history.wanted == 0, "it is idle")
    shard.order.share.count = 1_000
    lrd_ghosts_resize(&shard.ghosts, &shard.order, 100)
    #expect(shard.order.history.wanted == 0, "it did not want any")
  }

  @Test("A ghost lives while so many others are added", arguments: [(10, 8, 10), (100, 84, 98)])
  func life(capacity: UInt64, least: UInt64, most: UInt64) {
    let shard = Shard(count: capacity, held: capacity)
    shard.add(1, percent: 90)
    shard.add(2, percent: 90)
    shard.add(100..<100 + least, percent: 90)
    #expect(shard.take(2))
    #expect(!shard.take(2))
    shard.add(3, percent: 90)
    shard.add(1_000..<1_001 + most, percent: 90)
    #expect(!shard.take(3))
  }

  @Test("Where only costs are limited a ghost has the weight of its cost")
  func costs() {
    let shard = Shard(cost: 900, held: 90)
    shard.add(1)
    for (key, cost, count) in [(2, 10, 80), (3, 20, 40)] as [(UInt64, UInt64, UInt64)] {
      shard.add(key, cost: cost)
      shard.add(1_000..<1_000 + count, cost: cost)
      #expect(shard.take(key, cost: cost), "\(count) others of cost \(cost)")
      shard.add(key, cost: cost)
      shard.add(2_000..<2_000 + count * 5 / 4, cost: cost)
      #expect(!shard.take(key, cost: cost), "a quarter more of cost \(cost)")
    }
  }

  @Test("A ghost taken out does not age the others")
  func taken() {
    let shard = Shard(count: 100, held: 100)
    shard.add(1)
    shard.add(2)
    for key in 10..<UInt64(1_000) {
      shard.add(key)
      #expect(shard.take(key))
    }
    #expect(shard.take(2))
  }
}

/// The sketch of a policy that keeps nothing else in its history.
@Suite("The sketch of a shard")
struct ShardSketchTests {
  @Test("A wish that was refused does not outlast the limits that it was for")
  func wishForOtherLimits() {
    var order = lrd_order()
    var sketch = lrd_sketch()
    withUnsafeMutablePointer(to: &sketch) { sketch in
      order.state = UnsafeMutableRawPointer(sketch)
      order.queue.0.size.count = 100
      func wanted(countLimit: UInt64, before: Int) -> Int {
        order.share = lrd_amount(count: countLimit, cost: .max)
        order.history.wanted = before
        lrd_sketch_resize(&order)
        return order.history.wanted
      }
      let small = wanted(countLimit: 500, before: 64)
      #expect(small > 64)
      #expect(wanted(countLimit: 1_000, before: small) > small)
      #expect(wanted(countLimit: 2_000, before: small) == 0, "it is idle")
      #expect(wanted(countLimit: 1_000, before: 0) == 0, "it did not want any")
      // The history that is there suits this limit.
      order.history.bytes = small
      lrd_sketch_renewed(&order)
      #expect(wanted(countLimit: 500, before: 10 * small) == small)
    }
  }
}
