// SPDX-License-Identifier: Apache-2.0
#include "lrd_removal.h"

#include "lrd_change.h"
#include "lrd_expire.h"
#include "lrd_growth.h"

/// The kind of an eviction that the layer above has chosen: by count if the count limit is reached
/// or there is no cost limit.
static unsigned kind_chosen(lrd_budget *budget) {
  lrd_amount limits = lrd_budget_limits(budget);
  bool counted = LRD_LOAD(&budget->count) >= limits.count || limits.cost == LRD_UNBOUNDED;
  return counted ? LRD_EVICTED_BY_COUNT : LRD_EVICTED_BY_COST;
}

void lrd_removal_unlink_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, uint8_t reason,
                               lrd_chain *removed) {
  lrd_change_note(entry);
  bool over = lrd_entry_is_expired_locked(shard, entry) || reason == LRD_REMOVED_EXPIRED;
  if (LRD_UNLIKELY(over)) {
    lrd_expire_locked(shard, entry, removed);
    return;
  }
  lrd_shard_unlink_locked(shard, entry, reason, removed);
  if (reason == LRD_REMOVED_LIMIT) {
    lrd_shard_note_eviction_locked(shard, kind_chosen(&cache->budget));
  } else if (reason == LRD_REMOVED_TRIM) {
    lrd_shard_note_eviction_locked(shard, LRD_EVICTED_BY_TRIM);
  } else {
    shard->counters.removals++;
  }
}

void lrd_removal_finish(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                        lrd_chain *removed) {
  lrd_garbage_give_up_locked(cache, shard, garbage, removed);
  garbage->unsettled |= lrd_growth_is_oversized_locked(shard);
  lrd_shard_leave(cache, shard);
}

void lrd_removal_of_one(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                        lrd_entry *entry) {
  lrd_chain removed = {0};
  lrd_removal_unlink_locked(cache, shard, entry, LRD_REMOVED_BY_CALL, &removed);
  lrd_removal_finish(cache, shard, garbage, &removed);
}

void lrd_removal_of_none_locked(lrd_shard *shard, uint64_t hash) {
  const lrd_policy *policy = shard->policy;
  if (policy->removed) policy->removed(&shard->order, lrd_hash48(hash));
}

/// Says of the entries that had expired that this is why they leave. Returns how many had.
static uint64_t tell_expired(lrd_cache *cache, const lrd_chain *removed) {
  uint64_t limit = lrd_limit_at(lrd_tick_at(lrd_now(cache->clock))), expired = 0;
  for (lrd_entry *entry = removed->head; entry; entry = lrd_chain_next(&cache->pool, entry)) {
    if (!(entry->fields & LRD_IS_TIMED)) continue;
    if (!lrd_timer_is_over(entry, limit)) continue;
    entry->state = LRD_REMOVED_EXPIRED;
    expired++;
  }
  return expired;
}

void lrd_removal_of_all(lrd_cache *cache, lrd_lane *lane,
                        lrd_garbage *garbage) LRD_UNCHECKED_LOCKS {
  lrd_order orders[LRD_SHARDS_MOST];
  lrd_change_note_all(cache);
  for (uint32_t i = 0; i <= cache->shard_mask; i++) lrd_shard_enter(cache, lane, &cache->shards[i]);
  uint64_t count = 0;
  unsigned __int128 cost = 0;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    count += shard->count;
    cost += shard->cost;
    lrd_growth_leave_locked(shard);
    // All go to the limbo of the first shard. The writers of the others have none of them to clean
    // up: they are not busy for them.
    if (i) shard->limbo.visited += shard->count;
    lrd_shard_empty_locked(shard, &orders[i]);
    // Nobody comes by the tables of the other shards before these change again.
    garbage->unsettled |= i && shard->limbo.tables;
  }
  lrd_budget_release(&cache->budget, count, (uint64_t)cost);
  atomic_fetch_sub_explicit(&cache->budget.cost_carry, (int64_t)(cost >> 64), memory_order_relaxed);
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    // Not lrd_shard_leave(): the queue of requests may not be locked under a shard's lock.
    garbage->unsettled |= lrd_lock_release(&cache->shards[i].lock);
  }
  lrd_chain removed = {0};
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_order_dissolve(&orders[i], cache->policy, &cache->pool, LRD_REMOVED_BY_CALL, &removed);
  }
  uint64_t expired = lrd_cache_is_timed(cache) ? tell_expired(cache, &removed) : 0;
  lrd_shard *shard = &cache->shards[0];
  lrd_shard_enter(cache, NULL, shard);
  if (expired) {
    shard->counters.removals -= expired;
    shard->counters.expirations += expired;
  }
  lrd_garbage_add_locked(cache, shard, garbage, &removed);
  lrd_shard_leave(cache, shard);
}

void lrd_removal_observe(lrd_cache *cache, bool observed) LRD_UNCHECKED_LOCKS {
  for (uint32_t i = 0; i <= cache->shard_mask; i++) lrd_lock_acquire(&cache->shards[i].lock);
  cache->observed = observed;
  bool marked = false;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    marked |= lrd_lock_release(&cache->shards[i].lock);
  }
  if (marked) lrd_request_visit(&cache->request);
}
