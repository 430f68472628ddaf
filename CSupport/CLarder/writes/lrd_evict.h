// SPDX-License-Identifier: Apache-2.0
/* lrd_evict.h — chooses an entry when room is short, and evicts it.
 *
 * The policy names the victim. When cost is short, entries of cost 0 are passed over, because to
 * evict them would free no cost: `pass` of lrd_policy lets others go first. One eviction passes
 * over LRD_PASSED_OVER_MOST entries at most, so that its steps are bounded. The entry that is being
 * replaced is then put ahead of them again, by `renew`. Policies that order entries by cost have no
 * `pass`: their victims are evicted, unless no other entry of the shard costs anything. */
#pragma once

#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

#define LRD_PASSED_OVER_MOST 16

/// The most entries that are evicted under one lock. After so many an insertion begins anew, and an
/// old entry that is a victim itself stands in the order as if new: so in a local cache, too.
enum { LRD_EVICTIONS_PER_LOCK = 32 };

/// Takes the entry to evict next out of the order; returns its slot id. Admits `entry` in its
/// place. No entry of the shard may have a cost, nor this one. LRD_NIL when there is no victim: then
/// nothing has changed.
LRD_INLINE uint32_t lrd_evict_exchange_locked(lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock) {
  LRD_ASSERT(!shard->cost && !lrd_entry_has_cost(entry));
  const lrd_policy *policy = shard->policy;
  lrd_pool *pool = shard->pool;
  uint32_t id = entry->prev, victim;
  if (policy->exchange) {
    victim = policy->exchange(&shard->order, pool, entry, id);
    if (victim == LRD_NIL) return victim;
  } else {
    victim = policy->victim(&shard->order, pool);
    if (victim == LRD_NIL) return victim;
    victim = policy->remove(&shard->order, pool, lrd_pool_entry(pool, victim), true);
    policy->insert(&shard->order, pool, entry, id);
  }
  lrd_shard_note_admitted_locked(shard, entry, 0);
  return victim;
}

/// Begins to load what the next evictions will touch, where victims are neighbours. Of the next
/// victim: its bucket and, if the caller `destroys`, its references. Of the victim two after that:
/// its header, which is thus read two evictions later, and nobody waits.
void lrd_evict_prefetch_locked(lrd_cache *cache, lrd_shard *shard, const lrd_entry *victim,
                               bool destroys) LRD_REQUIRES(shard->lock);

/// Evicts one entry other than `spared` because of `shortage`; its state becomes `reason`. If it
/// has expired, by the timer's last look, it leaves as that. False when no entry of the shard would
/// help. If the policy names `spared`, it is displaced: the entry that replaces it then enters the
/// order as a new one.
bool lrd_evict_living_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *_Nullable spared,
                             uint8_t reason, lrd_shortage shortage, lrd_chain *victims)
    LRD_REQUIRES(shard->lock);

/// The same, but removes an entry of the shard that has expired if it finds one.
bool lrd_evict_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *_Nullable spared,
                      uint8_t reason, lrd_shortage shortage, lrd_chain *victims)
    LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
