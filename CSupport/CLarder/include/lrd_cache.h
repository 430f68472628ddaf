// SPDX-License-Identifier: Apache-2.0
/* lrd_cache.h — a cache: its parts, and questions that need no lock.
 *
 *   lrd_cache ─┬─ shards[hash bits 16…]   table, order, limbo
 *              ├─ pool                    the entries' memory
 *              ├─ budget                  limits over all shards
 *              ├─ lanes[thread index]     what one thread writes (lrd_lane.h)
 *              ├─ request                 asks the background thread for a visit
 *              └─ answer                  to memory pressure
 *
 * FIELDS of lrd_cache
 *   number          unique in the process, not 0. A thread finds its lane by it (relaxed). If the
 *                   top bit is set, it finds none in `lrd_near`, and looks in
 *                   `lrd_near_detours`. The bit is set at creation if the layer above `detours`.
 *                   Otherwise lrd_cache_retrofit() sets it once, when the cache is given lifetimes
 *                   (release), partner: lrd_cache_is_timed(), lrd_lane_attach()
 *   plain           the same for lookups that do not look at deadlines: with the top bit wherever
 *                   entries can expire
 *   lanes           admin lock to grow (release), all threads read (acquire). Outgrown arrays are
 *                   kept until the cache closes, because a thread may be reading one
 *   request         see lrd_request.h; its references are those of the cache
 *   closed          set once by the owner (release), read by the background thread (acquire)
 *   outcalls        see lrd_outcall.h
 *   idle            of the present rule and of the former one, by their parities: stored (relaxed)
 *                   before any word has the new parity, so a hit that has seen such a word
 *                   (lrd_deadline.h) sees this as well
 *   plenty          a use need not move a soft word that is later than the limit by this, by either
 *                   rule while that changes (relaxed)
 *   expiration      admin lock
 *   rule, former    the rule of entries without a lifetime of their own, and the one before. Set
 *                   under the admin lock by whoever has set `rule_changes`, who reads them freely
 *   torn            some entries go by the former rule still: memory was missing, or fork() came in
 *                   the midst. Set by whoever has set `rule_changes`; read by anybody (relaxed)
 *   rule_changes    true while a thread changes the rule; acquire to take, release to give
 *   barren          until this tick the cache holds nothing that has expired; 0 if nobody knows
 *                   (relaxed). It may be too late for a moment: a removal then waits. See
 *                   lrd_expire.h
 *   steal_hand      the shard to look for victims in next (relaxed): any value will do
 *   older, link     the list of all caches, as in lrd_process.h; guard: that list's lock
 *   answer          see lrd_answer.h; guard: `admin`
 *   wide            set once, before any shard's timer says so (release, by the shards' locks)
 *   hard            all entries have room for a hard word (lrd_deadline.h); set once (release),
 *                   partner: lrd_cache_has_room()
 *   compacting      true while a thread moves entries (lrd_compact.h)
 *   owed            in the child of fork(): the parent was owed a visit, or has deadlines. Set
 *                   there, cleared by the first thread that uses the cache and asks for one
 *                   (relaxed)
 *   moved           entries ever moved, by that or by lrd_retrofit.h; relaxed
 *   moved_out       entries whose copies have their places (lrd_pass.h); guard: `compacting`, and a
 *                   shard's lock
 *   moved_free      those of them that no reader holds; guard: the first shard's lock
 *   density         background thread only
 *   all others      constant after creation, or with guards of their own */
#pragma once

#include "lrd_budget.h"
#include "lrd_density.h"
#include "lrd_hooks.h"
#include "lrd_request.h"

#pragma clang assume_nonnull begin

#define LRD_SHARDS_MOST 64

/// The bit of a cache's number by which lookups find no lane on their shortest way.
#define LRD_NUMBER_DETOURS ((uint64_t)1 << 63)

struct lrd_lanes;
struct lrd_cache;

typedef struct lrd_options {
  uint64_t count_limit;
  uint64_t cost_limit;
  const lrd_policy *policy;
  uint32_t shards; // rounded up to a power of two, at most LRD_SHARDS_MOST; 0: the core chooses
  size_t entry_bytes;
  size_t entry_alignment;
  lrd_references references; // memory that hits and destructions touch: loaded ahead
  bool observed;             // the caller sees removed entries before they go to the limbo
  bool costed;               // most entries will have a cost (lrd_pool.h); so if costs are limited
  bool timed;                // entries can expire (lrd_timer.h), by this rule unless they are told
  lrd_expiration expiration;
  bool detours;   // and lookups have more to do than to compare deadlines
  uint64_t grace; // nanoseconds for which what has expired stays, where no lookup finds it
  lrd_manual_clock *_Nullable clock; // NULL: the system's
  lrd_hooks hooks;
} lrd_options;

typedef struct lrd_cache {
  lrd_shard *shards;
  uint32_t shard_mask;
  bool observed;     // read under any shard's lock, set under all of them
  bool timed;        // entries can expire from the beginning
  uint8_t hits_most; // the policy's, beside what every lookup loads
  uint8_t use;       // the same for lrd_use(), or LRD_HITS_TIMED
  _Atomic(uint64_t) number;
  _Atomic(uint64_t) plain;
  const lrd_policy *policy;
  void *_Nullable shared;           // the policy's
  const _Atomic(uint32_t) *listens; // the policy's, or a number that is always 0
  _Atomic(struct lrd_lanes *) lanes;
  lrd_hooks hooks;
  lrd_references entry_references; // as in the options
  lrd_manual_clock *_Nullable clock;
  lrd_idle idle[2];
  _Atomic(uint64_t) plenty;
  lrd_expiration expiration;
  lrd_rule rule, former;
  _Atomic(bool) rule_changes;
  _Atomic(bool) torn;
  _Atomic(uint64_t) barren;
  _Atomic(bool) wide; // entries that are described with a time take `wide` slots (lrd_pool.h)
  _Atomic(bool) hard;
  _Atomic(bool) compacting;
  _Atomic(bool) owed;
  _Atomic(uint64_t) moved;
  lrd_chain moved_out, moved_free;
  lrd_density density;

  _Alignas(LRD_LINE_PAIR) lrd_pool pool;
  lrd_budget budget;
  _Alignas(LRD_LINE_PAIR) lrd_lock admin;
  _Atomic(uint32_t) steal_hand;
  _Atomic(bool) closed;
  _Atomic(uint32_t) outcalls;
  lrd_request request;
  lrd_answer answer;
  struct lrd_cache *_Nullable older;
  struct lrd_cache *_Nullable *_Nullable link;
} lrd_cache;

/// The number of shards for a cache whose owner names none: a power of two. Two writers in one
/// shard wait for each other, and what one of them wrote is not in the other's processor. The more
/// shards, the less often: two for each processor, and eight where each has thousands of entries. A
/// policy that keeps an exact order gets one shard, and so does a cache without a count limit: it
/// may stay small, and a small cache misses more in many shards.
uint32_t lrd_cache_choose_shards(const lrd_policy *policy, uint64_t count_limit,
                                 uint32_t processors);

/// True when entries of this cache can expire. All that are found from then on have deadlines. What
/// was found before may have none.
static inline bool lrd_cache_is_timed(const lrd_cache *cache) {
  return cache->timed ||
         atomic_load_explicit(&cache->number, memory_order_acquire) & LRD_NUMBER_DETOURS;
}

/// True when entries can expire and, if `by_use`, have room for a deadline by their last use.
static inline bool lrd_cache_has_room(const lrd_cache *cache, bool by_use) {
  if (by_use) return atomic_load_explicit(&cache->hard, memory_order_acquire);
  return lrd_cache_is_timed(cache);
}

/// Lets hits go by another rule as well as by the former one, until lrd_cache_end_idle().
static inline void lrd_cache_begin_idle(lrd_cache *cache, const lrd_rule *rule) {
  lrd_idle *idle = &cache->idle[lrd_word_is_odd(rule->parity)];
  LRD_STORE(&idle->ticks, rule->after_access);
  LRD_STORE(&idle->jitter, rule->jitter);
  uint64_t plenty = lrd_rule_plenty(rule);
  if (plenty > LRD_LOAD(&cache->plenty)) LRD_STORE(&cache->plenty, plenty);
}

static inline void lrd_cache_end_idle(lrd_cache *cache, const lrd_rule *rule) {
  LRD_STORE(&cache->plenty, lrd_rule_plenty(rule));
}

/// Lets the policy adjust what its shards share, if they share anything: after a change of a limit,
/// or if an insertion asks for it by `order.adjust`. No lock is held.
void lrd_cache_adjust(lrd_cache *cache);

/// The cache that a request belongs to.
static inline lrd_cache *lrd_cache_of(lrd_request *request) {
  return (lrd_cache *)(void *)((char *)request - offsetof(lrd_cache, request));
}

static inline uint64_t lrd_cache_count(lrd_cache *cache) {
  return LRD_LOAD(&cache->budget.count);
}

/// The sum of the costs, at most INT64_MAX.
static inline uint64_t lrd_cache_cost(lrd_cache *cache) {
  return lrd_budget_cost(&cache->budget);
}

/// The limits in force, 0 for none: the owner's, or less under pressure.
static inline uint64_t lrd_cache_count_limit(lrd_cache *cache) {
  return LRD_LOAD(&cache->budget.count_limit);
}

static inline uint64_t lrd_cache_cost_limit(lrd_cache *cache) {
  return LRD_LOAD(&cache->budget.cost_limit);
}

/// The limits that the owner has set, 0 for none.
static inline uint64_t lrd_cache_own_count_limit(lrd_cache *cache) {
  return LRD_LOAD(&cache->answer.own_count);
}

static inline uint64_t lrd_cache_own_cost_limit(lrd_cache *cache) {
  return LRD_LOAD(&cache->answer.own_cost);
}

/// The cost of an entry that was given none: 1 where costs are limited, so that the limit bounds
/// these, too.
static inline uint64_t lrd_cache_default_cost(lrd_cache *cache) {
  return lrd_cache_cost_limit(cache) != 0;
}

static inline uint32_t lrd_cache_shards(const lrd_cache *cache) {
  return cache->shard_mask + 1;
}

/// One past the last shard.
static inline const lrd_shard *lrd_cache_end(const lrd_cache *cache) {
  return cache->shards + cache->shard_mask + 1;
}

static inline lrd_shard *lrd_cache_shard_at(lrd_cache *cache, uint32_t index) {
  return &cache->shards[index];
}

LRD_INLINE lrd_shard *lrd_cache_shard(lrd_cache *cache, uint64_t hash) LRD_NONBLOCKING {
  return &cache->shards[(uint32_t)(hash >> 16) & cache->shard_mask];
}

/// Recomputes every invariant of lrd_shard.h, shard by shard. A broken one stops the process in all
/// builds.
void lrd_cache_check(lrd_cache *cache);

/// The same for one shard. Locks it.
void lrd_shard_check(lrd_shard *shard);

#pragma clang assume_nonnull end
