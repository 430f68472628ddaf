// SPDX-License-Identifier: Apache-2.0
#include "lrd_cache.h"

/// The most shards that are chosen, and the fewest entries for each: below 128 a shard misses 1 %
/// more or worse, because shares are no longer alike.
enum { CHOSEN_SHARDS_MOST = 16, CHOSEN_SHARD_ENTRIES = 512 };

uint32_t lrd_cache_choose_shards(const lrd_policy *policy, uint64_t count_limit,
                                 uint32_t processors) {
  if (!policy->divisible) return 1;
  uint64_t most = count_limit / CHOSEN_SHARD_ENTRIES;
  if (most > CHOSEN_SHARDS_MOST) most = CHOSEN_SHARDS_MOST;
  if (most > 2 * (uint64_t)processors) most = 2 * (uint64_t)processors;
  uint32_t shards = 1;
  while (2 * shards <= most) shards *= 2;
  return shards;
}
