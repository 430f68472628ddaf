// SPDX-License-Identifier: Apache-2.0
#include "lrd_trim.h"

#include "lrd_evict.h"
#include "lrd_expire.h"
#include "lrd_growth.h"

lrd_trim lrd_trim_plan(lrd_cache *cache, uint64_t count_bound, uint64_t cost_bound, uint64_t most) {
  lrd_trim trim = {.bounds = {count_bound, cost_bound},
                   .allowance = lrd_least(lrd_cache_count(cache), most)};
  // One of several calls that each take a few is not deep, however small the cache.
  trim.depth.deep =
      most == UINT64_MAX && lrd_budget_is_deep(&cache->budget, trim.bounds, trim.allowance);
  return trim;
}

/// Evicts up to `wanted` entries of one shard while the cache exceeds its limits or the bounds.
static void evict_some_locked(lrd_cache *cache, lrd_shard *shard, lrd_trim *trim, uint64_t wanted,
                              lrd_chain *victims) LRD_REQUIRES(shard->lock) {
  uint32_t number = (uint32_t)(shard - cache->shards);
  lrd_order_begin_trim(&shard->order, &trim->depth, number);
  while (wanted--) {
    lrd_shortage shortage = lrd_budget_excess(&cache->budget, trim->bounds);
    if (shortage == LRD_ROOM) break;
    if (!lrd_evict_locked(cache, shard, NULL, LRD_REMOVED_TRIM, shortage, victims)) break;
    lrd_budget_release(&cache->budget, 1, lrd_entry_cost(victims->tail));
  }
  lrd_order_end_trim(&shard->order, &trim->depth, number);
}

bool lrd_trim_some(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage, lrd_trim *trim) {
  lrd_amount bounds = trim->bounds;
  uint32_t idle = 0;
  uint64_t expired = 0;
  // What has expired goes first, in whatever shard it is.
  while (lrd_cache_is_timed(cache) && lrd_budget_excess(&cache->budget, bounds) != LRD_ROOM &&
         lrd_expire_may_find(cache, lrd_tick_at(lrd_now(cache->clock))) &&
         lrd_expire_seek(cache, lane, garbage, &expired)) {
    if (lrd_garbage_is_due(garbage)) return false;
  }
  while (trim->allowance && lrd_budget_excess(&cache->budget, bounds) != LRD_ROOM) {
    uint32_t hand = atomic_fetch_add_explicit(&cache->steal_hand, 1, memory_order_relaxed);
    lrd_shard *shard = &cache->shards[hand & cache->shard_mask];
    // Several shards take turns. A single one evicts many, in its own order.
    uint64_t wanted = cache->shard_mask ? 1 : LRD_EVICTIONS_PER_LOCK;
    if (wanted > trim->allowance) wanted = trim->allowance;
    lrd_chain victims = {0};
    lrd_shard_enter(cache, lane, shard);
    evict_some_locked(cache, shard, trim, wanted, &victims);
    uint32_t evicted = victims.count;
    lrd_garbage_add_locked(cache, shard, garbage, &victims);
    garbage->unsettled |= lrd_growth_is_oversized_locked(shard);
    lrd_shard_leave(cache, shard);
    trim->allowance -= evicted;
    idle = evicted ? 0 : idle + 1;
    if (idle > cache->shard_mask) {
      lrd_yield();
      idle = 0;
    }
    if (lrd_garbage_is_due(garbage)) return false;
  }
  return true;
}

/// Tells the policy and the shards. Insertions read the limits under a lock, so none that read an
/// earlier limit is left afterwards. If several threads set limits, the last one to lock a shard
/// reads the last limits.
static void limits_changed(lrd_cache *cache) {
  uint32_t shards = lrd_cache_shards(cache);
  lrd_cache_adjust(cache);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_shard_enter(cache, NULL, shard);
    lrd_growth_resize_locked(shard, lrd_budget_share(&cache->budget, shards));
    lrd_shard_leave(cache, shard);
  }
}

/// Puts the limits in force that the owner and the pressure have set. True when they change.
static bool enforce_locked(lrd_cache *cache) LRD_REQUIRES(cache->admin) {
  lrd_amount limits = lrd_answer_limits(&cache->answer);
  bool same =
      limits.count == lrd_cache_count_limit(cache) && limits.cost == lrd_cache_cost_limit(cache);
  LRD_STORE(&cache->budget.count_limit, limits.count);
  lrd_pool_expect(&cache->pool, limits.count);
  LRD_STORE(&cache->budget.cost_limit, limits.cost);
  return !same;
}

static void set_own(lrd_cache *cache, _Atomic(uint64_t) *own, uint64_t limit) {
  lrd_lock_acquire(&cache->admin);
  LRD_STORE(own, limit);
  enforce_locked(cache);
  lrd_lock_release(&cache->admin);
  limits_changed(cache);
}

void lrd_cache_set_count_limit(lrd_cache *cache, uint64_t limit) {
  set_own(cache, &cache->answer.own_count, limit);
}

void lrd_cache_set_cost_limit(lrd_cache *cache, uint64_t limit) {
  set_own(cache, &cache->answer.own_cost, limit);
}

void lrd_cache_enforce(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  bool changed = enforce_locked(cache);
  lrd_lock_release(&cache->admin);
  if (changed) limits_changed(cache);
}
