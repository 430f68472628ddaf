// SPDX-License-Identifier: Apache-2.0
import CLarder
import CLarderTestSupport
import Larder
import LarderTestSupport
import Testing

/// The number of shards of a cache, which Swift and the C library let the core choose.
@Suite("The number of shards")
struct ShardChoiceTests {
  @Test(
    "Without an order: two shards for each processor, or eight of 8,192 entries, at most 64",
    arguments: [
      (0, 8, 1), (1, 8, 1), (1_023, 8, 1), (1_024, 8, 2), (2_047, 8, 2), (2_048, 8, 4),
      (8_191, 8, 8), (8_192, 8, 16), (1 << 17, 8, 16), (1 << 18, 8, 32), (1 << 19, 8, 64),
      (1 << 40, 8, 64), (.max, 64, 64), (.max, .max, 64), (.max, 1, 8), (.max, 2, 16),
      (.max, 3, 16), (.max, 4, 32), (1_024, 1, 2), (1_023, 1, 1), (65_535, 2, 4), (65_536, 2, 8),
      (131_071, 2, 8), (131_072, 2, 16), (16_383, 64, 16), (32_768, 64, 64),
    ] as [(UInt64, UInt32, UInt32)])
  func shardsWithoutAnOrder(countLimit: UInt64, processors: UInt32, expected: UInt32) {
    let adaptive = lrd_policy_of(LRD_POLICY_ADAPTIVE)
    #expect(lrd_cache_choose_shards(adaptive, countLimit, processors) == expected)
  }

  @Test("With an order to keep there is one shard", arguments: EvictionPolicy.allCases)
  func shardsWithAnOrder(policy: EvictionPolicy) {
    if policy == .adaptive { return }
    #expect(lrd_cache_choose_shards(policy.core, .max, 64) == 1)
  }

  @Test(
    "A cache whose owner gives no number has the chosen one", arguments: EvictionPolicy.allCases)
  func cacheWithoutAShardCount(policy: EvictionPolicy) {
    for countLimit in [0, 1_000, 1 << 20] {
      let cache = Cache<Int, Int>(countLimit: countLimit, totalCostLimit: .max, policy: policy)
      let expected = lrd_cache_choose_shards(policy.core, UInt64(countLimit), lrd_processors())
      #expect(cache.withCore { lrd_cache_shards($0) } == expected)
    }
  }

  @Test(
    "A number that is given is rounded up",
    arguments: [(1, 1), (2, 2), (3, 4), (33, 64), (64, 64), (65, 64), (.max, 64)] as [(Int, UInt32)]
  )
  func givenNumberIsRoundedUp(shards: Int, expected: UInt32) {
    let cache = Cache<Int, Int>(shards: shards)
    #expect(cache.withCore { lrd_cache_shards($0) } == expected)
  }
}
