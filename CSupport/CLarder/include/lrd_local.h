// SPDX-License-Identifier: Apache-2.0
/* lrd_local.h — a cache for one thread at a time: table, order and policy of a shard, no locks.
 *
 *   lrd_local ─┬─ shard     as in any cache, but its limbo has tables only, and nobody takes its
 *              │            lock but lrd_local_check()
 *              ├─ cache     what policies and evictions ask for: policy, pool, limits
 *              └─ slots     pages of entries, with a chain of free slots
 *
 * THREADS. The owner sees to it that calls never overlap, as for any plain data. So nothing here
 * locks, waits or fences, and no read-modify-write is atomic. Functions of the shard whose names
 * end in _locked are called as if the lock were held. No reader needs a hazard: what leaves is
 * destroyed at once. The background thread never sees the cache.
 *
 * RE-ENTRY. The owner destroys keys and values between calls, when everything here is sound.
 *   loans      while there are some, what leaves is kept in `deferred` and destroyed later
 *   exclusive  a value is being changed in place: the owner makes no call but the end of that
 */
#pragma once

#include "lrd_insertion.h"
#include "lrd_local_slots.h"
#include "lrd_policies.h"
#include "lrd_statistics.h"

#pragma clang assume_nonnull begin

enum { LRD_LOCAL_TELLS = 256 };

typedef struct lrd_local {
  lrd_bucket *bucket; // the shard's; a closed one while a value is being changed in place
  uint64_t buckets;
  uint64_t room; // with fewer entries, one that costs nothing needs no eviction and no growth
  uint64_t default_cost;
  uint64_t hits;
  uint64_t misses;
  uint32_t counts_to; // hits that entries count; LRD_LOCAL_TELLS: the policy hears of each
  uint32_t loans;
  bool exclusive;
  lrd_shard shard;
  lrd_cache cache;
  lrd_chain deferred;
  lrd_local_slots slots;
} lrd_local;

/// As in lrd_options.
typedef struct lrd_local_options {
  uint64_t count_limit;
  uint64_t cost_limit;
  const lrd_policy *policy;
  size_t entry_bytes;
  size_t entry_alignment;
  bool costed;
} lrd_local_options;

/// NULL without memory.
lrd_local *_Nullable lrd_local_create(lrd_local_options options);

/// Frees the cache, which must be empty, with no slot in use.
void lrd_local_close(lrd_local *local);

/// The bucket of lookups while a value is being changed in place. Never written.
extern lrd_bucket lrd_local_closed;

/// Sets what lookups and insertions start from, after the shard's table or limits have changed.
static inline void lrd_local_follow(lrd_local *local) LRD_UNCHECKED_LOCKS {
  const lrd_shard *shard = &local->shard;
  uint64_t limit = lrd_cache_count_limit(&local->cache);
  local->bucket = (lrd_bucket *)LRD_LOAD(&shard->bucket);
  local->buckets = LRD_LOAD(&shard->buckets);
  local->room = limit && limit < shard->at_ease ? limit : shard->at_ease;
  local->default_cost = lrd_cache_cost_limit(&local->cache) != 0;
}

/// The same where the shard may have left tables: frees those, since nobody reads them.
void lrd_local_follow_tables(lrd_local *local);

static inline lrd_shard *lrd_local_shard(lrd_local *local) {
  return &local->shard;
}

/// Memory for an entry of this cost; its `prev` is its slot id. NULL without memory.
LRD_INLINE lrd_entry *_Nullable lrd_local_take(lrd_local *local, uint64_t cost) {
  return lrd_local_slots_take(&local->slots, &local->cache.pool, cost);
}

/// Takes back the slot of an entry whose key and value are destroyed.
static inline void lrd_local_give(lrd_local *local, lrd_entry *entry) {
  lrd_local_slots_give(&local->slots, &local->cache.pool, entry);
}

/// The cost of an entry that is given none.
static inline uint64_t lrd_local_default_cost(const lrd_local *local) {
  return local->default_cost;
}

/// True while lrd_local_add() may succeed.
LRD_INLINE bool lrd_local_has_room(const lrd_local *local) {
  return local->shard.count < local->room;
}

/// Removes an entry that is linked, for a reason of lrd_entry_state.
void lrd_local_remove(lrd_local *local, lrd_entry *entry, uint8_t reason, lrd_chain *removed);

/// Removes all entries. O(n) to chain them up.
void lrd_local_remove_all(lrd_local *local, lrd_chain *removed);

/// Evicts until limits and bounds are kept.
void lrd_local_trim(lrd_local *local, uint64_t count_bound, uint64_t cost_bound,
                    lrd_chain *removed);

/// Sets both limits, 0 for none. A trim has to follow.
void lrd_local_set_limits(lrd_local *local, uint64_t count_limit, uint64_t cost_limit);

/// After entries were destroyed: gives back memory of a table that is far too large. If no slot is
/// in use it also gives back all pages, but a single page stays.
void lrd_local_settle(lrd_local *local);

/// The hottest entry, and the next colder one.
lrd_entry *_Nullable lrd_local_first(lrd_local *local);
lrd_entry *_Nullable lrd_local_next(lrd_local *local, lrd_entry *entry);

static inline uint64_t lrd_local_count(const lrd_local *local) {
  return local->shard.count;
}

/// The sum of the costs, at most INT64_MAX.
static inline uint64_t lrd_local_cost(const lrd_local *local) {
  return local->shard.cost > INT64_MAX ? INT64_MAX : (uint64_t)local->shard.cost;
}

/// Lends the entry just found to code of users. What leaves meanwhile is deferred.
static inline void lrd_local_lend(lrd_local *local) {
  local->loans++;
}

/// True when nothing is on loan any more, and something was deferred: destroy it.
static inline bool lrd_local_end_loan(lrd_local *local) {
  return --local->loans == 0 && local->deferred.head;
}

/// Defers what has left if something is on loan. False if nothing is.
static inline bool lrd_local_defer(lrd_local *local, lrd_chain *removed) {
  if (!local->loans) return false;
  lrd_chain_append(&local->deferred, removed);
  return true;
}

static inline bool lrd_local_is_lent(const lrd_local *local) {
  return local->loans;
}

LRD_INLINE bool lrd_local_is_exclusive(const lrd_local *local) {
  return local->exclusive;
}

/// While this holds lookups find an empty bucket that says there is more, so that the caller looks
/// why. That costs other lookups nothing.
static inline void lrd_local_set_exclusive(lrd_local *local, bool exclusive) {
  local->exclusive = exclusive;
  if (exclusive) {
    local->bucket = &lrd_local_closed;
    local->buckets = 0;
  } else {
    lrd_local_follow(local);
  }
}

static inline uint64_t lrd_local_count_limit(lrd_local *local) {
  return lrd_cache_count_limit(&local->cache);
}

static inline uint64_t lrd_local_cost_limit(lrd_local *local) {
  return lrd_cache_cost_limit(&local->cache);
}

/// What lrd_cache_statistics() counts, and memory.
lrd_statistics lrd_local_statistics(lrd_local *local);

/// Recomputes every invariant. A broken one stops the process in all builds.
void lrd_local_check(lrd_local *local);

/// Takes the first entry off a chain; the entry behind another one.
static inline lrd_entry *_Nullable lrd_local_unchain(lrd_local *local, lrd_chain *chain) {
  return lrd_chain_take(chain, &local->cache.pool);
}

static inline lrd_entry *_Nullable lrd_local_after(lrd_local *local, const lrd_entry *entry) {
  return lrd_chain_next(&local->cache.pool, entry);
}

/// Takes all deferred entries.
static inline lrd_chain lrd_local_take_deferred(lrd_local *local) {
  lrd_chain all = local->deferred;
  local->deferred = (lrd_chain){0};
  return all;
}

#pragma clang assume_nonnull end
