// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import LarderTestSupport
import Testing

/// The ghosts of evicted keys, driven from Swift.
@Suite("Ghosts of evicted keys")
struct RemnantsTests {
  /// Ghosts in memory of their own.
  final class Memory {
    var remnants = lrd_remnants()
    private let slots: UnsafeMutablePointer<UInt16>

    init(capacity: UInt64, life: UInt32) {
      let buckets = lrd_remnants_buckets(capacity, life)
      let count = lrd_remnants_bytes(buckets) / MemoryLayout<UInt16>.size
      slots = .allocate(capacity: max(count, 1))
      slots.initialize(repeating: 0, count: max(count, 1))
      lrd_remnants_open(&remnants, slots, buckets, capacity)
    }

    deinit { slots.deallocate() }

    func recall(_ key: UInt64, life: UInt32, keep: Bool = false) -> lrd_recall {
      lrd_remnants_recall(&remnants, lrd_scramble(key << 16), life, keep)
    }

    func add(_ key: UInt64) { lrd_remnants_add(&remnants, lrd_scramble(key << 16)) }
  }

  @Test("A ghost is found once, while it is young enough", arguments: [UInt32(1), 2, 3])
  func ghostsHaveALifetime(life: UInt32) {
    let memory = Memory(capacity: 1_000, life: 3)
    for key in 0..<UInt64(life) * 1_000 { memory.add(key) }
    let young = (0..<UInt64(life) * 1_000).count { memory.recall($0, life: life) == LRD_ONCE }
    // Buckets overflow when the table is full. Otherwise almost nothing is lost.
    #expect(young >= Int(life) * (life == 3 ? 830 : 950))
    #expect((0..<UInt64(life) * 1_000).allSatisfy { memory.recall($0, life: 3) == LRD_UNKNOWN })
    for key in 10_000..<11_000 { memory.add(UInt64(key)) }
    for key in 11_000..<UInt64(11_300 + life * 1_000) { memory.add(key) }
    let old = (10_000..<11_000).count { memory.recall(UInt64($0), life: life) != LRD_UNKNOWN }
    #expect(old < 80 * Int(life) + 20, "older than its life: at most what the last epoch blurs")
  }

  @Test("Dead ghosts do not come back when epochs come round")
  func deadGhostsStayDead() {
    let memory = Memory(capacity: 100, life: 3)
    for key in 0..<UInt64(100) { memory.add(key) }
    for key in 0..<UInt64(20) * 100 {
      memory.add(1_000 + key)
      if key < 500 || key % 7 != 0 { continue }
      // 100 lookups of dead keys. One in 250 is taken for another key.
      let returned = (0..<UInt64(100)).count { memory.recall($0, life: 3) != LRD_UNKNOWN }
      #expect(returned <= 8, "after \(key)")
    }
  }

  @Test("Keys that were never evicted are seldom recognised")
  func strangersAreSeldomFound() {
    let memory = Memory(capacity: 10_000, life: 3)
    for key in 0..<UInt64(40_000) { memory.add(key) }
    let found = (0..<UInt64(100_000)).count {
      memory.recall(1_000_000 + $0, life: 3, keep: false) != LRD_UNKNOWN
    }
    #expect(found < 600)
  }

  @Test("A key that is kept is found the next time, even after another eviction")
  func keptGhostsAreMetAgain() {
    let memory = Memory(capacity: 100, life: 3)
    memory.add(7)
    #expect(memory.recall(7, life: 3, keep: true) == LRD_ONCE)
    memory.add(7)
    #expect(memory.recall(7, life: 3, keep: true) == LRD_MET)
    #expect(memory.recall(7, life: 3, keep: true) == LRD_UNKNOWN)
    memory.add(7)
    #expect(memory.recall(7, life: 3, keep: false) == LRD_ONCE)
  }

  @Test("Without memory nothing is remembered")
  func withoutMemory() {
    var remnants = lrd_remnants()
    lrd_remnants_add(&remnants, 5)
    #expect(lrd_remnants_recall(&remnants, 5, 3, false) == LRD_UNKNOWN)
    lrd_remnants_open(&remnants, nil, 0, 0)
    lrd_remnants_add(&remnants, 5)
    #expect(lrd_remnants_recall(&remnants, 5, 3, true) == LRD_UNKNOWN)
  }
}
