// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// A pool, and a plain record of what was taken from it.
final class CheckedPool {
  let pool: OpaquePointer
  let alignment: Int
  let stride: Int
  private(set) var used: [UInt32] = []
  private var isUsed: Set<UInt32> = []
  private(set) var fault: String?

  init(entryBytes: Int, alignment: Int) {
    pool = lrdt_pool_create(entryBytes, alignment)!
    self.alignment = alignment
    stride = lrdt_pool_stride(pool)
  }

  deinit { lrdt_pool_destroy(pool) }

  var bytes: Int { lrd_pool_bytes(pool) }
  var pages: Int { Int(lrdt_pool_pages(pool)) }

  /// Takes a pair of slots for an entry with a cost, and writes its id there, too.
  @discardableResult func takeCosted() -> Bool {
    var id: UInt32 = .max
    guard lrd_pool_take_pair(pool, &id) else { return false }
    lrd_entry_describe(lrd_pool_entry(pool, id), 0, UInt64(id) + 1)
    mark([id])
    return true
  }

  /// Takes a few slots and writes each slot's id at its ends.
  @discardableResult func take(_ wanted: Int) -> Int {
    var ids = [UInt32](repeating: .max, count: wanted)
    let taken = Int(lrd_pool_take(pool, &ids, UInt32(wanted)))
    for id in ids[..<taken] { lrd_entry_describe(lrd_pool_entry(pool, id), 0, 0) }
    mark(ids[..<taken])
    return taken
  }

  private func mark(_ ids: ArraySlice<UInt32>) {
    for id in ids {
      let entry = lrd_pool_entry(pool, id)
      let address = UnsafeMutableRawPointer(entry)
      if !isUsed.insert(id).inserted { fault = "slot \(id) was given out twice" }
      if Int(bitPattern: address) % alignment != 0 { fault = "slot \(id) is at \(address)" }
      used.append(id)
      entry.pointee.hash_mid = id
      (address + stride - 4).storeBytes(of: id, as: UInt32.self)
    }
  }

  /// Whether the slot still holds what was written when it was taken.
  func isIntact(_ id: UInt32) -> Bool {
    let entry = lrd_pool_entry(pool, id)
    let end = (UnsafeRawPointer(entry) + stride - 4).load(as: UInt32.self)
    let cost = lrd_entry_cost(entry)
    return end == id && entry.pointee.hash_mid == id && (cost == 0 || cost == UInt64(id) + 1)
  }

  func give(_ count: Int, choosing choose: (Int) -> Int) {
    var ids: [UInt32] = []
    for _ in 0..<min(count, used.count) {
      used.swapAt(choose(used.count), used.count - 1)
      let id = used.removeLast()
      if !isIntact(id) { fault = "slot \(id) was overwritten" }
      isUsed.remove(id)
      ids.append(id)
    }
    lrd_pool_give(pool, ids, UInt32(ids.count))
  }
}

@Suite("Pools", .timeLimit(.minutes(20)))
struct PoolTests {
  static let sizes = [24, 32, 40, 48, 100, 256, 1_000, 4_096, 40_000, 262_144, 1 << 20, 2 << 20]

  @Test("Slots are distinct, aligned and do not overlap", arguments: sizes + [3_000_000])
  func slotsAreDistinct(bytes: Int) {
    for alignment in [8, 16, 64, 128, 1_024, 4_096] {
      let pool = CheckedPool(entryBytes: bytes, alignment: alignment)
      #expect(pool.stride >= bytes && pool.stride % alignment == 0)
      let wanted = min(20_000, max(12, 8_000_000 / pool.stride))
      while pool.used.count < wanted { #expect(pool.take(wanted % 13 + 1) > 0) }
      #expect(pool.fault == nil)
      #expect(pool.used.allSatisfy(pool.isIntact))
      #expect(pool.bytes >= pool.used.count * pool.stride)
      let peak = pool.bytes
      pool.give(.max) { $0 - 1 }
      #expect(pool.fault == nil)
      #expect(pool.bytes < peak && pool.bytes <= max(2 << 20, pool.stride + 8_192))
    }
  }

  // Not under ThreadSanitizer: one thread has the pool, for long.
  @Test("Pages are given back, and their numbers used again", arguments: sizes)
  func pagesAreGivenBack(bytes: Int) {
    let pool = CheckedPool(entryBytes: bytes, alignment: 8)
    let wanted = min(50_000, max(20, 12_000_000 / pool.stride))
    var random = SplitMix64(seed: UInt64(bytes))
    var pages = 0
    var full = 0
    for wave in 0..<6 {
      while pool.used.count < wanted { pool.take(8) }
      #expect(pool.used.allSatisfy(pool.isIntact))
      if wave == 0 {
        pages = pool.pages
        full = pool.bytes
      }
      // A new wave starts with the reserve page, so sizes differ a little.
      #expect(pool.bytes <= full + (4 << 20))
      #expect(pool.pages <= pages + 2, "wave \(wave)")
      switch wave % 3 {
      case 0: pool.give(.max) { $0 - 1 }
      case 1: pool.give(.max) { _ in 0 }
      default: pool.give(.max) { random.below($0) }
      }
      #expect(pool.fault == nil)
      #expect(pool.bytes <= max(2 << 20, pool.stride + 8_192), "one page is kept")
    }
  }

  @Test(
    "A pool that knows how many entries to expect has little more memory than these take",
    arguments: [(32, 1_000), (32, 10_000), (40, 100_000), (32, 1_000_000), (600, 20_000)])
  func expectedEntries(bytes: Int, entries: Int) {
    let pool = CheckedPool(entryBytes: bytes, alignment: 8)
    lrd_pool_expect(pool.pool, UInt64(entries))
    while pool.used.count < entries { pool.take(min(16, entries - pool.used.count)) }
    let enough = entries * pool.stride + 64 * pool.stride + 8_192
    #expect(pool.bytes <= enough)
    // Threads have free slots, and what was removed waits for readers.
    while pool.used.count < entries + entries / 64 + 100 { pool.take(16) }
    #expect(pool.bytes <= enough + enough / 20 + 8_192)
    #expect(pool.pages < 40)
    #expect(pool.fault == nil && pool.used.allSatisfy(pool.isIntact))
  }

  @Test(
    "A pool of large pages asks for a reserve page, and takes it next", arguments: [48, 16_384])
  func reservePageOfALargePool(bytes: Int) {
    let pool = CheckedPool(entryBytes: bytes, alignment: 8)
    let page = 2 << 20
    while !lrd_pool_wants_reserve(pool.pool) {
      pool.take(64)
      #expect(pool.bytes < 5 * page)
    }
    let before = (bytes: pool.bytes, pages: pool.pages)
    lrd_pool_expect(pool.pool, 1)
    #expect(!lrd_reserve_prepare(pool.pool))
    #expect(pool.bytes == before.bytes, "so many slots are enough")
    #expect(!lrd_pool_wants_reserve(pool.pool))
    lrd_pool_expect(pool.pool, 0)

    while pool.pages == before.pages { pool.take(64) }
    #expect(lrd_pool_wants_reserve(pool.pool), "with every further page")
    let grown = pool.bytes
    #expect(lrd_reserve_prepare(pool.pool))
    #expect(!lrd_reserve_prepare(pool.pool))
    #expect(pool.bytes == grown + page, "one reserve page")
    #expect(pool.pages == before.pages + 1)
    while pool.pages == before.pages + 1 { pool.take(64) }
    #expect(pool.bytes == grown + page, "the reserve page is used")

    lrd_reserve_prepare(pool.pool)
    #expect(pool.used.allSatisfy(pool.isIntact))
    pool.give(.max) { $0 - 1 }
    #expect(pool.fault == nil)
    #expect(pool.bytes <= page, "the reserve page is the one that is kept")
  }

  @Test("A thread gets free slots back in the order in which it gave them")
  func freeSlotsComeBackInOrder() {
    let cache = Cache<Int, Int>()
    let lane = lrd_lane_attach(cache.inside)
    func take(_ count: Int) -> [UnsafeMutablePointer<lrd_entry>] {
      (0..<count).map { _ in
        let entry = lrd_slot_take(cache.inside, lane, 0)!
        lrd_entry_describe(entry, 0, 0)
        return entry
      }
    }
    // Three refills from the first page, after which the lane has no free slot.
    let slots = take(48)
    for slot in slots[..<40] { lrd_slot_give(cache.inside, lane, slot) }
    // The ring holds 32. At the 33rd its later half has gone to the pool.
    #expect(take(40) == Array(slots[..<16] + slots[32..<40] + slots[16..<32]))
  }

  @Test("An entry has room for a cost only if its cache expects costs")
  func roomForCosts() {
    func strideAndLine(_ bytes: Int, costed: Bool) -> (stride: Int, fits: Bool) {
      let pool = lrdt_pool_create_costed(bytes, 8, costed)!
      defer { lrdt_pool_destroy(pool) }
      let stride = lrdt_pool_stride(pool)
      var ids = [UInt32](repeating: 0, count: 100)
      let taken = Int(lrd_pool_take(pool, &ids, 100))
      let starts = ids[..<taken].map { Int(bitPattern: lrd_pool_entry(pool, $0)) }
      return (stride, starts.allSatisfy { $0 / 64 == ($0 + bytes - 1) / 64 })
    }
    #expect(MemoryLayout<lrd_entry>.size == 16)
    #expect(strideAndLine(32, costed: false) == (32, true), "two integers: two entries a line")
    #expect(strideAndLine(64, costed: false) == (64, true))
    #expect(strideAndLine(32, costed: true).stride == 40)
  }

  @Test("Pairs of slots and single ones do not overlap", arguments: sizes)
  func pairs(bytes: Int) {
    var random = SplitMix64(seed: UInt64(bytes))
    let pool = CheckedPool(entryBytes: bytes, alignment: 8)
    let wanted = min(5_000, max(12, 8_000_000 / pool.stride))
    for _ in 0..<3 {
      while pool.used.count < wanted {
        #expect(random.below(3) == 0 ? pool.takeCosted() : pool.take(random.below(4) + 1) > 0)
        if random.below(4) == 0 { pool.give(2) { random.below($0) } }
      }
      #expect(pool.used.allSatisfy(pool.isIntact))
      pool.give(.max) { random.below($0) }
      #expect(pool.fault == nil)
      #expect(pool.bytes <= max(2 << 20, pool.stride + 8_192), "one page of single slots is kept")
    }
  }

  @Test("Takes and gives in any order agree with a set", arguments: 0..<6)
  func randomScript(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let sizes = [24, 48, 1_000, 40_000, 300_000, 2_500_000]
    let pool = CheckedPool(entryBytes: sizes[seed], alignment: 8 << random.below(4))
    let most = max(30, 2_000_000 / pool.stride)
    for step in 0..<Stress.scaled(4_000, atLeast: 400) {
      // Phases of growth and of shrinking, so that pages become empty.
      let grows = step / 200 % 2 == 0
      if random.below(4) < (grows ? 3 : 1) && pool.used.count < most {
        let wanted = random.below(16) + 1
        let taken = pool.take(wanted)
        #expect((1...wanted).contains(taken))
      } else {
        pool.give(random.below(24)) { random.below($0) }
      }
      #expect(pool.bytes >= pool.used.count * pool.stride)
    }
    #expect(pool.fault == nil)
    #expect(pool.used.allSatisfy(pool.isIntact))
  }

  @Test("The directory grows, and its pages stay where they were")
  func directoryGrows() {
    let pool = CheckedPool(entryBytes: 400_000, alignment: 8)
    var places: [UInt32: UnsafeMutablePointer<lrd_entry>] = [:]
    let before = lrdt_pool_directory_capacity(pool.pool)
    while lrdt_pool_directory_capacity(pool.pool) < 4 * before {
      let known = pool.used.count
      pool.take(3)
      for id in pool.used[known...] { places[id] = lrd_pool_entry(pool.pool, id) }
    }
    #expect(places.allSatisfy { lrd_pool_entry(pool.pool, $0.key) == $0.value })
    #expect(pool.used.allSatisfy(pool.isIntact))
    #expect(pool.fault == nil)
  }

  @Test("Without memory nothing is taken and nothing is lost")
  func withoutMemory() async {
    await #expect(processExitsWith: .success) {
      for attempt in 0..<3 {
        let pool = CheckedPool(entryBytes: 600_000, alignment: 8)
        for round in 0..<40 {
          let known = pool.used.count
          lrd_alloc_fail_after(Int64(attempt))
          let taken = pool.take(2)
          lrd_alloc_fail_after(-1)
          precondition(pool.used.count == known + taken)
          precondition(pool.fault == nil && pool.used.allSatisfy(pool.isIntact))
          if taken == 0 { precondition(pool.take(1) == 1, "round \(round)") }
        }
        pool.give(.max) { $0 - 1 }
        precondition(pool.fault == nil && pool.bytes <= 2 << 20)
      }
    }
  }
}
