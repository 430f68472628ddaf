// SPDX-License-Identifier: Apache-2.0
/* lrd_budget.h — the limits of a whole cache, and how much of them all shards use together.
 *
 * Room is reserved before an entry is published and given back after an entry is unlinked. So
 * `count` and `cost` never exceed their limits, except while a limit is being lowered. While they
 * do, the number of entries does not grow: an insertion evicts until its entry fits, or at least
 * one entry for its own.
 *
 * An insertion may need more room than it can free under one lock. Between its rounds the room that
 * it has freed is everybody's, and others that take it bit by bit would hold it up without end. So
 * it makes a claim: while there are claims, an insertion without one takes no free room for its
 * cost, but evicts for all of it. That is a courtesy and no lock: one whose shard has too little to
 * evict goes on to its next round, and makes a claim, too.
 *
 * FIELDS, all relaxed: they publish no other data.
 *   count_limit, cost_limit   0 = none; written by the setters
 *   count, cost               one compare-and-swap checks and reserves
 *   cost_carry                counts overflows of `cost`: only possible without a cost limit
 *   claims                    insertions that have made a claim, and go on */
#pragma once

#include "lrd_chain.h"
#include "lrd_depth.h"

#pragma clang assume_nonnull begin

typedef struct lrd_budget {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) count_limit;
  _Atomic(uint64_t) cost_limit;
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) count;
  _Atomic(uint64_t) cost;
  _Atomic(int64_t) cost_carry;
  _Atomic(uint32_t) claims;
} lrd_budget;

/// The limit that stands in the way of a reservation.
typedef enum lrd_shortage { LRD_ROOM, LRD_COUNT_SHORT, LRD_COST_SHORT } lrd_shortage;

static inline void lrd_budget_subtract_cost(lrd_budget *budget, uint64_t cost) {
  if (!cost) return;
  uint64_t before = atomic_fetch_sub_explicit(&budget->cost, cost, memory_order_relaxed);
  if (LRD_UNLIKELY(before < cost)) {
    atomic_fetch_sub_explicit(&budget->cost_carry, 1, memory_order_relaxed);
  }
}

/// True when the sum of the costs is 2^64 or more.
static inline bool lrd_budget_carries(lrd_budget *budget) {
  return LRD_LOAD(&budget->cost_carry) > 0;
}

/// Gives back the room of `count` entries of cost `cost` together.
static inline void lrd_budget_release(lrd_budget *budget, uint64_t count, uint64_t cost) {
  if (count) atomic_fetch_sub_explicit(&budget->count, count, memory_order_relaxed);
  lrd_budget_subtract_cost(budget, cost);
}

/// Adds one to the count when that stays within the limit.
LRD_INLINE bool lrd_budget_reserve_count(lrd_budget *budget) {
  uint64_t limit = LRD_LOAD(&budget->count_limit), used = LRD_LOAD(&budget->count);
  do {
    if (limit && used >= limit) return false;
  } while (!atomic_compare_exchange_weak_explicit(&budget->count, &used, used + 1,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

/// Makes a claim, and gives it up.
static inline void lrd_budget_claim(lrd_budget *budget) {
  atomic_fetch_add_explicit(&budget->claims, 1, memory_order_relaxed);
}
void lrd_budget_disclaim(lrd_budget *budget);

/// lrd_budget_exchange() where the sums change.
lrd_shortage lrd_budget_exchange_slow(lrd_budget *budget, uint64_t freed, uint64_t freed_cost,
                                      uint64_t cost, bool claims);

/// Exchanges the room of `freed` unlinked entries, of cost `freed_cost` together, for the room of
/// one entry of cost `cost`. `claims`: the caller has made a claim. On a shortage nothing changes:
/// the caller still has that of `freed`.
static inline lrd_shortage lrd_budget_exchange(lrd_budget *budget, uint64_t freed,
                                               uint64_t freed_cost, uint64_t cost, bool claims) {
  if (freed == 1 && freed_cost == cost) return LRD_ROOM;
  return lrd_budget_exchange_slow(budget, freed, freed_cost, cost, claims);
}

/// Reserves room for one entry of this cost.
LRD_INLINE lrd_shortage lrd_budget_reserve(lrd_budget *budget, uint64_t cost) {
  if (LRD_UNLIKELY(cost || LRD_LOAD(&budget->cost_limit))) {
    return lrd_budget_exchange_slow(budget, 0, 0, cost, false);
  }
  return lrd_budget_reserve_count(budget) ? LRD_ROOM : LRD_COUNT_SHORT;
}

/// By how much the costs would exceed their limit with so much `more`; 0 without a limit.
static inline uint64_t lrd_budget_lacks(lrd_budget *budget, uint64_t more) {
  uint64_t used = LRD_LOAD(&budget->cost), limit = LRD_LOAD(&budget->cost_limit);
  if (!limit) return 0;
  if (lrd_budget_carries(budget) || used + more < used) return UINT64_MAX;
  return used + more > limit ? used + more - limit : 0;
}

/// Gives back the room of unlinked entries.
void lrd_budget_release_chain(lrd_budget *budget, lrd_pool *pool, const lrd_chain *unlinked);

/// The limits, and the equal share of each of `shards` in them; LRD_UNBOUNDED without a limit.
lrd_amount lrd_budget_limits(lrd_budget *budget);
lrd_amount lrd_budget_share(lrd_budget *budget, uint64_t shards);

/// Tells whether count or cost now exceed their limits or `bounds`.
lrd_shortage lrd_budget_excess(lrd_budget *budget, lrd_amount bounds);

/// As lrd_amount_is_deep(), for what the budget holds. Its limits are bounds, too.
bool lrd_budget_is_deep(lrd_budget *budget, lrd_amount bounds, uint64_t most);

/// The sum of all costs, at most INT64_MAX.
static inline uint64_t lrd_budget_cost(lrd_budget *budget) {
  uint64_t cost = LRD_LOAD(&budget->cost);
  return lrd_budget_carries(budget) || cost > INT64_MAX ? INT64_MAX : cost;
}

#pragma clang assume_nonnull end
