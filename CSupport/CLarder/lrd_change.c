// SPDX-License-Identifier: Apache-2.0
#include "lrd_change.h"

#include "lrd_evict.h"
#include "lrd_lookup.h"
#include "lrd_maintenance.h"
#include "lrd_retire.h"
#include "lrd_sweep.h"

/// Entries evicted under one lock at most, so that no insertion holds it for long.
enum { evictions_per_lock = 32 };

/// Unlocks; work that a busy lock turned away meanwhile goes back to the maintenance thread.
static void unlock(lrd_cache *cache, lrd_shard *shard) LRD_RELEASE(shard->lock) {
  if (LRD_UNLIKELY(lrd_lock_release(&shard->lock))) lrd_maintenance_request(cache);
}

void lrd_change_cancel(lrd_cache *cache, lrd_shard *shard) {
  unlock(cache, shard);
}

void lrd_note_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry) {
  if (entry) lrd_note_hit_locked(cache, shard, entry);
  if (lane) lrd_count(entry ? &lane->hits : &lane->misses);
}

static lrd_entry *entry_or_null(lrd_cache *cache, uint32_t id) {
  return id == LRD_NIL ? NULL : lrd_pool_entry(&cache->pool, id);
}

lrd_entry *lrd_order_first_locked(lrd_cache *cache, lrd_shard *shard, bool hottest) {
  const lrd_policy *policy = cache->policy;
  return entry_or_null(cache, hottest ? policy->hottest(&shard->order, &cache->pool)
                                      : policy->coldest(&shard->order, &cache->pool));
}

lrd_entry *lrd_order_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                 bool hottest) {
  const lrd_policy *policy = cache->policy;
  return entry_or_null(cache, hottest ? policy->colder(&shard->order, &cache->pool, entry)
                                      : policy->hotter(&shard->order, &cache->pool, entry));
}

bool lrd_lend_locked(lrd_lane *lane, lrd_shard *shard, lrd_entry *entry) {
  (void)shard;
  if (!lane || !lrd_loans_left(lane)) return false;
  // No reload: the entry is linked, and whoever unlinks it takes the lock after this store.
  lrd_hazard_set(&lane->thread->top->entry, entry);
  lrd_loan_open(lane);
  return true;
}

/// Hands on what was unlinked: to the observer first, or to retirement.
static void pass_on_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                           lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  if (cache->observed) lrd_chain_append(&change->removed, removed);
  lrd_retire_locked(cache, shard, change, removed);
}

static void release_room(lrd_cache *cache, const lrd_chain *chain) {
  for (lrd_entry *entry = chain->head; entry; entry = lrd_chain_next(&cache->pool, entry)) {
    lrd_budget_release(&cache->budget, 1, entry->cost);
  }
}

/// Makes room in the other shards, a few entries from one that has some.
static void steal_room(lrd_cache *cache, lrd_lane *lane, lrd_change *change,
                       lrd_shortage shortage) {
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    uint32_t hand = atomic_fetch_add_explicit(&cache->steal_hand, 1, memory_order_relaxed);
    lrd_shard *shard = &cache->shards[hand & cache->shard_mask];
    lrd_chain victims = {0};
    lrd_change_begin(cache, lane, shard);
    int wanted = shortage == LRD_COUNT_SHORT ? 1 : 4;
    while (wanted-- &&
           lrd_evict_locked(cache, shard, NULL, LRD_REMOVED_LIMIT, shortage, &victims)) {
    }
    bool found = victims.head;
    release_room(cache, &victims);
    pass_on_locked(cache, shard, change, &victims);
    unlock(cache, shard);
    if (found) return;
  }
  // All room is reserved by insertions that are about to be linked.
  lrd_yield();
}

static lrd_result refuse_costly(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                lrd_entry *old) LRD_RELEASE(shard->lock) {
  lrd_chain removed = {0};
  shard->counters.refusals++;
  if (old) {
    lrd_shard_unlink_locked(shard, cache->policy, &cache->pool, old, LRD_REMOVED_BY_CALL, &removed);
    shard->counters.removals++;
    release_room(cache, &removed);
  }
  pass_on_locked(cache, shard, change, &removed);
  unlock(cache, shard);
  lrd_need_drop(&change->need);
  return LRD_TOO_COSTLY;
}

/// Leaves the lock with what was evicted so far, to go on with more room.
static lrd_result make_room(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_change *change,
                            lrd_entry *old, lrd_chain *victims, lrd_shortage shortage,
                            bool exhausted) LRD_RELEASE(shard->lock) {
  // An old value that costs nothing would go in vain, and where such are passed over it stays while
  // room is sought in other shards.
  bool gives_way = old && (old->cost || !cache->policy->pass);
  if (exhausted && gives_way) {
    // Nothing else here frees cost, and the new value is too large beside other shards' entries.
    lrd_shard_unlink_locked(shard, cache->policy, &cache->pool, old, LRD_REMOVED_REPLACED, victims);
    shard->counters.removals++; // until the new value is stored, if it is
    change->replaced = true;
  } else if (old && old->state == LRD_ENTRY_DISPLACED) {
    lrd_shard_restore_locked(shard, cache->policy, &cache->pool, old);
  }
  release_room(cache, victims);
  pass_on_locked(cache, shard, change, victims);
  unlock(cache, shard);
  if (exhausted && !gives_way) steal_room(cache, lane, change, shortage);
  return LRD_AGAIN;
}

lrd_result lrd_change_insert(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_change *change,
                             lrd_entry *entry, lrd_entry *old, uint64_t hash) {
  lrd_budget *budget = &cache->budget;
  uint64_t cost_limit = atomic_load_explicit(&budget->cost_limit, memory_order_relaxed);
  if (cost_limit && entry->cost > cost_limit) {
    return refuse_costly(cache, shard, change, old);
  }
  if (!lrd_shard_prepare_locked(shard, cache->policy, hash, &change->need)) {
    unlock(cache, shard);
    if (lrd_need_supply(&change->need)) return LRD_AGAIN;
    if (!change->need.may_wait) return LRD_OUT_OF_MEMORY;
    change->need.wait = true;
    return LRD_AGAIN;
  }
  change->unsettled |= change->need.foreseen;
  // A replacement is a use: where order follows use, room is taken from the old value last.
  if (old && !change->noted) lrd_note_hit_locked(cache, shard, old);
  change->noted |= old != NULL;
  lrd_chain victims = {0};
  uint64_t freed = old ? 1 : 0;
  uint64_t freed_cost = old ? old->cost : 0;
  lrd_shortage shortage;
  while ((shortage = lrd_budget_exchange(budget, freed, freed_cost, entry->cost)) != LRD_ROOM) {
    // Half the range is left for the next cost, so that the sum cannot overflow.
    bool more = victims.count < evictions_per_lock && freed_cost <= INT64_MAX;
    if (!more || !lrd_evict_locked(cache, shard, old, LRD_REMOVED_LIMIT, shortage, &victims)) {
      bool exhausted = more;
      return make_room(cache, lane, shard, change, old, &victims, shortage, exhausted);
    }
    freed++;
    freed_cost += victims.tail->cost;
  }
  shard->full = victims.head != NULL;
  if (old) {
    lrd_shard_replace_locked(shard, cache->policy, &cache->pool, old, entry, hash, &victims);
    shard->counters.replacements++;
  } else {
    lrd_shard_link_locked(shard, cache->policy, &cache->pool, entry, hash);
    if (change->replaced) {
      shard->counters.removals--;
      shard->counters.replacements++;
    } else {
      shard->counters.insertions++;
    }
  }
  // This thread's batch was applied at the beginning, so it is as sound after its own evictions;
  // but not what a lookup around this call has found.
  if (lane) {
    lane->sound_at = shard->unlinked;
    lane->applied++;
  }
  pass_on_locked(cache, shard, change, &victims);
  bool adjust = shard->order.adjust;
  unlock(cache, shard);
  if (change->need.supplied != LRD_NEED_NOTHING) lrd_need_drop(&change->need);
  if (LRD_UNLIKELY(adjust)) {
    cache->policy->adjust(cache->shared, lrd_cache_limits(cache), cache->shard_mask + 1);
  }
  return old || change->replaced ? LRD_REPLACED : LRD_INSERTED;
}

/// What an eviction counts as that the layer above has chosen: by cost where that is the limit
/// which is short, or the only one there is.
static int kind_chosen(lrd_budget *budget) {
  uint64_t limit = atomic_load_explicit(&budget->count_limit, memory_order_relaxed);
  bool counted = limit && atomic_load_explicit(&budget->count, memory_order_relaxed) >= limit;
  bool costly = atomic_load_explicit(&budget->cost_limit, memory_order_relaxed);
  return costly && !counted ? LRD_EVICTED_BY_COST : LRD_EVICTED_BY_COUNT;
}

void lrd_change_unlink_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, uint8_t reason,
                              lrd_chain *removed) {
  lrd_shard_unlink_locked(shard, cache->policy, &cache->pool, entry, reason, removed);
  if (reason == LRD_REMOVED_LIMIT) {
    shard->counters.evictions[kind_chosen(&cache->budget)]++;
  } else if (reason == LRD_REMOVED_TRIM) {
    shard->counters.evictions[LRD_EVICTED_BY_TRIM]++;
  } else {
    shard->counters.removals++;
  }
}

void lrd_change_end(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_chain *removed) {
  release_room(cache, removed);
  pass_on_locked(cache, shard, change, removed);
  change->unsettled |= lrd_shard_oversized_locked(shard);
  unlock(cache, shard);
}

void lrd_change_remove(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_entry *entry) {
  lrd_chain removed = {0};
  lrd_change_unlink_locked(cache, shard, entry, LRD_REMOVED_BY_CALL, &removed);
  lrd_change_end(cache, shard, change, &removed);
}

bool lrd_change_trim(lrd_cache *cache, lrd_lane *lane, lrd_change *change, uint64_t count_bound,
                     uint64_t cost_bound, uint64_t *allowance) {
  uint32_t idle = 0;
  while (*allowance && lrd_budget_excess(&cache->budget, count_bound, cost_bound) != LRD_ROOM) {
    uint32_t hand = atomic_fetch_add_explicit(&cache->steal_hand, 1, memory_order_relaxed);
    lrd_shard *shard = &cache->shards[hand & cache->shard_mask];
    lrd_chain victims = {0};
    lrd_change_begin(cache, lane, shard);
    // Several shards share the loss; one alone gives what is wanted in its own order.
    uint64_t wanted = cache->shard_mask ? 1 : evictions_per_lock;
    if (wanted > *allowance) wanted = *allowance;
    lrd_shortage shortage;
    while (wanted-- &&
           (shortage = lrd_budget_excess(&cache->budget, count_bound, cost_bound)) != LRD_ROOM &&
           lrd_evict_locked(cache, shard, NULL, LRD_REMOVED_TRIM, shortage, &victims)) {
      lrd_budget_release(&cache->budget, 1, victims.tail->cost);
    }
    uint32_t evicted = victims.count;
    *allowance -= evicted;
    pass_on_locked(cache, shard, change, &victims);
    change->unsettled |= lrd_shard_oversized_locked(shard);
    unlock(cache, shard);
    idle = evicted ? 0 : idle + 1;
    if (idle > cache->shard_mask) {
      lrd_yield();
      idle = 0;
    }
    if (change->ready.head || change->removed.head || change->suspect.head) return false;
  }
  return true;
}

void lrd_change_empty(lrd_cache *cache, lrd_lane *lane, lrd_change *change) LRD_UNCHECKED_LOCKS {
  lrd_order orders[LRD_SHARDS_MOST];
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_change_begin(cache, lane, &cache->shards[i]);
  }
  uint64_t count = 0;
  unsigned __int128 cost = 0;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    count += cache->shards[i].count;
    cost += cache->shards[i].cost;
    lrd_shard_empty_locked(&cache->shards[i], cache->policy, &orders[i]);
  }
  lrd_budget_release(&cache->budget, count, (uint64_t)cost);
  atomic_fetch_sub_explicit(&cache->budget.cost_carry, (int64_t)(cost >> 64), memory_order_relaxed);
  bool marked = false;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    marked |= lrd_lock_release(&cache->shards[i].lock);
  }
  change->unsettled |= marked;
  lrd_chain removed = {0};
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_order_dissolve(&orders[i], cache->policy, &cache->pool, LRD_REMOVED_BY_CALL, &removed);
  }
  lrd_shard *shard = &cache->shards[0];
  lrd_lock_acquire(&shard->lock);
  pass_on_locked(cache, shard, change, &removed);
  unlock(cache, shard);
}

/// Tells the policy, and waits until no insertion is left that has read an earlier limit: they read
/// it under a lock. Of several calls at once, the last to have a shard's lock reads the last
/// limits.
static void limits_changed(lrd_cache *cache) {
  const lrd_policy *policy = cache->policy;
  if (policy->adjust) {
    policy->adjust(cache->shared, lrd_cache_limits(cache), cache->shard_mask + 1);
  }
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    lrd_lock_acquire(&shard->lock);
    lrd_shard_resize_locked(shard, policy, lrd_cache_share(cache));
    unlock(cache, shard);
  }
}

void lrd_cache_set_count_limit(lrd_cache *cache, uint64_t limit) {
  atomic_store_explicit(&cache->budget.count_limit, limit, memory_order_relaxed);
  limits_changed(cache);
}

void lrd_cache_set_cost_limit(lrd_cache *cache, uint64_t limit) {
  atomic_store_explicit(&cache->budget.cost_limit, limit, memory_order_relaxed);
  limits_changed(cache);
}
