// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// What a cache keeps besides entries follows what it holds, at once, when memory is given back. A
/// process of its own for each test: levels and missing memory are those of a process.
@Suite("Shrinking", .timeLimit(.minutes(20)))
struct ShrinkTests {
  private static let many = 120_000
  /// Those with a history.
  static let policies: [EvictionPolicy] = [.adaptive, .s3fifo, .twoQueue, .tinyLFU]

  /// A full cache that has evicted as many entries as it holds.
  private static func churned(_ limit: Int, _ policy: EvictionPolicy, _ shards: Int)
    -> Cache<Int, Int>
  {
    let cache = Cache<Int, Int>(countLimit: limit, policy: policy, shards: shards)
    for key in 0..<2 * limit { cache[key] = key }
    return cache
  }

  /// What comes while a table moves has the smaller one alone.
  @Test("A table shrinks to an eighth at most at once", arguments: [64, 4_096, 1 << 18])
  func inSteps(buckets: UInt64) {
    #expect(lrdt_shrunk_buckets(buckets, 0) == buckets / 8)
    #expect(lrdt_shrunk_buckets(buckets, 10) == buckets / 8)
    // A quarter more than the entries need is more than an eighth.
    let entries = buckets * UInt64(LRD_TABLE_LOAD) / 8 - 1
    let enough = lrdt_shrunk_buckets(buckets, entries)
    #expect(enough > buckets / 8 && enough < buckets / 4 + 4)
    #expect(lrdt_shrunk_buckets(buckets, entries + 1) == 0)
  }

  // Not under ThreadSanitizer: one thread fills caches, for a minute.
  @Test(
    "After critical, a cache has hardly more than one that was never larger",
    arguments: policies.indices, [1, 4])
  func fits(number: Int, shards: Int) async {
    await #expect(processExitsWith: .success) {
      [number = number as Int, shards = shards as Int] in
      let policy = Self.policies[number]
      let small = Self.churned(Self.many / 10, policy, shards)
      let (fresh, known) = (small.memoryFootprint, small.policyBytes)
      small.pressure = .ignore
      let cache = Self.churned(Self.many, policy, shards)
      let full = cache.memoryFootprint
      MemoryPressure.report(.critical)
      #expect(cache.count == Self.many / 10)
      let left = cache.memoryFootprint
      #expect(Double(left) <= 1.15 * Double(fresh), "\(left) of \(full), and \(fresh) anew")
      #expect(Double(cache.policyBytes) <= 1.15 * Double(known))
      cache.checkInvariants()
      for key in 0..<Self.many { cache[key] = key }
      cache.checkInvariants()
    }
  }

  // Not under ThreadSanitizer: one thread fills caches, for a minute.
  @Test("A cache that has given up everything keeps no history", arguments: policies.indices)
  func forgets(number: Int) async {
    await #expect(processExitsWith: .success) { [number = number as Int] in
      let policy = Self.policies[number]
      let cache = Self.churned(Self.many, policy, 1)
      let full = cache.policyBytes
      cache.pressure = PressureResponse(warning: 0, critical: 0)
      MemoryPressure.report(.critical)
      #expect(cache.count == 0)
      #expect(cache.policyBytes < full / 4)
      cache.checkInvariants()
      cache.pressure = .ignore
      for key in 0..<2 * Self.many { cache[key] = key }
      cache.checkInvariants()
      #expect(cache.policyBytes > full / 2)
    }
  }

  @Test("A history that was given up does not come back as a new one")
  func formerHistory() {
    #expect(lrdt_renew_there_and_back())
  }

  @Test("reclaim() replaces a table that is larger than it need be", arguments: [1, 4])
  func reclaims(shards: Int) async {
    await #expect(processExitsWith: .success) { [shards = shards as Int] in
      let cache = Cache<Int, Int>(shards: shards)
      for key in 0..<Self.many { cache[key] = key }
      cache.trim(toCount: Self.many / 3)
      let before = cache.bucketCount
      cache.reclaim()
      #expect(!cache.isMoving)
      #expect(cache.retiredTables == 0)
      #expect(cache.bucketCount < before / 2, "\(cache.bucketCount) of \(before)")
      let once = cache.bucketCount
      cache.reclaim()
      #expect(cache.bucketCount == once)
      cache.checkInvariants()
      #expect((0..<Self.many).count { cache[$0] == $0 } == Self.many / 3)
    }
  }

  // Not under ThreadSanitizer: one thread fills caches, for most of a minute.
  @Test("Without memory for less, tables and histories stay", arguments: policies.indices)
  func withoutMemory(number: Int) async {
    await #expect(processExitsWith: .success) { [number = number as Int] in
      let policy = Self.policies[number]
      for successes in Int64(0)..<6 {
        let cache = Self.churned(Self.many / 4, policy, 2)
        cache.countLimit = Self.many / 40
        lrd_alloc_fail_after(successes)
        cache.withCore { lrd_shrink($0) }
        lrd_alloc_fail_after(-1)
        cache.checkInvariants()
        for key in 0..<Self.many / 20 { cache[key] = key }
        cache.checkInvariants()
      }
    }
  }
}
