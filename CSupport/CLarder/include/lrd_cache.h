// SPDX-License-Identifier: Apache-2.0
/* lrd_cache.h — a cache: shards, pool, budget, and one lane for each thread that uses it.
 *
 *   lrd_cache ─┬─ shards[hash bits 16…]   table, order and retired entries
 *              ├─ pool                    the entries' memory
 *              ├─ budget                  limits over all shards
 *              └─ lanes[thread index]     what one thread writes: counters, batch, spare slots
 *
 * LANES keep hits free of shared writes. A lane is made at a thread's first use of a cache, written
 * by the thread that owns that index only, and freed with the cache; a thread that gets the index
 * of one that ended goes on with its lane, counters and spare slots included.
 *
 * THE BATCH (after Ding, Jiang, Zhang, "BP-Wrapper", ICDE 2009) holds hits not yet noted in the
 * policy's order, as (entry, hash). It is applied when full, if a trylock gets the shard, and in
 * any case before its thread changes that shard, so that one thread alone sees an exact order. An
 * entry in a batch may be long gone: it is followed only after the table has confirmed, under the
 * lock, that it is linked, or when the shard has unlinked nothing since the batch was last empty.
 *
 * FIELDS of lrd_cache
 *   lanes           admin lock to grow (release), anyone reads (acquire); outgrown arrays are kept
 *                   until the cache closes, because a thread may be reading one
 *   queued          not 0 while the cache is in the maintenance queue or visited, which holds one
 *                   reference (changed acq_rel, looked at relaxed)
 *   references      owner + maintenance; the last one out frees (acq_rel)
 *   closed          set once by the owner (release), asked by the maintenance thread (acquire)
 *   steal_hand      a shard to begin with (relaxed): any value will do
 *   next_queued     guard: the maintenance queue's lock, then the thread that took the queue
 *   newer, older    guard: the lock of the list of all caches (for fork)
 *   all others      constant after creation, or guarded within */
#pragma once

#include "lrd_budget.h"
#include "lrd_shard.h"
#include "lrd_thread.h"

#pragma clang assume_nonnull begin

/// Hits a thread gathers before it notes them in the order, and how many it keeps while it cannot.
#define LRD_BATCH 64
#define LRD_BATCH_MOST 128
/// No number of unlinked entries: the batch is not sound.
#define LRD_NEVER_SOUND UINT64_MAX
/// Free slots a thread keeps at hand, a power of two. First in, first out: where entries leave in
/// the order they came in, memory then stays in that order too, and one line holds neighbours.
#define LRD_SPARES 32
#define LRD_SHARDS_MOST 64

typedef struct lrd_touch {
  lrd_entry *entry;
  uint64_t hash;
} lrd_touch;

typedef struct lrd_lane {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) hits; // written by the owner, read by statistics
  _Atomic(uint64_t) misses;
  _Atomic(uint64_t) dropped; // hits that never reached the order: the shard was busy too long
  lrd_thread *thread;
  uint32_t touches;
  uint32_t flush_at; // number of touches at which the next flush is tried
  uint32_t spares;
  uint32_t first_spare;       // modulo LRD_SPARES
  uint32_t applied;           // times the batch was applied
  uint64_t sound_at;          // `unlinked` of the only shard when the batch was last empty
  uint32_t destroying;        // destruction loops on the owner's stack
  bool deferred;              // calls made by destructions left garbage in shard 0
  uint32_t spare[LRD_SPARES]; // a ring
  lrd_touch touch[LRD_BATCH_MOST];
} lrd_lane;

/// Lanes this thread used last, by the low bits of their caches' numbers: spares the hit path the
/// way through `lanes`. Numbers are never used again, so an entry of a closed cache matches
/// nothing.
enum { LRD_NEAR_LANES = 4 };

typedef struct lrd_near_lane {
  uint64_t cache_number;
  lrd_lane *_Nullable lane;
} lrd_near_lane;

#if defined(__ELF__)
extern _Thread_local lrd_near_lane lrd_near[LRD_NEAR_LANES]
    __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local lrd_near_lane lrd_near[LRD_NEAR_LANES];
#endif

typedef struct lrd_lanes {
  struct lrd_lanes *_Nullable smaller; // its predecessor
  uint32_t capacity;
  _Atomic(lrd_lane *_Nullable) lane[];
} lrd_lanes;

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

/// Bits of `queued`: the maintenance thread was asked for a visit, and one is under way.
enum { LRD_QUEUED = 1, LRD_VISITED = 2 };

typedef struct lrd_cache {
  lrd_shard *shards;
  uint32_t shard_mask;
  bool observed;
  uint8_t hits_most; // the policy's, beside what every lookup loads
  uint64_t number;   // unique in the process, not 0
  const lrd_policy *policy;
  void *_Nullable shared; // the policy's
  _Atomic(lrd_lanes *) lanes;
  lrd_hooks hooks;
  lrd_references entry_references; // as in the options

  _Alignas(LRD_LINE_PAIR) lrd_pool pool;
  lrd_budget budget;
  _Alignas(LRD_LINE_PAIR) lrd_lock admin;
  _Atomic(uint32_t) steal_hand; // the shard to look for victims in next, relaxed: any value will do
  _Atomic(uint32_t) queued;
  _Atomic(uint32_t) references;
  _Atomic(bool) closed;
  struct lrd_cache *_Nullable next_queued;
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

/// A new cache, NULL without memory.
lrd_cache *_Nullable lrd_cache_create(const lrd_options *options);

/// Takes everything out and gives up the owner's reference. No other call may be running. The
/// entries are handed to `hooks.destroy` on this thread.
void lrd_cache_close(lrd_cache *cache);

/// Gives up one reference; the last one frees.
void lrd_cache_unreference(lrd_cache *cache);

/// The calling thread's lane, made at need; NULL without memory. Puts it near where the hit path
/// may be taken.
lrd_lane *_Nullable lrd_lane_attach(lrd_cache *cache) LRD_COLD;

/// How often the lane's batch was applied. A hit may be noted without more ado only while this is
/// what it was when its entry was found.
static inline uint32_t lrd_lane_applied(const lrd_lane *lane) LRD_NONBLOCKING {
  return lane->applied;
}

/// Takes `applied`, from before an entry was found whose hit will be noted next. Should the batch
/// have been applied since, the entry may be unlinked without this lane's knowing: all will be
/// asked for.
static inline void lrd_lane_found_at(lrd_lane *lane, uint32_t applied) LRD_NONBLOCKING {
  if (LRD_UNLIKELY(lane->applied != applied)) lane->sound_at = LRD_NEVER_SOUND;
}

/// Notes this thread's hits on `shard` in its order.
void lrd_lane_apply_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard)
    LRD_REQUIRES(shard->lock);

/// Notes the hits of a full batch in every shard that is free, and makes room in it.
void lrd_lane_flush(lrd_cache *cache, lrd_lane *lane) LRD_COLD LRD_NONBLOCKING;

typedef struct lrd_statistics {
  uint64_t hits;
  uint64_t misses;
  uint64_t dropped;
  lrd_counters counters;
  uint64_t retired; // entries removed and not destroyed yet
  uint64_t pool_bytes;
  uint64_t table_bytes;
  uint64_t policy_bytes; // of state, history and what shards share
  uint64_t victim_steps; // entries the policy looked at in search of victims
} lrd_statistics;

/// Sums up lanes and shards. Locks one shard at a time.
lrd_statistics lrd_cache_statistics(lrd_cache *cache);

/// Stops the process when an invariant is broken. Locks one shard at a time.
void lrd_cache_check(lrd_cache *cache);

/// True when a visit is still to begin. Relaxed: had that visit been in a shard before the caller
/// last held the shard's lock, the caller would see that it has begun; so it will find what the
/// caller has left there.
static inline bool lrd_cache_is_queued(lrd_cache *cache) {
  return atomic_load_explicit(&cache->queued, memory_order_relaxed) & LRD_QUEUED;
}

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

/// What each of the cache's shards may hold, and all together, LRD_UNBOUNDED where nothing limits.
lrd_amount lrd_cache_share(lrd_cache *cache);
lrd_amount lrd_cache_limits(lrd_cache *cache);

static inline uint32_t lrd_cache_shards(const lrd_cache *cache) {
  return cache->shard_mask + 1;
}

static inline lrd_shard *lrd_cache_shard_at(lrd_cache *cache, uint32_t index) {
  return &cache->shards[index];
}

static inline uint64_t lrd_shard_count_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->count;
}

LRD_INLINE lrd_shard *lrd_cache_shard(lrd_cache *cache, uint64_t hash) LRD_NONBLOCKING {
  return &cache->shards[(uint32_t)(hash >> 16) & cache->shard_mask];
}

#pragma clang assume_nonnull end
