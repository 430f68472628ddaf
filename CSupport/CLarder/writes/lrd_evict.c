// SPDX-License-Identifier: Apache-2.0
#include "lrd_evict.h"

void lrd_evict_prefetch_locked(lrd_cache *cache, lrd_shard *shard, uint64_t hash) {
  const lrd_policy *policy = cache->policy;
  if (!policy->foresee) return;
  uint32_t id = policy->foresee(&shard->order, &cache->pool, hash & ~(uint64_t)0xffff);
  if (id == LRD_NIL) return;
  const lrd_entry *victim = lrd_pool_entry(&cache->pool, id);
  lrd_table *root = lrd_shard_root_locked(shard);
  LRD_PREFETCH(&root->bucket[lrd_table_index(root, lrd_entry_place(victim))]);
  const lrd_references *references = &cache->entry_references;
  for (uint32_t i = 0; i < references->count; i++) {
    LRD_PREFETCH((const void *)(uintptr_t)lrd_entry_refers_to(victim, references->at[i]));
  }
}

/// The entry to evict because cost is short, or count; NULL when none of the shard would help.
static lrd_entry *choose_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared,
                                bool wants_cost) LRD_REQUIRES(shard->lock) {
  if (wants_cost && shard->cost == (spared ? spared->cost : 0)) return NULL;
  for (int passed = 0;;) {
    uint32_t id = cache->policy->victim(&shard->order, &cache->pool);
    if (id == LRD_NIL) return NULL;
    lrd_entry *entry = lrd_pool_entry(&cache->pool, id);
    if (entry == spared) {
      lrd_shard_displace_locked(shard, cache->policy, &cache->pool, spared);
    } else if (wants_cost && !entry->cost && passed < LRD_PASSED_OVER_MOST) {
      passed++;
      cache->policy->pass(&shard->order, &cache->pool, entry);
    } else {
      return entry;
    }
  }
}

static int kind_of(uint8_t reason, lrd_shortage shortage) {
  if (reason == LRD_REMOVED_TRIM) return LRD_EVICTED_BY_TRIM;
  return shortage == LRD_COUNT_SHORT ? LRD_EVICTED_BY_COUNT : LRD_EVICTED_BY_COST;
}

bool lrd_evict_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared, uint8_t reason,
                      lrd_shortage shortage, lrd_chain *victims) {
  bool wants_cost = shortage == LRD_COST_SHORT && cache->policy->pass;
  lrd_entry *victim = choose_locked(cache, shard, spared, wants_cost);
  if (!victim) return false;
  lrd_shard_unlink_locked(shard, cache->policy, &cache->pool, victim, reason, victims);
  shard->counters.evictions[kind_of(reason, shortage)]++;
  return true;
}
