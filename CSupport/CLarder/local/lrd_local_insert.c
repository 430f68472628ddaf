// SPDX-License-Identifier: Apache-2.0
#include "lrd_local_insert.h"

#include "lrd_alloc.h"
#include "lrd_evict.h"
#include "lrd_growth.h"
#include "lrd_move.h"

#include <string.h>

/// What stands in the way of an entry of this cost that takes the place of `old`.
LRD_INLINE lrd_shortage shortage_of(lrd_local *local, const lrd_entry *_Nullable old,
                                    uint64_t cost) {
  const lrd_shard *shard = &local->shard;
  uint64_t count_limit = lrd_cache_count_limit(&local->cache);
  if (count_limit && shard->count - (old != NULL) >= count_limit) return LRD_COUNT_SHORT;
  if (LRD_LIKELY(!cost)) return LRD_ROOM;
  uint64_t cost_limit = lrd_cache_cost_limit(&local->cache);
  unsigned __int128 others = shard->cost - (old ? lrd_entry_cost(old) : 0);
  return cost_limit && others + cost > cost_limit ? LRD_COST_SHORT : LRD_ROOM;
}

/// Adds an entry to a chain. False without memory.
LRD_INLINE bool append(lrd_table *table, lrd_bucket *last, lrd_item item) {
  for (lrd_bucket *next; (next = lrd_table_next_bucket(table, last));) last = next;
  uint32_t empty = lrd_bucket_empty(last);
  if (LRD_LIKELY(empty)) {
    lrd_table_publish(table, last, __builtin_ctz(empty), item);
    return true;
  }
  if (!lrd_table_overflow_left_locked(table)) {
    size_t bytes = lrd_table_next_chunk_bytes(table);
    lrd_bucket *chunk = bytes ? lrd_alloc(bytes, _Alignof(lrd_bucket)) : NULL;
    if (!chunk) return false;
    lrd_table_add_overflow_locked(table, chunk, bytes);
  }
  lrd_table_extend_locked(table, last, item);
  return true;
}

/// Copies the chain of bucket `index` to those that take its place in a larger table: `each`,
/// beginning with `first`. False without memory.
static bool split(lrd_table *root, uint64_t index, lrd_table *table, uint64_t first, uint64_t each,
                  lrd_slots slots) {
  lrd_bucket *bucket = &root->bucket[index];
  memset(&table->bucket[first], 0, each * sizeof *bucket);
  if (LRD_LIKELY(!lrd_table_next_bucket(root, bucket))) {
    lrd_table_split(bucket, table, first, slots);
    return true;
  }
  for (; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
      lrd_item item = lrd_bucket_item(bucket, __builtin_ctz(full), slots);
      uint64_t to = lrd_table_index(table, lrd_entry_hash48(item.entry));
      if (!append(table, &table->bucket[to], item)) return false;
    }
  }
  return true;
}

/// Puts all entries into a larger table, at once: nobody waits for it meanwhile. Without memory the
/// table stays. Then prepare() asks for a successor that is no larger, and may be smaller, to which
/// insertions move the buckets. Without memory for that the table gets more overflow buckets.
static LRD_COLD void grow(lrd_shard *shard) LRD_UNCHECKED_LOCKS {
  lrd_table *root = lrd_shard_root_locked(shard);
  bool first = root == &lrd_table_empty;
  if (lrd_growth_moves_locked(shard)) return;
  if (!first && shard->count < root->buckets * LRD_TABLE_LOAD) return;
  uint64_t each = 1, buckets = LRD_FIRST_BUCKETS;
  if (!first) {
    // Each bucket becomes a whole number of others.
    each = (lrd_growth_buckets_after(shard, root->buckets) + root->buckets - 1) / root->buckets;
    buckets = root->buckets * each;
  }
  lrd_table *table = lrd_table_create(buckets, shard->references);
  if (!table) return;
  // All of it is written now, so huge pages cost no more.
  lrd_alloc_at_once(table, table->bytes, _Alignof(lrd_table));
  if (first) lrd_table_make_ready(table);
  for (uint64_t index = 0; table->ready < table->buckets; index++, table->ready += each) {
    if (!split(root, index, table, table->ready, each, lrd_pool_slots(shard->pool))) {
      lrd_table_destroy(table);
      return;
    }
  }
  lrd_growth_leave_locked(shard);
  lrd_growth_start_locked(shard, table);
}

/// Makes room in the table, and gives the policy the history that it wants. False without memory.
static LRD_COLD bool prepare(lrd_local *local, uint64_t hash) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  grow(shard);
  lrd_supply supply = {0};
  bool prepared;
  while (!(prepared = lrd_growth_prepare_slow_locked(shard, hash, &supply))) {
    if (lrd_supply_fetch(&supply, shard->references)) continue;
    if (!supply.optional) break;
    supply.declined = true;
  }
  lrd_supply_drop(&supply);
  lrd_local_follow_tables(local);
  return prepared;
}

/// Evicts others than `old` until there is room. False without memory for the table.
static bool make_room(lrd_local *local, lrd_entry *_Nullable old, uint64_t hash, uint64_t cost,
                      lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  lrd_shortage shortage;
  for (int evicted = 0; (shortage = shortage_of(local, old, cost)) != LRD_ROOM; evicted++) {
    if (evicted == LRD_EVICTIONS_PER_LOCK) {
      if (old && old->state == LRD_ENTRY_DISPLACED) lrd_shard_restore_locked(shard, old);
      if (!lrd_shard_is_at_ease_locked(shard) && !prepare(local, hash)) return false;
      evicted = 0;
    }
    // Without any other entry there is room: the new one alone is within the limits.
    bool found =
        lrd_evict_living_locked(&local->cache, shard, old, LRD_REMOVED_LIMIT, shortage, removed);
    LRD_ASSERT(found);
    if (!found) return false;
  }
  return true;
}

/// lrd_local_insert() where more is to be done than to link an entry.
static LRD_COLD lrd_result insert_slowly(lrd_local *local, lrd_entry *entry, lrd_entry *old,
                                         uint64_t hash, lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  uint64_t cost = lrd_entry_cost(entry), cost_limit = lrd_cache_cost_limit(&local->cache);
  if (cost_limit && cost > cost_limit) {
    shard->counters.refusals++;
    if (old) lrd_local_remove(local, old, LRD_REMOVED_BY_CALL, removed);
    return LRD_TOO_COSTLY;
  }
  if (!lrd_shard_is_at_ease_locked(shard) && !prepare(local, hash)) return LRD_OUT_OF_MEMORY;
  bool replaces = old != NULL;
  if (old) lrd_note_hit_locked(&local->cache, shard, old);
  if (shortage_of(local, old, cost) != LRD_ROOM) {
    if (!make_room(local, old, hash, cost, removed)) return LRD_OUT_OF_MEMORY;
  }
  if (old) {
    lrd_shard_replace_locked(shard, old, entry, hash, removed);
    shard->counters.replacements++;
  } else {
    lrd_shard_link_locked(shard, entry, hash);
  }
  if (LRD_UNLIKELY(shard->order.adjust)) lrd_cache_adjust(&local->cache);
  return replaces ? LRD_REPLACED : LRD_INSERTED;
}

/// Puts a new entry that is in the order into the table, which is at ease.
LRD_INLINE void publish(lrd_local *local, lrd_item item, uint64_t hash) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_bucket *head = &root->bucket[lrd_table_index(root, hash)];
  if (LRD_LOAD(&head->link) & (LRD_LINK_MOVED | LRD_LINK_OVERFLOW)) {
    lrd_table_insert_locked(root, item, hash);
  } else {
    lrd_table_add_locked(root, head, item);
  }
  if (LRD_UNLIKELY(shard->order.adjust)) lrd_cache_adjust(&local->cache);
}

/// Evicts the policy's next victim, and puts `entry` into the order. False when there is none. No
/// entry has a cost.
LRD_INLINE bool exchange(lrd_local *local, lrd_entry *entry, uint64_t hash,
                         lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  bool ahead = shard->order.ahead = lrd_shard_is_far_locked(shard);
  if (ahead) lrd_insertion_prefetch_locked(shard, hash);
  uint32_t id = lrd_evict_exchange_locked(shard, entry);
  if (id == LRD_NIL) return false;
  lrd_entry *victim = lrd_pool_entry(shard->pool, id);
  if (ahead) lrd_evict_prefetch_locked(&local->cache, shard, victim, true);
  if (LRD_UNLIKELY(victim->fields)) lrd_shard_drop_fields_locked(shard, victim);
  lrd_shard_erase_locked(shard, victim, id, LRD_REMOVED_LIMIT);
  lrd_chain_add_costing(removed, victim, 0);
  return true;
}

lrd_result lrd_local_insert(lrd_local *local, lrd_entry *entry, lrd_entry *old, uint64_t hash,
                            lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  uint64_t cost = lrd_entry_cost(entry);
  if (LRD_LIKELY(!old && lrd_shard_is_at_ease_locked(&local->shard))) {
    lrd_shortage shortage = shortage_of(local, NULL, cost);
    bool evicts = shortage == LRD_COUNT_SHORT && !cost && !local->shard.cost;
    lrd_item item = lrd_item_of(entry, entry->prev, hash);
    if (shortage == LRD_ROOM) lrd_shard_admit_locked(&local->shard, entry, cost);
    if (shortage == LRD_ROOM || (evicts && exchange(local, entry, hash, removed))) {
      publish(local, item, hash);
      return LRD_INSERTED;
    }
  }
  return insert_slowly(local, entry, old, hash, removed);
}

void lrd_local_adjust(lrd_local *local) {
  lrd_cache_adjust(&local->cache);
}
