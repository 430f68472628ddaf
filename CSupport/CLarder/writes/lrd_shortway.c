// SPDX-License-Identifier: Apache-2.0
#include "lrd_shortway.h"

#include "lrd_evict.h"
#include "lrd_expire.h"
#include "lrd_growth.h"
#include "lrd_matches.h"

/// Lifetimes from about a second on: the time of a lane, which may be two milliseconds late, is
/// good enough to count them from.
static const uint64_t long_life = (uint64_t)1 << (30 - LRD_TICK_SHIFT);

/// True when an entry of a chain has this hash.
static __attribute__((noinline)) bool holds_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  return lrd_shard_find_hash_locked(shard, hash);
}

/// Makes room in a table that is not at ease, if that needs neither memory nor a visit, and no
/// flight needs to be told.
static __attribute__((noinline)) bool prepare_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_supply none = {0};
  const lrd_history *history = &shard->order.history;
  // A former history would be left in the supply, to be freed without the lock.
  if (shard->flying || history->wanted != history->bytes) return false;
  return lrd_growth_prepare_slow_locked(shard, hash, &none) && !none.tidy && !shard->limbo.tables;
}

/// True when exchange_locked() may retire an entry: nobody observes, the limbo is due for nothing,
/// no entry has a cost, and this thread may destroy what is free. `quiet`: the limbo is known to be
/// due for nothing; `waits`: that, or it is not empty.
LRD_INLINE bool may_exchange_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, bool waits,
                                    bool quiet) LRD_REQUIRES(shard->lock) {
  // A thread that lends may have lent what it evicts. Inner calls do their part of the long way.
  if (!lane || lane->destroying || lane->thread->top != lane->thread->hazards) return false;
  if (cache->observed || shard->cost) return false;
  if (!waits) return true;
  // By the long way a thread that is alone now empties a limbo from a time with more threads.
  if (lrd_thread_is_solitary()) return false;
  return LRD_LIKELY(quiet) ||
         lrd_limbo_find_quiet_locked(&shard->limbo, lrd_garbage_bound_locked(cache, shard));
}

typedef enum eviction {
  NOT_EVICTED, // nothing has changed
  EVICTED,
  EVICTED_TO_LIMBO, // something stays there: ask for a visit
} eviction;

/// Evicts one entry and retires it, where may_exchange_locked() allows that, and admits `entry`.
/// `*freed` becomes an entry to destroy, if there is one: the one evicted, or one that the limbo
/// gives for it. `timer`: as in store().
LRD_INLINE eviction exchange_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard,
                                    lrd_entry *entry, lrd_entry **freed, lrd_timer *timer)
    LRD_REQUIRES(shard->lock) {
  lrd_limbo *limbo = &shard->limbo;
  bool quiet = lrd_limbo_is_quiet_locked(limbo);
  bool waits = quiet || lrd_limbo_waits_locked(limbo);
  if (!may_exchange_locked(cache, lane, shard, waits, quiet)) return NOT_EVICTED;
  uint32_t id = lrd_evict_exchange_locked(shard, entry);
  if (id == LRD_NIL) return NOT_EVICTED;
  lrd_entry *victim = lrd_pool_entry(shard->pool, id);
  if (shard->order.ahead) lrd_evict_prefetch_locked(cache, shard, victim, !waits);
  if (timer && victim->fields & LRD_IS_TIMED) {
    lrd_wheel_remove(&timer->wheel, shard->pool, victim);
  }
  lrd_shard_erase_locked(shard, victim, id, LRD_REMOVED_LIMIT);
  lane->sound_at = shard->unlinked;
  lane->applied++;
  if (!waits && lrd_thread_is_solitary()) {
    *freed = victim;
    lane->destroying++;
    return EVICTED;
  }
  lrd_chain_add_costing(&limbo->fresh, victim, 0);
  *freed = lrd_limbo_take_locked(limbo, &cache->pool, &cache->entry_references);
  lane->destroying += *freed != NULL;
  return EVICTED_TO_LIMBO;
}

/// The rest, once the table has room. `timer`: that of the shard if there is one.
LRD_INLINE bool store(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry,
                      uint64_t hash, lrd_entry **freed, lrd_timer *timer) LRD_UNCHECKED_LOCKS {
  // Most chains have one bucket. If it has the tag nowhere, one look is enough.
  lrd_table *home = lrd_table_home_locked(lrd_shard_root_locked(shard), hash);
  uint64_t index = lrd_table_index(home, hash);
  const lrd_bucket *head = &home->bucket[index];
  uint32_t empty = lrd_bucket_empty(head);
  if (lrd_bucket_match(head, lrd_table_tag(hash)) || LRD_LOAD(&head->link) & LRD_LINK_OVERFLOW) {
    if (holds_locked(shard, hash)) return false;
    empty = 0;
  }
  eviction evicted = NOT_EVICTED;
  uint32_t id = entry->prev;
  uint64_t cost = lrd_entry_cost(entry);
  if (lrd_budget_reserve(&cache->budget, cost) == LRD_ROOM) {
    lrd_shard_admit_locked(shard, entry, cost);
  } else {
    if (cost) return false;
    // What has expired in another shard would go first.
    if (timer && cache->shard_mask && lrd_expire_may_find(cache, timer->now)) return false;
    evicted = exchange_locked(cache, lane, shard, entry, freed, timer);
    if (evicted == NOT_EVICTED) return false;
  }
  if (timer) lrd_entry_make_timed(entry, cost);
  if (timer) lrd_timer_add_plain(timer, &cache->pool, entry, id);
  if (empty) { // still so after an eviction, which moves nothing into this bucket
    lrd_table_publish_at(home, index, __builtin_ctz(empty), lrd_item_of(entry, id, hash));
  } else {
    lrd_table_insert_locked(home, lrd_item_of(entry, id, hash), hash);
  }
  shard->order.ahead = evicted != NOT_EVICTED && lrd_shard_is_far_locked(shard);
  bool adjusts = shard->order.adjust;
  bool asks = timer && lrd_timer_asks(timer);
  lrd_shard_leave(cache, shard);
  if (LRD_UNLIKELY(evicted == EVICTED_TO_LIMBO || asks)) lrd_request_visit(&cache->request);
  if (LRD_UNLIKELY(adjusts)) lrd_cache_adjust(cache);
  return true;
}

/// Where entries can expire: if nothing is due, and this entry is no special case.
static __attribute__((noinline)) bool store_timed(lrd_cache *cache, lrd_lane *lane,
                                                  lrd_shard *shard, lrd_entry *entry, uint64_t hash,
                                                  lrd_entry **freed) LRD_UNCHECKED_LOCKS {
  lrd_timer *timer = shard->timer;
  const lrd_rule *rule = &timer->rule;
  uint64_t least = lrd_shortest(lrd_least(rule->after_write, rule->after_access), rule->jitter);
  // For a long life it does not matter by what a lane's time is late.
  if (least < long_life || !lane || entry->fields & LRD_IS_TIMED) return false;
  if (timer->wide && !lrd_pool_is_wide(&cache->pool, entry->prev)) return false;
  timer->now = lrd_lane_tick(cache, lane);
  if (timer->now + ((uint64_t)1 << LRD_TURN_SHIFT) >= timer->first) return false;
  if (!lrd_shard_is_timed_at_ease_locked(shard) && !prepare_locked(shard, hash)) return false;
  return store(cache, lane, shard, entry, hash, freed, timer);
}

bool lrd_shortway_try(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry,
                      uint64_t hash, lrd_entry **freed) LRD_UNCHECKED_LOCKS {
  lrd_insertion_begin(cache, lane, shard, hash);
  if (!lrd_shard_is_at_ease_locked(shard)) {
    if (shard->timer) return store_timed(cache, lane, shard, entry, hash, freed);
    if (!prepare_locked(shard, hash)) return false;
  }
  return store(cache, lane, shard, entry, hash, freed, NULL);
}
