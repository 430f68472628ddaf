// SPDX-License-Identifier: Apache-2.0
#include "lrd_cache.h"

#include "lrd_growth.h"

enum {
  // Below 128 entries a shard misses 1 % more or worse, because shares are no longer alike.
  SHARD_ENTRIES = 512,
  SHARDS_PER_PROCESSOR = 2,
  // What a shard has for itself is less than a hundredth of so many entries.
  LARGE_SHARD_ENTRIES = 8192,
  LARGE_SHARDS_PER_PROCESSOR = 8,
};

uint32_t lrd_cache_choose_shards(const lrd_policy *policy, uint64_t count_limit,
                                 uint32_t processors) {
  if (!policy->divisible) return 1;
  uint64_t few =
      lrd_least(count_limit / SHARD_ENTRIES, (uint64_t)SHARDS_PER_PROCESSOR * processors);
  uint64_t many = lrd_least(count_limit / LARGE_SHARD_ENTRIES,
                            (uint64_t)LARGE_SHARDS_PER_PROCESSOR * processors);
  uint64_t most = lrd_least(lrd_most(few, many), LRD_SHARDS_MOST);
  uint32_t shards = 1;
  while (2 * shards <= most) shards *= 2;
  return shards;
}

void lrd_cache_adjust(lrd_cache *cache) {
  if (cache->policy->adjust) cache->policy->adjust(cache->shared);
}

/// I1, first half, I2 and I8: everything in the order is linked and in the table.
static void check_order(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  const lrd_policy *policy = shard->policy;
  lrd_pool *pool = shard->pool;
  uint64_t count = 0, timed = 0;
  unsigned __int128 cost = 0;
  uint32_t before = LRD_NIL;
  lrd_table *root = lrd_shard_root_locked(shard);
  for (uint32_t id = policy->hottest(&shard->order, pool); id != LRD_NIL; count++) {
    lrd_entry *entry = lrd_pool_entry(pool, id);
    LRD_CHECK(entry->state == LRD_ENTRY_LINKED);
    LRD_CHECK(policy->hotter(&shard->order, pool, entry) == before);
    lrd_cell cell;
    LRD_CHECK(lrd_table_find_locked(root, id, lrd_entry_hash48(entry), &cell));
    cost += lrd_entry_cost(entry);
    timed += (entry->fields & LRD_IS_TIMED) != 0;
    LRD_CHECK(count <= shard->count);
    before = id;
    id = policy->colder(&shard->order, pool, entry);
  }
  LRD_CHECK(policy->coldest(&shard->order, pool) == before);
  LRD_CHECK(count == shard->count);
  LRD_CHECK(cost == shard->cost);
  LRD_CHECK(timed == (shard->timer ? lrd_wheel_check(&shard->timer->wheel, pool) : 0)); // I8
  policy->check(&shard->order, pool);
}

/// I5, for one cell of a main bucket.
static void check_hints(lrd_table *table, lrd_slots slots, uint64_t index, int cell) {
  lrd_item item = lrd_bucket_item(&table->bucket[index], cell, slots);
  uint32_t count = table->references->count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t address = lrd_entry_refers_to(item.entry, table->references->at[i]);
    const lrd_hints *hints = &table->hints[index * count + i];
    uint32_t low = LRD_LOAD(&hints->low[cell]);
    LRD_CHECK(low == (uint32_t)(address >> 4));
  }
}

static void check_buckets(lrd_table *table, lrd_slots slots, uint64_t first, uint64_t end) {
  for (uint64_t i = first; i < end; i++) {
    uint32_t full = lrd_bucket_full(&table->bucket[i]);
    for (; full; full &= full - 1) check_hints(table, slots, i, __builtin_ctz(full));
  }
}

/// I1, second half, I3, I5 and I6: the table holds nothing else.
static void check_table(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  lrd_slots slots = lrd_pool_slots(shard->pool);
  uint64_t linked = 0;
  for (uint64_t i = 0; i < root->buckets; i++) {
    uint64_t length = lrd_table_chain_length_locked(root, i);
    uint64_t link = LRD_LOAD(&root->bucket[i].link);
    LRD_CHECK(((link & LRD_LINK_MOVED) != 0) == (i < root->moved));
    LRD_CHECK(i >= root->moved || length == 0);
    linked += length;
  }
  check_buckets(root, slots, root->moved, root->buckets);
  if (next) check_buckets(next, slots, 0, next->ready);
  for (uint64_t i = 0; next && i < next->ready; i++) {
    linked += lrd_table_chain_length_locked(next, i);
  }
  LRD_CHECK(next || root->moved == 0);
  LRD_CHECK((shard->timer ? shard->timer->at_ease : shard->at_ease) ==
            lrd_growth_ease_locked(shard));
  LRD_CHECK(!shard->timer || !shard->at_ease);
  LRD_CHECK(linked == shard->count);
}

void lrd_shard_check(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  check_order(shard);
  check_table(shard);
  LRD_CHECK(shard->flying == (shard->flights != 0) && shard->flights <= shard->flights_begun); // I7
  lrd_limbo_check_locked(&shard->limbo, shard->pool); // I4: L1, L4
  lrd_lock_release(&shard->lock);
}

/// I8, second half.
static void check_timed(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  LRD_CHECK(lrd_wheel_check(&shard->timer->wheel, shard->pool) == shard->count);
  lrd_lock_release(&shard->lock);
}

void lrd_cache_check(lrd_cache *cache) {
  bool timed = lrd_cache_is_timed(cache);
  uint64_t uncounted = 0;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    lrd_shard_check(shard);
    if (timed) check_timed(shard);
    lrd_lock_acquire(&shard->lock);
    uncounted += lrd_shard_uncounted_locked(shard);
    lrd_lock_release(&shard->lock);
  }
  LRD_CHECK(uncounted <= INT64_MAX); // I9
}
