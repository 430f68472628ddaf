// SPDX-License-Identifier: Apache-2.0
/* lrd_statistics.h — the counters of a cache, summed over its lanes and shards.
 *
 * WHAT HAS NO COUNTER follows from what a shard has to know anyway, `count` and `unlinked`:
 *   insertions           = count + unlinked - replacements - moves
 *   evictions by count   = unlinked - all that has a counter, but refusals
 * Whoever unlinks an entry, or puts one in the place of another, counts why under the same lock,
 * but for evictions by count (invariant I9 of lrd_shard.h). A replacement in two steps, a removal
 * and an insertion, changes `unlinked` and `replacements` by one each, as any other does.
 * removeAll() counts what had expired in any shard on the first one, whose `removals` may wrap. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

typedef struct lrd_statistics {
  uint64_t hits;
  uint64_t misses;
  uint64_t dropped;
  uint64_t insertions;
  uint64_t replacements;
  uint64_t removals;
  uint64_t refusals;
  uint64_t expirations;
  uint64_t count_evictions;
  uint64_t cost_evictions;
  uint64_t trim_evictions;
  uint64_t pressure_evictions;
  uint64_t waiting; // removed entries in limbos, or deferred in a local cache
  uint64_t pool_bytes;
  uint64_t table_bytes;
  uint64_t policy_bytes; // of state, history and what shards share
  uint64_t victim_steps; // the sum of `steps` of all orders
} lrd_statistics;

/// Adds what has become of a shard's entries.
void lrd_statistics_add_changes_locked(lrd_statistics *sum, const lrd_shard *shard)
    LRD_REQUIRES(shard->lock);

/// Sums up lanes and shards. Locks one shard at a time.
lrd_statistics lrd_cache_statistics(lrd_cache *cache);

#pragma clang assume_nonnull end
