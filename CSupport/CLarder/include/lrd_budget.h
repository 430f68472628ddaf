// SPDX-License-Identifier: Apache-2.0
/* lrd_budget.h — the limits of a whole cache and what of them is used, strictly, by all shards.
 *
 * Room is reserved before an entry is published and given back after one is unlinked, so `count`
 * and `cost` never exceed their limits, whoever looks and when, save while a limit is being
 * lowered.
 *
 * FIELDS, all relaxed: no other data is published through them.
 *   count_limit, cost_limit   0 = none; written by the setters
 *   count, cost               compare-and-swap, so that check and reservation are one step
 *   cost_carry                what overflows `cost`: only without a cost limit can sums pass 2^64
 */
#pragma once

#include "lrd_chain.h"

#pragma clang assume_nonnull begin

typedef struct lrd_budget {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) count_limit;
  _Atomic(uint64_t) cost_limit;
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) count;
  _Atomic(uint64_t) cost;
  _Atomic(int64_t) cost_carry;
} lrd_budget;

/// What stands in the way of a reservation.
typedef enum lrd_shortage { LRD_ROOM, LRD_COUNT_SHORT, LRD_COST_SHORT } lrd_shortage;

static inline void lrd_budget_add_cost(lrd_budget *budget, uint64_t cost) {
  if (!cost) return;
  uint64_t before = atomic_fetch_add_explicit(&budget->cost, cost, memory_order_relaxed);
  if (LRD_UNLIKELY(before + cost < before)) {
    atomic_fetch_add_explicit(&budget->cost_carry, 1, memory_order_relaxed);
  }
}

static inline void lrd_budget_subtract_cost(lrd_budget *budget, uint64_t cost) {
  if (!cost) return;
  uint64_t before = atomic_fetch_sub_explicit(&budget->cost, cost, memory_order_relaxed);
  if (LRD_UNLIKELY(before < cost)) {
    atomic_fetch_sub_explicit(&budget->cost_carry, 1, memory_order_relaxed);
  }
}

/// Gives back the room of `count` entries that cost `cost` together.
static inline void lrd_budget_release(lrd_budget *budget, uint64_t count, uint64_t cost) {
  if (count) atomic_fetch_sub_explicit(&budget->count, count, memory_order_relaxed);
  lrd_budget_subtract_cost(budget, cost);
}

/// lrd_budget_exchange() where something changes.
lrd_shortage lrd_budget_exchange_slow(lrd_budget *budget, uint64_t freed, uint64_t freed_cost,
                                      uint64_t cost);

/// Exchanges the room of `freed` unlinked entries (cost `freed_cost`) for that of one entry of cost
/// `cost`. On a shortage nothing changes, and `freed` is still the caller's.
static inline lrd_shortage lrd_budget_exchange(lrd_budget *budget, uint64_t freed,
                                               uint64_t freed_cost, uint64_t cost) {
  if (freed == 1 && freed_cost == cost) return LRD_ROOM;
  return lrd_budget_exchange_slow(budget, freed, freed_cost, cost);
}

/// Gives back the room of unlinked entries.
void lrd_budget_release_chain(lrd_budget *budget, lrd_pool *pool, const lrd_chain *unlinked);

/// The limits, and the equal share of each of `shards` in them; LRD_UNBOUNDED where there is none.
lrd_amount lrd_budget_limits(lrd_budget *budget);
lrd_amount lrd_budget_share(lrd_budget *budget, uint64_t shards);

/// What is over the limits, or over `count_bound` and `cost_bound`, as they stand.
lrd_shortage lrd_budget_excess(lrd_budget *budget, uint64_t count_bound, uint64_t cost_bound);

/// The sum of all costs, at most INT64_MAX.
static inline uint64_t lrd_budget_cost(lrd_budget *budget) {
  uint64_t cost = atomic_load_explicit(&budget->cost, memory_order_relaxed);
  bool carried = atomic_load_explicit(&budget->cost_carry, memory_order_relaxed) > 0;
  return carried || cost > INT64_MAX ? INT64_MAX : cost;
}

#pragma clang assume_nonnull end
