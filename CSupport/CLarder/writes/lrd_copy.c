// SPDX-License-Identifier: Apache-2.0
#include "lrd_copy.h"

void lrd_copy_in_place_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, lrd_entry *copy,
                              bool timed, lrd_chain *replaced) {
  uint64_t hash = lrd_entry_hash48(entry), cost = lrd_entry_cost(entry);
  cache->hooks.copy(cache->hooks.context, copy, entry);
  lrd_entry_describe(copy, hash, 0);
  copy->fields = entry->fields;
  if (cost) *lrd_entry_cost_field(copy, copy->fields) = cost;
  if (timed && !(entry->fields & LRD_IS_TIMED)) lrd_entry_add_time(copy);
  lrd_shard_move_locked(shard, entry, copy, hash, replaced);
  atomic_fetch_add_explicit(&cache->moved, 1, memory_order_relaxed);
}
