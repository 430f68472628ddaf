// SPDX-License-Identifier: Apache-2.0
#include "lrd_shortway.h"

#include "lrd_evict.h"
#include "lrd_growth.h"

/// The last bucket of a chain; NULL when an entry of the chain has this hash.
static lrd_bucket *find_end_locked(lrd_shard *shard, uint64_t hash) LRD_REQUIRES(shard->lock) {
  lrd_matches matches = lrd_shard_matches_locked(shard, hash);
  return lrd_matches_next_locked(&matches) ? NULL : matches.bucket;
}

/// Makes room in a table that is not at ease, if that needs neither memory nor a visit, and no
/// flight and no timer needs to be told.
static __attribute__((noinline)) bool prepare_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_supply none = {0};
  if (shard->flying || shard->timer) return false;
  return lrd_growth_prepare_slow_locked(shard, hash, &none) && !none.tidy && !shard->limbo.tables;
}

bool lrd_shortway_try(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry,
                      uint64_t hash, lrd_chain *freed) LRD_UNCHECKED_LOCKS {
  lrd_insertion_begin(cache, lane, shard, hash);
  if (!lrd_growth_is_at_ease_locked(shard) && !prepare_locked(shard, hash)) return false;
  // Most chains have one bucket. If it has the tag nowhere, one look is enough.
  lrd_table *home = lrd_table_home_locked(lrd_shard_root_locked(shard), hash);
  lrd_bucket *head = &home->bucket[lrd_table_index(home, hash)];
  bool simple =
      !lrd_bucket_match(head, lrd_table_tag(hash)) && !(LRD_LOAD(&head->link) & LRD_LINK_OVERFLOW);
  lrd_bucket *last = simple ? head : find_end_locked(shard, hash);
  if (!last) return false;
  bool waits = false, full = false;
  uint64_t cost = lrd_entry_cost(entry);
  if (lrd_budget_exchange(&cache->budget, 0, 0, cost) != LRD_ROOM) {
    full = !cost && lrd_evict_quietly_locked(cache, lane, shard, freed, &waits);
    if (!full) return false;
  }
  lrd_shard_admit_locked(shard, entry, cost);
  if (full && !simple)
    last = find_end_locked(shard, hash); // evictions may have shortened the chain
  lrd_table_add_locked(home, last, lrd_table_word(entry, lrd_table_tag(hash)));
  shard->counters.insertions++;
  shard->ahead = full && lrd_evict_is_far_locked(cache, shard);
  bool adjusts = shard->order.adjust;
  lrd_shard_leave(cache, shard);
  if (LRD_UNLIKELY(waits)) lrd_request_visit(&cache->request);
  if (LRD_UNLIKELY(adjusts)) lrd_evict_adjust(cache);
  return true;
}
