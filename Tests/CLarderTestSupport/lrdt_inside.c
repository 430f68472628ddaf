// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrdt_inside.h"

#include "lrd_alloc.h"
#include "lrd_relief.h"
#include "lrdt_items.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

lrd_lock *lrdt_lock_create(void) {
  return calloc(1, sizeof(lrd_lock));
}

void lrdt_lock_destroy(lrd_lock *lock) {
  free(lock);
}

uint32_t lrdt_lock_word(const lrd_lock *lock) {
  return atomic_load_explicit(&lock->word, memory_order_relaxed);
}

lrd_pool *lrdt_pool_create(size_t entry_bytes, size_t alignment) {
  return lrdt_pool_create_costed(entry_bytes, alignment, false);
}

lrd_pool *lrdt_pool_create_costed(size_t entry_bytes, size_t alignment, bool costed) {
  lrd_layout layout = {.bytes = entry_bytes, .alignment = alignment, .costed = costed};
  lrd_pool *pool = aligned_alloc(_Alignof(lrd_pool), sizeof *pool);
  if (pool && lrd_pool_open(pool, layout)) return pool;
  free(pool);
  return NULL;
}

void lrdt_pool_destroy(lrd_pool *pool) {
  lrd_pool_close(pool);
  free(pool);
}

size_t lrdt_pool_stride(const lrd_pool *pool) {
  return pool->stride;
}

uint32_t lrdt_pool_pages(const lrd_pool *pool) {
  return pool->pages;
}

uint32_t lrdt_pool_directory_capacity(const lrd_pool *pool) {
  return atomic_load_explicit(&pool->directory, memory_order_acquire)->capacity;
}

static void destroy_nothing(void *context, lrd_entry *entry, void **batch) {
  (void)context;
  (void)entry;
  (void)batch;
}

static void release_nothing(void *context) {
  (void)context;
}

lrd_cache *lrdt_cache_create(uint32_t shards, size_t entry_bytes) {
  return lrdt_cache_create_with(lrd_policy_of(LRD_POLICY_LRU), shards, entry_bytes);
}

lrd_cache *lrdt_cache_create_with(const lrd_policy *policy, uint32_t shards, size_t entry_bytes) {
  lrd_options options = {.policy = policy,
                         .shards = shards,
                         .entry_bytes = entry_bytes,
                         .entry_alignment = 8,
                         .references = *lrdt_two_references(),
                         .hooks = {.destroy = destroy_nothing, .release = release_nothing}};
  return lrd_cache_create(&options);
}

lrd_pool *lrdt_cache_pool(lrd_cache *cache) {
  return &cache->pool;
}

lrd_table *lrdt_shard_root(lrd_shard *shard) {
  return atomic_load_explicit(&shard->root, memory_order_acquire);
}

lrd_table *lrdt_table_next(const lrd_table *table) {
  return atomic_load_explicit(&table->next, memory_order_acquire);
}

uint64_t lrdt_table_buckets(const lrd_table *table) {
  return table->buckets;
}

uint64_t lrdt_table_moved_locked(const lrd_table *table) {
  return table->moved;
}

uint32_t lrdt_table_chunks_locked(const lrd_table *table) {
  return table->chunks;
}

uint32_t lrdt_table_overflow_used_locked(const lrd_table *table) {
  return table->overflow_used;
}

uint64_t lrdt_shard_count(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  uint64_t count = shard->count;
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return count;
}

uint64_t lrdt_shard_retired(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  uint64_t count = lrd_limbo_count_locked(&shard->limbo);
  // A mark left meanwhile goes back to whoever holds the lock next.
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return count;
}

uint64_t lrdt_shard_scanned(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  uint64_t count = shard->limbo.scanned.count;
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return count;
}

uint64_t lrdt_shard_ticket(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  uint64_t ticket = shard->limbo.ticket;
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return ticket;
}

uint64_t lrdt_shard_visited(lrd_shard *shard) {
  lrd_lock_acquire(&shard->lock);
  uint64_t visited = shard->limbo.visited;
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return visited;
}

uint64_t lrdt_shard_retired_tables(lrd_shard *shard) {
  uint64_t count = 0;
  lrd_lock_acquire(&shard->lock);
  for (lrd_table *table = shard->limbo.tables; table; table = table->retired_next) count++;
  if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  return count;
}

lrd_table *lrdt_table_enter(lrd_lane *lane, lrd_shard *shard) {
  lrd_hazard *hazard = lane->thread->top;
  lrd_table *root;
  do {
    root = lrdt_shard_root(shard);
    lrd_hazard_set(&hazard->table, root);
  } while (lrdt_shard_root(shard) != root);
  return root;
}

void lrdt_table_leave(lrd_lane *lane) {
  lrd_hazard_clear(&lane->thread->top->table);
}

bool lrdt_table_is_resident(const lrd_table *table) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *start = (char *)((uintptr_t)table / page * page), *end = (char *)table + table->bytes;
  for (; start < end; start += page) {
#if defined(__APPLE__)
    char resident = 0;
#else
    unsigned char resident = 0;
#endif
    if (mincore(start, 1, &resident) != 0 || !(resident & 1)) return false;
  }
  return true;
}

uint64_t lrdt_table_read(const lrd_table *table) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < table->buckets; i++) {
    for (int cell = 0; cell < LRD_BUCKET_CELLS; cell++)
      sum += atomic_load_explicit(&table->bucket[i].ids[cell], memory_order_relaxed);
  }
  return sum;
}

const void *lrdt_lane_hazard(const lrd_lane *lane) {
  const lrd_hazard *hazard = lane->thread->top;
  return (const void *)atomic_load_explicit(&hazard->entry, memory_order_relaxed);
}

uint64_t lrdt_relief_pause(uint64_t took) {
  return lrd_relief_pause(took);
}

uint64_t lrdt_shrunk_buckets(uint64_t buckets, uint64_t count) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = aligned_alloc(_Alignof(lrd_shard), sizeof *shard);
  lrd_table *table = lrd_table_create(buckets, lrdt_two_references());
  if (!shard || !table) abort();
  memset(shard, 0, sizeof *shard);
  lrd_table_make_ready(table);
  LRD_STORE(&shard->root, table);
  shard->count = count;
  shard->order.share = (lrd_amount){LRD_UNBOUNDED, LRD_UNBOUNDED};
  lrd_supply supply = {0};
  bool served = lrd_growth_tidy_locked(shard, 1, false, &supply);
  lrd_table_destroy(table);
  free(shard);
  return served ? 0 : supply.size;
}

static void adopt_nothing(lrd_order *order) {
  (void)order;
}

/// Brings the history that is wanted, asking once.
static bool renew(lrd_shard *shard, lrd_supply *supply, bool *asked) LRD_UNCHECKED_LOCKS {
  *asked = !lrd_growth_renew_locked(shard, supply);
  if (!*asked) return true;
  return lrd_supply_fetch(supply, lrdt_two_references()) && lrd_growth_renew_locked(shard, supply);
}

bool lrdt_renew_there_and_back(void) {
  enum { few = 64, many = 128 };
  lrd_policy policy = {.renewed = adopt_nothing};
  lrd_shard *shard = aligned_alloc(_Alignof(lrd_shard), sizeof *shard);
  if (!shard) return false;
  memset(shard, 0, sizeof *shard);
  shard->policy = &policy;
  lrd_supply supply = {0};
  lrd_history *history = &shard->order.history;
  bool asked[3], cleared = true;
  history->wanted = few;
  bool renewed = renew(shard, &supply, &asked[0]);
  if (renewed) memset(history->memory, 0xff, few);
  history->wanted = many;
  renewed = renewed && renew(shard, &supply, &asked[1]);
  history->wanted = few;
  renewed = renewed && renew(shard, &supply, &asked[2]);
  for (size_t i = 0; renewed && i < few; i++) cleared &= !((const char *)history->memory)[i];
  lrd_supply_drop(&supply);
  lrd_free(history->memory, history->bytes, LRD_STATE_ALIGNMENT);
  free(shard);
  return renewed && cleared && asked[0] && asked[1] && asked[2];
}

void lrdt_set_is_held(lrd_cache *cache, bool (*is_held)(void *context, const lrd_entry *entry)) {
  cache->hooks.is_held = is_held;
}
