// SPDX-License-Identifier: Apache-2.0
#include "lrd_budget.h"

/// Adds `cost - freed_cost` when the sum stays within the limit.
static bool exchange_cost(lrd_budget *budget, uint64_t freed_cost, uint64_t cost) {
  if (cost == freed_cost) return true;
  uint64_t limit = atomic_load_explicit(&budget->cost_limit, memory_order_relaxed);
  if (cost < freed_cost) {
    lrd_budget_subtract_cost(budget, freed_cost - cost);
    return true;
  }
  uint64_t more = cost - freed_cost;
  if (!limit) {
    lrd_budget_add_cost(budget, more);
    return true;
  }
  uint64_t used = atomic_load_explicit(&budget->cost, memory_order_relaxed);
  do {
    bool carried = atomic_load_explicit(&budget->cost_carry, memory_order_relaxed) > 0;
    if (carried || used > limit || more > limit - used) return false;
  } while (!atomic_compare_exchange_weak_explicit(&budget->cost, &used, used + more,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

/// Adds `1 - freed` when the sum stays within the limit.
static bool exchange_count(lrd_budget *budget, uint64_t freed) {
  if (freed == 1) return true;
  if (freed > 1) {
    atomic_fetch_sub_explicit(&budget->count, freed - 1, memory_order_relaxed);
    return true;
  }
  uint64_t limit = atomic_load_explicit(&budget->count_limit, memory_order_relaxed);
  uint64_t used = atomic_load_explicit(&budget->count, memory_order_relaxed);
  do {
    if (limit && used >= limit) return false;
  } while (!atomic_compare_exchange_weak_explicit(&budget->count, &used, used + 1,
                                                  memory_order_relaxed, memory_order_relaxed));
  return true;
}

lrd_shortage lrd_budget_exchange_slow(lrd_budget *budget, uint64_t freed, uint64_t freed_cost,
                                      uint64_t cost) {
  if (!freed) {
    if (!exchange_count(budget, 0)) return LRD_COUNT_SHORT;
    if (exchange_cost(budget, freed_cost, cost)) return LRD_ROOM;
    atomic_fetch_sub_explicit(&budget->count, 1, memory_order_relaxed);
    return LRD_COST_SHORT;
  }
  // With a place freed the count cannot be short, so the cost decides first.
  if (!exchange_cost(budget, freed_cost, cost)) return LRD_COST_SHORT;
  exchange_count(budget, freed);
  return LRD_ROOM;
}

lrd_shortage lrd_budget_excess(lrd_budget *budget, uint64_t count_bound, uint64_t cost_bound) {
  uint64_t count_limit = atomic_load_explicit(&budget->count_limit, memory_order_relaxed);
  uint64_t cost_limit = atomic_load_explicit(&budget->cost_limit, memory_order_relaxed);
  if (!count_limit || count_bound < count_limit) count_limit = count_bound;
  if (!cost_limit || cost_bound < cost_limit) cost_limit = cost_bound;
  if (atomic_load_explicit(&budget->count, memory_order_relaxed) > count_limit) {
    return LRD_COUNT_SHORT;
  }
  bool carried = atomic_load_explicit(&budget->cost_carry, memory_order_relaxed) > 0;
  uint64_t cost = atomic_load_explicit(&budget->cost, memory_order_relaxed);
  bool unbounded = cost_limit == UINT64_MAX;
  return !unbounded && (carried || cost > cost_limit) ? LRD_COST_SHORT : LRD_ROOM;
}

void lrd_budget_release_chain(lrd_budget *budget, lrd_pool *pool, const lrd_chain *unlinked) {
  for (lrd_entry *entry = unlinked->head; entry; entry = lrd_chain_next(pool, entry)) {
    lrd_budget_release(budget, 1, entry->cost);
  }
}

lrd_amount lrd_budget_limits(lrd_budget *budget) {
  uint64_t count = atomic_load_explicit(&budget->count_limit, memory_order_relaxed);
  uint64_t cost = atomic_load_explicit(&budget->cost_limit, memory_order_relaxed);
  return (lrd_amount){count ? count : LRD_UNBOUNDED, cost ? cost : LRD_UNBOUNDED};
}

static uint64_t share_of(uint64_t limit, uint64_t shards) {
  return limit == LRD_UNBOUNDED ? limit : limit / shards + (limit % shards != 0);
}

lrd_amount lrd_budget_share(lrd_budget *budget, uint64_t shards) {
  lrd_amount limits = lrd_budget_limits(budget);
  return (lrd_amount){share_of(limits.count, shards), share_of(limits.cost, shards)};
}
