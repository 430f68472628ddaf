// SPDX-License-Identifier: Apache-2.0
/* lrd_trim.h — evicts entries until limits or other bounds hold, and sets the limits. */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

/// One trim.
typedef struct lrd_trim {
  lrd_amount bounds;
  uint64_t allowance; // evictions at most: insertions meanwhile cannot keep it busy forever
  lrd_depth depth;
} lrd_trim;

/// A trim to the limits and to these bounds (UINT64_MAX: none). It evicts up to `most` entries, and
/// no more than there are now.
lrd_trim lrd_trim_plan(lrd_cache *cache, uint64_t count_bound, uint64_t cost_bound, uint64_t most);

/// Evicts entries as planned. True when done. False: the caller ends `garbage` and calls again with
/// a new one.
bool lrd_trim_some(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage,
                   lrd_trim *trim);

/// Sets a limit of the owner, 0 for none. While pressure caps it, the lower one is in force.
/// Insertions obey it from then on: none that read the earlier limit is still running. The caller
/// trims the cache to it.
void lrd_cache_set_count_limit(lrd_cache *cache, uint64_t limit);
void lrd_cache_set_cost_limit(lrd_cache *cache, uint64_t limit);

/// Puts the caps of `cache->answer` in force after they have changed. Nothing is evicted.
void lrd_cache_enforce(lrd_cache *cache);

#pragma clang assume_nonnull end
