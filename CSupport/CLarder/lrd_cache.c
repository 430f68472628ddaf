// SPDX-License-Identifier: Apache-2.0
#include "lrd_alloc.h"
#include "lrd_maintenance.h"
#include "lrd_process.h"
#include "lrd_retire.h"

#include <string.h>

static lrd_lanes no_lanes = {.capacity = 0};

/// The most shards that are chosen, and the fewest entries for each: below 128 a shard misses 1 %
/// more or worse, because shares are no longer alike.
enum { CHOSEN_SHARDS_MOST = 16, CHOSEN_SHARD_ENTRIES = 512 };

uint32_t lrd_cache_choose_shards(const lrd_policy *policy, uint64_t count_limit,
                                 uint32_t processors) {
  if (policy != lrd_policy_adaptive()) return 1;
  uint64_t most = count_limit / CHOSEN_SHARD_ENTRIES;
  if (most > CHOSEN_SHARDS_MOST) most = CHOSEN_SHARDS_MOST;
  if (most > 2 * (uint64_t)processors) most = 2 * (uint64_t)processors;
  uint32_t shards = 1;
  while (2 * shards <= most) shards *= 2;
  return shards;
}

static uint32_t shards_of(const lrd_options *options) {
  if (!options->shards) {
    return lrd_cache_choose_shards(options->policy, options->count_limit, lrd_processors());
  }
  uint32_t shards = 1;
  while (shards < options->shards && shards < LRD_SHARDS_MOST) shards *= 2;
  return shards;
}

static size_t shards_bytes(uint32_t shards) {
  return shards * sizeof(lrd_shard);
}

lrd_amount lrd_cache_limits(lrd_cache *cache) {
  uint64_t count = atomic_load_explicit(&cache->budget.count_limit, memory_order_relaxed);
  uint64_t cost = atomic_load_explicit(&cache->budget.cost_limit, memory_order_relaxed);
  return (lrd_amount){count ? count : LRD_UNBOUNDED, cost ? cost : LRD_UNBOUNDED};
}

static uint64_t share_of(uint64_t limit, uint64_t shards) {
  return limit == LRD_UNBOUNDED ? limit : limit / shards + (limit % shards != 0);
}

lrd_amount lrd_cache_share(lrd_cache *cache) {
  lrd_amount limits = lrd_cache_limits(cache);
  uint64_t shards = cache->shard_mask + 1;
  return (lrd_amount){share_of(limits.count, shards), share_of(limits.cost, shards)};
}

/// Makes the shards and what the policy keeps in them. False without memory.
static bool open_shards(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  const lrd_policy *policy = cache->policy;
  uint32_t shards = cache->shard_mask + 1;
  if (policy->create && !policy->create(&cache->shared, lrd_cache_limits(cache), shards)) {
    return false;
  }
  cache->shards = lrd_alloc_zeroed(shards_bytes(shards), _Alignof(lrd_shard));
  if (!cache->shards) return false;
  bool opened = true;
  for (uint32_t i = 0; i < shards; i++) {
    opened &= lrd_shard_open(&cache->shards[i], policy, cache->shared, &cache->entry_references);
  }
  for (uint32_t i = 0; opened && i < shards; i++) {
    lrd_shard_resize_locked(&cache->shards[i], policy, lrd_cache_share(cache));
  }
  return opened;
}

/// Frees what open_shards() made, all or part of it.
static void close_shards(lrd_cache *cache) {
  for (uint32_t i = 0; cache->shards && i <= cache->shard_mask; i++) {
    lrd_shard_close(&cache->shards[i], cache->policy);
  }
  lrd_free(cache->shards, shards_bytes(cache->shard_mask + 1), _Alignof(lrd_shard));
  if (cache->policy->destroy && cache->shared) cache->policy->destroy(cache->shared);
}

lrd_cache *lrd_cache_create(const lrd_options *options) {
  if (!lrd_process_start()) return NULL;
  lrd_cache *cache = lrd_alloc_zeroed(sizeof *cache, _Alignof(lrd_cache));
  if (!cache) return NULL;
  atomic_store_explicit(&cache->budget.count_limit, options->count_limit, memory_order_relaxed);
  atomic_store_explicit(&cache->budget.cost_limit, options->cost_limit, memory_order_relaxed);
  cache->shard_mask = shards_of(options) - 1;
  cache->policy = options->policy;
  cache->hits_most = options->policy->hits_most;
  LRD_ASSERT(options->references.count <= LRD_REFERENCES_MOST);
  cache->entry_references = options->references;
  size_t extra = lrd_round_up(options->entry_bytes, 8);
  if (!open_shards(cache) || !lrd_pool_open(&cache->pool, extra + options->policy->entry_bytes,
                                            options->entry_alignment)) {
    close_shards(cache);
    lrd_free(cache, sizeof *cache, _Alignof(lrd_cache));
    return NULL;
  }
  cache->pool.extra = extra;
  static _Atomic(uint64_t) caches = 0;
  cache->number = 1 + atomic_fetch_add_explicit(&caches, 1, memory_order_relaxed);
  cache->observed = options->observed;
  cache->hooks = options->hooks;
  atomic_store_explicit(&cache->lanes, &no_lanes, memory_order_relaxed);
  atomic_store_explicit(&cache->references, 1, memory_order_relaxed);
  lrd_process_add(cache);
  return cache;
}

static void free_lanes(lrd_cache *cache) {
  lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_relaxed);
  for (uint32_t i = 0; i < lanes->capacity; i++) {
    lrd_free(atomic_load_explicit(&lanes->lane[i], memory_order_relaxed), sizeof(lrd_lane),
             _Alignof(lrd_lane));
  }
  while (lanes && lanes != &no_lanes) {
    lrd_lanes *smaller = lanes->smaller;
    lrd_free(lanes, sizeof *lanes + lanes->capacity * sizeof(lrd_lane *), _Alignof(lrd_lanes));
    lanes = smaller;
  }
}

/// Destroys all that waits in the shards. For caches without readers: no scan is needed.
static void destroy_waiting(lrd_cache *cache, lrd_change *change) {
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    lrd_lock_acquire(&shard->lock);
    lrd_retire_collect_locked(shard, change);
    lrd_chain_append(&change->ready, &shard->proven);
    shard->held_count = 0;
    lrd_lock_release(&shard->lock);
  }
  lrd_chain_append(&change->ready, &change->suspect);
  while (change->tables) {
    lrd_table *table = change->tables;
    change->tables = table->retired_next;
    lrd_table_destroy(table);
  }
  lrd_retire_destroy_ready(cache, change);
}

void lrd_cache_unreference(lrd_cache *cache) {
  if (atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1) return;
  lrd_process_remove(cache);
  // The maintenance thread may have put something back after the cache was closed.
  lrd_change change = {0};
  destroy_waiting(cache, &change);
  close_shards(cache);
  lrd_pool_close(&cache->pool);
  free_lanes(cache);
  lrd_hooks hooks = cache->hooks;
  lrd_free(cache, sizeof *cache, _Alignof(lrd_cache));
  hooks.release(hooks.context);
}

void lrd_cache_close(lrd_cache *cache) {
  atomic_store_explicit(&cache->closed, true, memory_order_release);
  cache->observed = false;
  lrd_change change = {0};
  lrd_change_empty(cache, NULL, &change);
  destroy_waiting(cache, &change);
  lrd_cache_unreference(cache);
}

static void add_counters(lrd_counters *sum, const lrd_counters *more) {
  sum->insertions += more->insertions;
  sum->replacements += more->replacements;
  sum->removals += more->removals;
  sum->refusals += more->refusals;
  for (int i = 0; i < LRD_EVICTION_KINDS; i++) sum->evictions[i] += more->evictions[i];
}

static uint64_t tables_bytes_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  return root->bytes + (next ? next->bytes : 0);
}

lrd_statistics lrd_cache_statistics(lrd_cache *cache) {
  lrd_statistics sum = {0};
  lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
  for (uint32_t i = 0; i < lanes->capacity; i++) {
    lrd_lane *lane = atomic_load_explicit(&lanes->lane[i], memory_order_acquire);
    if (!lane) continue;
    sum.hits += atomic_load_explicit(&lane->hits, memory_order_relaxed);
    sum.misses += atomic_load_explicit(&lane->misses, memory_order_relaxed);
    sum.dropped += atomic_load_explicit(&lane->dropped, memory_order_relaxed);
  }
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    lrd_lock_acquire(&shard->lock);
    add_counters(&sum.counters, &shard->counters);
    sum.retired += shard->retired.count + shard->awaiting.count + shard->proven.count;
    sum.table_bytes += tables_bytes_locked(shard);
    sum.policy_bytes += cache->policy->state_bytes + shard->order.history.bytes;
    sum.victim_steps += shard->order.steps;
    lrd_change_cancel(cache, shard);
  }
  const lrd_policy *policy = cache->policy;
  if (policy->shared_bytes) sum.policy_bytes += policy->shared_bytes(cache->shared);
  sum.pool_bytes = lrd_pool_bytes(&cache->pool);
  return sum;
}
