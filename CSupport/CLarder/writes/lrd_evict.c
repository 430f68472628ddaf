// SPDX-License-Identifier: Apache-2.0
#include "lrd_evict.h"

#include "lrd_expire.h"

/// Keeps an entry that is being replaced ahead of those that were passed over since its hit.
static void renew_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared)
    LRD_REQUIRES(shard->lock) {
  if (spared->state != LRD_ENTRY_LINKED || !cache->policy->renew) return;
  cache->policy->renew(&shard->order, &cache->pool, spared);
}

/// The entry to evict; NULL when no entry of the shard would help.
static lrd_entry *choose_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared,
                                bool wants_cost) LRD_REQUIRES(shard->lock) {
  if (wants_cost && shard->cost == (spared ? lrd_entry_cost(spared) : 0)) return NULL;
  for (int passed = 0;;) {
    uint32_t id = cache->policy->victim(&shard->order, &cache->pool);
    if (id == LRD_NIL) return NULL;
    lrd_entry *entry = lrd_pool_entry(&cache->pool, id);
    if (entry == spared) {
      lrd_shard_displace_locked(shard, spared);
    } else if (wants_cost && cache->policy->pass && !lrd_entry_cost(entry) &&
               passed < LRD_PASSED_OVER_MOST) {
      passed++;
      cache->policy->pass(&shard->order, &cache->pool, entry);
    } else {
      if (passed && spared) renew_locked(cache, shard, spared);
      return entry;
    }
  }
}

void lrd_evict_prefetch_locked(lrd_cache *cache, lrd_shard *shard, const lrd_entry *victim,
                               bool destroys) {
  if (victim->prev == LRD_NIL) return;
  lrd_slots slots = lrd_pool_slots(shard->pool);
  const lrd_entry *next = lrd_slots_entry(slots, victim->prev);
  lrd_shard_prefetch(shard, lrd_entry_hash48_locked(next), 0); // its hints are left as they are
  if (destroys) lrd_entry_prefetch_references(next, &cache->entry_references);
  lrd_order_prefetch(slots, next, LRD_AHEAD - 1);
}

/// True when the policy's victim has expired: the wheel has shown too many others before it, whose
/// deadlines uses had moved.
static bool has_expired_locked(lrd_shard *shard, const lrd_entry *victim)
    LRD_REQUIRES(shard->lock) {
  return shard->timer && victim->fields & LRD_IS_TIMED &&
         lrd_timer_is_over(victim, lrd_limit_at(shard->timer->now));
}

static unsigned kind_of(uint8_t reason, lrd_shortage shortage) {
  if (reason == LRD_REMOVED_TRIM) return LRD_EVICTED_BY_TRIM;
  return shortage == LRD_COUNT_SHORT ? LRD_EVICTED_BY_COUNT : LRD_EVICTED_BY_COST;
}

bool lrd_evict_living_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared, uint8_t reason,
                             lrd_shortage shortage, lrd_chain *victims) {
  lrd_entry *victim = choose_locked(cache, shard, spared, shortage == LRD_COST_SHORT);
  if (!victim) return false;
  if (shard->order.ahead) {
    lrd_evict_prefetch_locked(cache, shard, victim, lrd_thread_is_solitary());
  }
  if (LRD_UNLIKELY(has_expired_locked(shard, victim))) {
    lrd_expire_locked(shard, victim, victims);
    return true;
  }
  lrd_shard_unlink_locked(shard, victim, reason, victims);
  lrd_shard_note_eviction_locked(shard, kind_of(reason, shortage));
  return true;
}

bool lrd_evict_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *spared, uint8_t reason,
                      lrd_shortage shortage, lrd_chain *victims) {
  if (LRD_UNLIKELY(shard->timer)) {
    lrd_timer_look(shard->timer);
    if (lrd_expire_one_locked(shard, spared, victims)) return true;
  }
  return lrd_evict_living_locked(cache, shard, spared, reason, shortage, victims);
}
