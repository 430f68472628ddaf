// SPDX-License-Identifier: Apache-2.0
#include "lrd_statistics.h"

#include "lrd_enter.h"

void lrd_statistics_add_changes_locked(lrd_statistics *sum, const lrd_shard *shard) {
  const lrd_counters *counters = &shard->counters;
  const uint64_t *evictions = counters->evictions;
  sum->insertions += shard->count + shard->unlinked - counters->replacements - counters->moves;
  sum->replacements += counters->replacements;
  sum->removals += counters->removals;
  sum->refusals += counters->refusals;
  sum->expirations += counters->expirations;
  sum->count_evictions += lrd_shard_uncounted_locked(shard);
  sum->cost_evictions += evictions[LRD_EVICTED_BY_COST];
  sum->trim_evictions += evictions[LRD_EVICTED_BY_TRIM];
  sum->pressure_evictions += evictions[LRD_EVICTED_BY_PRESSURE];
}

static uint64_t tables_bytes_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  return root->bytes + (next ? next->bytes : 0);
}

lrd_statistics lrd_cache_statistics(lrd_cache *cache) {
  lrd_statistics sum = {0};
  lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
  for (uint32_t i = 0; i < lanes->capacity; i++) {
    lrd_lane *lane = atomic_load_explicit(&lanes->lane[i], memory_order_acquire);
    if (!lane) continue;
    sum.hits += LRD_LOAD(&lane->hits);
    sum.misses += LRD_LOAD(&lane->misses);
    sum.dropped += LRD_LOAD(&lane->dropped);
  }
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_shard_enter(cache, NULL, shard);
    lrd_statistics_add_changes_locked(&sum, shard);
    sum.waiting += lrd_limbo_count_locked(&shard->limbo);
    sum.table_bytes += tables_bytes_locked(shard);
    sum.policy_bytes += cache->policy->state_bytes + shard->order.history.bytes;
    sum.victim_steps += shard->order.steps;
    lrd_shard_leave(cache, shard);
  }
  const lrd_policy *policy = cache->policy;
  if (policy->shared_bytes) sum.policy_bytes += policy->shared_bytes(cache->shared);
  sum.pool_bytes = lrd_pool_bytes(&cache->pool);
  return sum;
}
