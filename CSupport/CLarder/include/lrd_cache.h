// SPDX-License-Identifier: Apache-2.0
/* lrd_cache.h — a cache: its parts, and what may be asked of it without a lock.
 *
 *   lrd_cache ─┬─ shards[hash bits 16…]   table, order, limbo
 *              ├─ pool                    the entries' memory
 *              ├─ budget                  limits over all shards
 *              ├─ lanes[thread index]     what one thread writes (lrd_lane.h)
 *              └─ request                 asks the background thread for a visit
 *
 * FIELDS of lrd_cache
 *   lanes           admin lock to grow (release), anyone reads (acquire); outgrown arrays are kept
 *                   until the cache closes, because a thread may be reading one
 *   request         see lrd_request.h; its references are those of the cache
 *   closed          set once by the owner (release), asked by the background thread (acquire)
 *   steal_hand      a shard to begin with (relaxed): any value will do
 *   newer, older    guard: the lock of the list of all caches (for fork)
 *   all others      constant after creation, or guarded within */
#pragma once

#include "lrd_budget.h"
#include "lrd_request.h"
#include "lrd_shard.h"

#pragma clang assume_nonnull begin

#define LRD_SHARDS_MOST 64

struct lrd_lanes;

/// How the core asks the layer above to destroy pairs when no call of that layer is on the stack.
typedef struct lrd_hooks {
  void *_Nullable context;
  /// Destroys the key and the value of an entry, not its header. `*batch` is the layer's own, NULL
  /// at the beginning of a run of destructions.
  void (*_Nonnull destroy)(void *_Nullable context, lrd_entry *_Nonnull entry,
                           void *_Nullable *_Nonnull batch);
  /// Ends a run that has left something in `batch`.
  void (*_Nullable finish)(void *_Nullable context, void *_Nonnull batch);
  /// Called once, when the cache's memory is freed.
  void (*_Nonnull release)(void *_Nullable context);
} lrd_hooks;

typedef struct lrd_options {
  uint64_t count_limit;
  uint64_t cost_limit;
  const lrd_policy *policy;
  uint32_t shards; // rounded up to a power of two, at most LRD_SHARDS_MOST; 0: the core chooses
  size_t entry_bytes;
  size_t entry_alignment;
  lrd_references references; // what hits and destructions touch, to be loaded ahead
  bool observed;             // removed entries are shown to the caller before they are retired
  lrd_hooks hooks;
} lrd_options;

typedef struct lrd_cache {
  lrd_shard *shards;
  uint32_t shard_mask;
  bool observed;
  uint8_t hits_most; // the policy's, beside what every lookup loads
  uint64_t number;   // unique in the process, not 0
  const lrd_policy *policy;
  void *_Nullable shared; // the policy's
  _Atomic(struct lrd_lanes *) lanes;
  lrd_hooks hooks;
  lrd_references entry_references; // as in the options

  _Alignas(LRD_LINE_PAIR) lrd_pool pool;
  lrd_budget budget;
  _Alignas(LRD_LINE_PAIR) lrd_lock admin;
  _Atomic(uint32_t) steal_hand; // the shard to look for victims in next, relaxed: any value will do
  _Atomic(bool) closed;
  lrd_request request;
  struct lrd_cache *_Nullable newer;
  struct lrd_cache *_Nullable older;
} lrd_cache;

/// The number of shards for a cache whose owner names none: a power of two.
///
/// Writers meet in a shard's lock, so twice as many shards as processors keep them apart most of
/// the time. A policy that keeps an order has one, so that it is exact. Without a count limit
/// nothing tells how many entries there will be, and a small cache in many shards would be worse
/// off than a large one in a single shard.
uint32_t lrd_cache_choose_shards(const lrd_policy *policy, uint64_t count_limit,
                                 uint32_t processors);

static inline uint64_t lrd_cache_count(lrd_cache *cache) {
  return atomic_load_explicit(&cache->budget.count, memory_order_relaxed);
}

/// The sum of the costs, at most INT64_MAX.
static inline uint64_t lrd_cache_cost(lrd_cache *cache) {
  return lrd_budget_cost(&cache->budget);
}

static inline uint64_t lrd_cache_count_limit(lrd_cache *cache) {
  return atomic_load_explicit(&cache->budget.count_limit, memory_order_relaxed);
}

static inline uint64_t lrd_cache_cost_limit(lrd_cache *cache) {
  return atomic_load_explicit(&cache->budget.cost_limit, memory_order_relaxed);
}

/// The cost of an entry that was given none: 1 when costs are all that bounds the cache.
static inline uint64_t lrd_cache_default_cost(lrd_cache *cache) {
  return lrd_cache_cost_limit(cache) && !lrd_cache_count_limit(cache);
}

static inline uint32_t lrd_cache_shards(const lrd_cache *cache) {
  return cache->shard_mask + 1;
}

static inline lrd_shard *lrd_cache_shard_at(lrd_cache *cache, uint32_t index) {
  return &cache->shards[index];
}

LRD_INLINE lrd_shard *lrd_cache_shard(lrd_cache *cache, uint64_t hash) LRD_NONBLOCKING {
  return &cache->shards[(uint32_t)(hash >> 16) & cache->shard_mask];
}

/// Recomputes every invariant of lrd_shard.h from the ground, shard by shard. A broken one stops the
/// process, in all builds.
void lrd_cache_check(lrd_cache *cache);

/// The same for one shard. Locks it.
void lrd_shard_check(lrd_shard *shard);

#pragma clang assume_nonnull end
