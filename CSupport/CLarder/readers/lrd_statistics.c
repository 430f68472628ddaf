// SPDX-License-Identifier: Apache-2.0
#include "lrd_statistics.h"

#include "lrd_enter.h"

static void add_counters(lrd_counters *sum, const lrd_counters *more) {
  sum->insertions += more->insertions;
  sum->replacements += more->replacements;
  sum->removals += more->removals;
  sum->refusals += more->refusals;
  for (int i = 0; i < LRD_EVICTION_KINDS; i++) sum->evictions[i] += more->evictions[i];
}

static uint64_t tables_bytes_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  return root->bytes + (next ? next->bytes : 0);
}

lrd_statistics lrd_cache_statistics(lrd_cache *cache) {
  lrd_statistics sum = {.pressure_evictions = LRD_LOAD(&cache->answer.evictions)};
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
    add_counters(&sum.counters, &shard->counters);
    if (shard->timer) sum.expirations += shard->timer->expirations;
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
