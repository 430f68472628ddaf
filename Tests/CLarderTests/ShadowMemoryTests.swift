// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// When the adaptive policy has shadows and ghosts, what they take, and when it begins anew.
@Suite("The memory of the adaptive policy")
struct ShadowMemoryTests {
  @Test("Doubling the limit, or removing everything, begins anew", arguments: [false, true])
  func beginsAnew(doubles: Bool) {
    let cache = Cache<Int, Int>(
      countLimit: 1_000, policy: .adaptive, shards: 1, options: .repeatable())
    func current() -> UInt32 { cache.withCore { lrdt_current_expert($0) } }
    // A loop, which turns the policy to a small probation queue that fills.
    for round in 0..<20 { for key in 0..<1_500 where cache[key] == nil { cache[key] = round } }
    #expect(current() != UInt32(LRD_EXPERT_FIRST))
    if doubles { cache.countLimit = 2_000 } else { cache.removeAll() }
    for key in 10_000..<10_500 { cache[key] = key }
    #expect(current() == UInt32(LRD_EXPERT_FIRST))
    for key in 10_500..<20_000 { cache[key] = key }
    if !doubles { #expect((19_500..<20_000).count { cache.contains($0) } >= 475) }
  }

  @Test("A cache too small to be idle begins anew as well")
  func tinyCacheBeginsAnew() {
    let cache = Cache<Int, Int>(
      countLimit: 10, policy: .adaptive, shards: 1, options: .repeatable())
    func heard() -> UInt32 { cache.withCore { lrdt_hits_heard($0) } }
    for key in 0..<100 where cache[key % 9] == nil { cache[key % 9] = key }
    for key in 100..<120 { cache[key] = key }
    #expect(heard() > 0)
    let bytes = cache.policyBytes
    cache.removeAll()
    for key in 200..<220 { cache[key] = key }
    #expect(heard() == 0)
    #expect(cache.policyBytes == bytes, "it has shadows again")
  }

  @Test("Shadows are made when the cache fills, and not for caches that stay empty")
  func shadowsAreMadeWhenNeeded() {
    let cache = Cache<Int, Int>(countLimit: 16_000, policy: .adaptive, shards: 1)
    for key in 0..<900 { cache[key] = key }
    #expect(cache.policyBytes < 4_096)
    for key in 0..<1_200 { cache[key] = key }
    #expect(cache.policyBytes > 10_000)
    let unlimited = Cache<Int, Int>()
    for key in 0..<5_000 { unlimited[key] = key }
    unlimited.trim(toCount: 100)
    #expect(unlimited.policyBytes < 4_096)
    unlimited.checkInvariants()
  }

  @Test("Where costs are limited, a better estimate changes the sample, and shadows if it must")
  func betterEstimates() {
    let advisor = lrd_advisor_create(2)!
    let shared = UnsafeMutableRawPointer(advisor)
    defer { lrd_advisor_destroy(shared) }
    func measure(_ entries: UInt64, times: Int) {
      for _ in 0..<times { lrd_advisor_measure(advisor, entries) }
      lrd_advisor_adjust(shared)
    }
    func sampled() -> Double { Double(lrd_advisor_threshold(advisor)) / 0x1p32 }
    let none = lrd_advisor_bytes(shared)
    measure(500, times: 1)
    #expect(lrd_advisor_bytes(shared) == none, "nobody has asked for shadows")
    lrd_advisor_propose(advisor, 1_000, false)
    lrd_advisor_adjust(shared)
    let bytes = lrd_advisor_bytes(shared)
    #expect(bytes > none && abs(sampled() - 256.0 / 2_000) < 0.001)
    measure(1_100, times: 100)
    #expect(abs(sampled() - 256.0 / 2_000) < 0.001, "close enough")
    measure(1_500, times: 100)
    #expect((256.0 / 3_400...256.0 / 2_600).contains(sampled()))
    #expect(lrd_advisor_bytes(shared) == bytes)
    measure(100, times: 100)
    #expect(lrd_advisor_bytes(shared) < bytes && sampled() > 0.7)
  }

  @Test(
    "A limit that moves by an eighth keeps the shadows, in any number of shards",
    arguments: [1, 2, 8])
  func movedLimit(shards: UInt32) {
    let advisor = lrd_advisor_create(shards)!
    let shared = UnsafeMutableRawPointer(advisor)
    defer { lrd_advisor_destroy(shared) }
    /// The keys of a shadow once the limit has changed: the shadows are adjusted first, and then
    /// each shard asks.
    func keys(afterLimit entries: UInt64) -> UInt64 {
      lrd_advisor_adjust(shared)
      for _ in 0..<shards { lrd_advisor_propose(advisor, entries / UInt64(shards), true) }
      lrd_advisor_adjust(shared)
      lrd_advisor_adjust(shared)
      return (UInt64(lrd_advisor_threshold(advisor)) * entries + 1 << 31) >> 32
    }
    // New ones have a 64th of the limit.
    #expect(keys(afterLimit: 40_000) == 625)
    #expect(keys(afterLimit: 39_992) == 625 && keys(afterLimit: 36_000) == 625)
    #expect(keys(afterLimit: 40_000) == 625 && keys(afterLimit: 44_000) == 625)
    #expect(keys(afterLimit: 60_000) == 937 && keys(afterLimit: 40_000) == 625)
    #expect(keys(afterLimit: 20_000) == 312)
    // In small steps, too, until their size does no longer.
    var (entries, last, made) = (UInt64(20_000), UInt64(312), 0)
    while entries < 64_000 {
      entries += entries / 80 * 8
      let now = keys(afterLimit: entries)
      if now != last { made += 1 }
      #expect(now >= entries / 128 && now <= entries / 64)
      last = now
    }
    #expect(made == 1)
  }

  @Test("Evicted keys are remembered in small shards, but not in a tiny cache")
  func ghostsOfSmallShards() {
    func ghosts(_ limit: Int, shards: Int) -> UInt64 {
      let cache = Cache<Int, Int>(countLimit: limit, policy: .adaptive, shards: shards)
      for key in 0..<2 * limit { cache[key] = key }
      return cache.withCore { lrdt_ghost_buckets($0) }
    }
    #expect(ghosts(600, shards: 1) >= 150 && ghosts(600, shards: 16) >= 150)
    #expect(ghosts(63, shards: 1) == 0 && ghosts(60, shards: 4) == 0)
  }

  // Not under ThreadSanitizer: one thread, for long.
  @Test(
    "The adaptive policy takes at most 8 bytes for each entry beyond those of LRU",
    arguments: [10_000, 40_000, 200_000])
  func memoryOfTheAdvisor(capacity: Int) {
    for shards in [1, 16] {
      let cache = Cache<Int, Int>(countLimit: capacity, policy: .adaptive, shards: shards)
      for key in 0..<capacity + 100 { cache[key] = key }
      let bytes = cache.policyBytes
      #expect(bytes > capacity && bytes <= 8 * capacity)
    }
  }
}
