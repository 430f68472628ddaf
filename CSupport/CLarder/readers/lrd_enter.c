// SPDX-License-Identifier: Apache-2.0
#include "lrd_enter.h"

#include "lrd_use.h"

void lrd_note_hit_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry) {
  if (cache->hits_most == LRD_HITS_BATCHED) {
    shard->order_changes++;
    cache->policy->access(&shard->order, &cache->pool, &entry, 1);
  } else {
    lrd_entry_count_hit(entry, cache->hits_most);
  }
}

void lrd_note_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry,
                     uint64_t hash) {
  const lrd_policy *policy = cache->policy;
  if (entry) {
    lrd_note_hit_locked(cache, shard, entry);
  } else if (policy->missed) {
    shard->order_changes++;
    policy->missed(&shard->order, lrd_hash48(hash));
  }
  if (!lane) return;
  lrd_count(entry ? &lane->hits : &lane->misses);
  // A use moves the deadline of an entry that goes by the last one.
  if (entry && lrd_cache_is_timed(cache)) lrd_entry_prolong(cache, lane, entry);
}

bool lrd_lend_locked(lrd_lane *lane, lrd_shard *shard, lrd_entry *entry) {
  (void)shard;
  if (!lane || !lrd_loans_left(lane)) return false;
  // Need not check the table again: whoever unlinks the entry takes the lock after this store.
  lrd_hazard_set(&lane->thread->top->entry, entry);
  lrd_loan_pin(lane);
  return true;
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
