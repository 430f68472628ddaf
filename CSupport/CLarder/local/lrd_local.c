// SPDX-License-Identifier: Apache-2.0
#include "lrd_local.h"

#include "lrd_alloc.h"
#include "lrd_evict.h"
#include "lrd_growth.h"

lrd_bucket lrd_local_closed = {.link = LRD_LINK_MOVED};

/// Buckets that a shrinking table moves between two looks at its memory.
enum { buckets_at_once = 128 };

void lrd_local_follow_tables(lrd_local *local) LRD_UNCHECKED_LOCKS {
  lrd_limbo *limbo = &local->shard.limbo;
  lrd_table_destroy_all(limbo->tables);
  limbo->tables = NULL;
  lrd_local_follow(local);
}

/// Frees all but the slots.
static void close_shard(lrd_local *local) {
  lrd_cache *cache = &local->cache;
  lrd_shard_close(&local->shard);
  if (cache->policy->destroy && cache->shared) cache->policy->destroy(cache->shared);
  lrd_free(local, sizeof *local, _Alignof(lrd_local));
}

lrd_local *lrd_local_create(lrd_local_options options) LRD_UNCHECKED_LOCKS {
  lrd_local *local = lrd_alloc_zeroed(sizeof *local, _Alignof(lrd_local));
  if (!local) return NULL;
  lrd_cache *cache = &local->cache;
  lrd_shard *shard = &local->shard;
  const lrd_policy *policy = options.policy;
  cache->shards = shard;
  cache->policy = policy;
  cache->hits_most = policy->hits_most;
  local->counts_to = policy->hits_most == LRD_HITS_BATCHED ? LRD_LOCAL_TELLS : policy->hits_most;
  LRD_STORE(&cache->budget.count_limit, options.count_limit);
  LRD_STORE(&cache->budget.cost_limit, options.cost_limit);
  if (policy->create && !policy->create(&cache->shared, 0)) {
    lrd_free(local, sizeof *local, _Alignof(lrd_local));
    return NULL;
  }
  lrd_pool *pool = &cache->pool;
  bool opened = lrd_shard_open(shard, policy, cache->shared, pool, &cache->entry_references, 1);
  size_t extra = lrd_round_up(options.entry_bytes, 8);
  lrd_layout layout = {.bytes = extra + policy->entry_bytes,
                       .alignment = options.entry_alignment,
                       .costed = options.costed || options.cost_limit};
  if (!opened || !lrd_pool_open(pool, layout)) {
    close_shard(local);
    return NULL;
  }
  shard->local = true;
  pool->extra = extra;
  lrd_growth_leave_locked(shard); // sets what lookups start from
  lrd_growth_resize_locked(shard, lrd_budget_limits(&cache->budget));
  static const _Atomic(uint32_t) nothing = 0;
  cache->listens = policy->listens ? policy->listens(cache->shared) : &nothing;
  lrd_local_slots_open(&local->slots);
  lrd_local_follow(local);
  return local;
}

void lrd_local_close(lrd_local *local) {
  lrd_local_slots_close(&local->slots, &local->cache.pool);
  lrd_directory_destroy_all(LRD_LOAD(&local->cache.pool.directory));
  close_shard(local);
}

void lrd_local_remove(lrd_local *local, lrd_entry *entry, uint8_t reason,
                      lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard_unlink_locked(&local->shard, entry, reason, removed);
  local->shard.counters.removals++;
}

void lrd_local_remove_all(lrd_local *local, lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_order order;
  lrd_growth_leave_locked(&local->shard);
  lrd_shard_empty_locked(&local->shard, &order);
  lrd_local_follow_tables(local);
  lrd_order_dissolve(&order, local->cache.policy, &local->cache.pool, LRD_REMOVED_BY_CALL, removed);
}

/// Which bound is exceeded.
static lrd_shortage excess(const lrd_shard *shard, lrd_amount bounds) {
  if (shard->count > bounds.count) return LRD_COUNT_SHORT;
  bool over = bounds.cost != LRD_UNBOUNDED && shard->cost > bounds.cost;
  return over ? LRD_COST_SHORT : LRD_ROOM;
}

void lrd_local_trim(lrd_local *local, uint64_t count_bound, uint64_t cost_bound,
                    lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  lrd_amount limits = lrd_budget_limits(&local->cache.budget);
  lrd_amount bounds = {lrd_least(limits.count, count_bound), lrd_least(limits.cost, cost_bound)};
  lrd_amount held = {shard->count, shard->cost < UINT64_MAX ? (uint64_t)shard->cost : UINT64_MAX};
  lrd_depth depth = {.deep = lrd_amount_is_deep(held, bounds, shard->count)};
  lrd_order_begin_trim(&shard->order, &depth, 0);
  lrd_shortage shortage;
  while ((shortage = excess(shard, bounds)) != LRD_ROOM) {
    bool found =
        lrd_evict_living_locked(&local->cache, shard, NULL, LRD_REMOVED_TRIM, shortage, removed);
    if (!found) break;
  }
  lrd_order_end_trim(&shard->order, &depth, 0);
}

void lrd_local_set_limits(lrd_local *local, uint64_t count_limit,
                          uint64_t cost_limit) LRD_UNCHECKED_LOCKS {
  lrd_cache *cache = &local->cache;
  LRD_STORE(&cache->budget.count_limit, count_limit);
  LRD_STORE(&cache->budget.cost_limit, cost_limit);
  lrd_cache_adjust(cache);
  lrd_growth_resize_locked(&local->shard, lrd_budget_limits(&cache->budget));
  lrd_local_follow(local);
}

void lrd_local_settle(lrd_local *local) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  lrd_local_slots *slots = &local->slots;
  if (!slots->used && slots->pages > 1) lrd_local_slots_close(slots, &local->cache.pool);
  if (!lrd_growth_is_oversized_locked(shard)) return;
  lrd_supply supply = {0};
  while (lrd_growth_is_untidy_locked(shard, false)) {
    bool moved = lrd_growth_tidy_locked(shard, buckets_at_once, false, &supply);
    if (!moved && !lrd_supply_fetch(&supply, shard->references)) break;
  }
  lrd_supply_drop(&supply);
  lrd_local_follow_tables(local);
}

lrd_entry *lrd_local_first(lrd_local *local) LRD_UNCHECKED_LOCKS {
  return lrd_order_first_locked(&local->cache, &local->shard, true);
}

lrd_entry *lrd_local_next(lrd_local *local, lrd_entry *entry) LRD_UNCHECKED_LOCKS {
  return lrd_order_next_locked(&local->cache, &local->shard, entry, true);
}

lrd_statistics lrd_local_statistics(lrd_local *local) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  const lrd_policy *policy = local->cache.policy;
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  lrd_statistics statistics = {
      .hits = local->hits,
      .misses = local->misses,
      .waiting = local->deferred.count,
      .pool_bytes = local->slots.bytes,
      .table_bytes = root->bytes + (next ? next->bytes : 0),
      .policy_bytes = policy->state_bytes + shard->order.history.bytes +
                      (policy->shared_bytes ? policy->shared_bytes(local->cache.shared) : 0),
      .victim_steps = shard->order.steps,
  };
  lrd_statistics_add_changes_locked(&statistics, shard);
  return statistics;
}

void lrd_local_check(lrd_local *local) {
  lrd_shard_check(&local->shard);
  LRD_CHECK(!local->shard.limbo.tables);
  LRD_CHECK(local->exclusive ? local->bucket == &lrd_local_closed
                             : local->bucket == (lrd_bucket *)LRD_LOAD(&local->shard.bucket));
  LRD_CHECK(local->room <= local->shard.at_ease);
  LRD_CHECK(local->slots.used >= local->shard.count + local->deferred.count);
}
