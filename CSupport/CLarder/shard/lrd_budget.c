// SPDX-License-Identifier: Apache-2.0
#include "lrd_budget.h"

static void add_cost(lrd_budget *budget, uint64_t cost) {
  if (!cost) return;
  uint64_t before = atomic_fetch_add_explicit(&budget->cost, cost, memory_order_relaxed);
  if (LRD_UNLIKELY(before + cost < before)) {
    atomic_fetch_add_explicit(&budget->cost_carry, 1, memory_order_relaxed);
  }
}

void lrd_budget_disclaim(lrd_budget *budget) {
  uint32_t claims = LRD_LOAD(&budget->claims);
  // After fork() the child has forgotten all claims, also one that the forking thread had made.
  while (claims &&
         !atomic_compare_exchange_weak_explicit(&budget->claims, &claims, claims - 1,
                                                memory_order_relaxed, memory_order_relaxed)) {
  }
}

/// Adds `cost - freed_cost` when the sum stays within the limit, and nobody else claims the room.
static bool exchange_cost(lrd_budget *budget, uint64_t freed_cost, uint64_t cost, bool claims) {
  uint64_t limit = LRD_LOAD(&budget->cost_limit), more = cost - freed_cost;
  if (cost <= freed_cost) {
    lrd_budget_subtract_cost(budget, freed_cost - cost);
    return true;
  }
  if (!limit) {
    add_cost(budget, more);
    return true;
  }
  if (!claims && LRD_UNLIKELY(LRD_LOAD(&budget->claims))) return false;
  uint64_t used = LRD_LOAD(&budget->cost);
  do {
    if (lrd_budget_carries(budget) || used > limit || more > limit - used) return false;
  } while (!atomic_compare_exchange_weak_explicit(&budget->cost, &used, used + more,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

/// True when the cost is within its limit. One more entry waits for that even if it costs nothing:
/// a trim to a lowered limit evicts as many entries as there were, and stops then.
static bool keeps_cost_limit(lrd_budget *budget) {
  uint64_t limit = LRD_LOAD(&budget->cost_limit);
  return !limit || (LRD_LOAD(&budget->cost) <= limit && !lrd_budget_carries(budget));
}

lrd_shortage lrd_budget_exchange_slow(lrd_budget *budget, uint64_t freed, uint64_t freed_cost,
                                      uint64_t cost, bool claims) {
  if (!freed) {
    if (!lrd_budget_reserve_count(budget)) return LRD_COUNT_SHORT;
    bool fits = cost ? exchange_cost(budget, 0, cost, claims) : keeps_cost_limit(budget);
    if (fits) return LRD_ROOM;
    lrd_budget_release(budget, 1, 0);
    return LRD_COST_SHORT;
  }
  // When an entry was freed the count cannot be short, so only the cost decides.
  if (!exchange_cost(budget, freed_cost, cost, claims)) return LRD_COST_SHORT;
  lrd_budget_release(budget, freed - 1, 0);
  return LRD_ROOM;
}

/// The lower ones of the bounds and the limits.
static lrd_amount within_limits(lrd_budget *budget, lrd_amount bounds) {
  lrd_amount limits = lrd_budget_limits(budget);
  return (lrd_amount){lrd_least(limits.count, bounds.count), lrd_least(limits.cost, bounds.cost)};
}

bool lrd_budget_is_deep(lrd_budget *budget, lrd_amount bounds, uint64_t most) {
  lrd_amount held = {LRD_LOAD(&budget->count), lrd_budget_cost(budget)};
  return lrd_amount_is_deep(held, within_limits(budget, bounds), most);
}

lrd_shortage lrd_budget_excess(lrd_budget *budget, lrd_amount bounds) {
  bounds = within_limits(budget, bounds);
  if (LRD_LOAD(&budget->count) > bounds.count) return LRD_COUNT_SHORT;
  bool over = lrd_budget_carries(budget) || LRD_LOAD(&budget->cost) > bounds.cost;
  return over && bounds.cost != LRD_UNBOUNDED ? LRD_COST_SHORT : LRD_ROOM;
}

void lrd_budget_release_chain(lrd_budget *budget, lrd_pool *pool, const lrd_chain *unlinked) {
  for (lrd_entry *entry = unlinked->head; entry; entry = lrd_chain_next(pool, entry)) {
    lrd_budget_release(budget, 1, lrd_entry_cost(entry));
  }
}

lrd_amount lrd_budget_limits(lrd_budget *budget) {
  uint64_t count = LRD_LOAD(&budget->count_limit), cost = LRD_LOAD(&budget->cost_limit);
  return (lrd_amount){count ? count : LRD_UNBOUNDED, cost ? cost : LRD_UNBOUNDED};
}

static uint64_t share_of(uint64_t limit, uint64_t shards) {
  return limit == LRD_UNBOUNDED ? limit : limit / shards + (limit % shards != 0);
}

lrd_amount lrd_budget_share(lrd_budget *budget, uint64_t shards) {
  lrd_amount limits = lrd_budget_limits(budget);
  return (lrd_amount){share_of(limits.count, shards), share_of(limits.cost, shards)};
}
