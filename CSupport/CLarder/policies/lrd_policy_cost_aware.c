// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_cost_aware.c — GreedyDual-Size-Frequency with a memory: keeps entries that are used
 * often for their cost.
 *
 *   value of an entry = age of the cache when the value was computed + uses / cost
 *   age of the cache  = value of the entry evicted last
 *
 * The entry of the least value is evicted first. Entries of equal value are evicted in the order in
 * which their values were computed. The age rises, so entries that are no longer used fall behind,
 * however often they were used once.
 *
 * Two things differ from the paper. Both save misses on all traces that were tried:
 *   - Hits gather in the entry. Its value is computed again when it is the least. A hit thus moves
 *     nothing.
 *   - A new entry does not start with one use. It starts with the uses that a sketch remembers of
 *     its key. */
#include "lrd_policies.h"
#include "lrd_sketch.h"
#include "lrd_tree.h"

/// Values are fixed-point numbers. A use of an entry of cost 1 is worth this much; of one that
/// costs more than 2^46, nothing.
static const uint64_t unit = (uint64_t)1 << 46;

typedef struct cost_state {
  lrd_sketch sketch;
  uint64_t age;
} cost_state;

static void cost_open(lrd_order *order) {
  cost_state *state = order->state;
  state->age = 0;
}

/// The value of an entry used now, modulo 2^64. All values in the tree are within 2^62 of the age.
/// An entry without cost counts as one of cost 1.
static uint64_t value_of(const lrd_order *order, const lrd_entry *entry, uint16_t uses) {
  const cost_state *state = order->state;
  uint64_t cost = lrd_entry_cost(entry);
  return state->age + unit * uses / (cost ? cost : 1);
}

static void link(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id, uint16_t uses) {
  lrd_tree_node_of(pool, entry)->uses = uses;
  lrd_tree_add(order, pool, entry, id, value_of(order, entry, uses));
}

static void cost_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  cost_state *state = order->state;
  uint64_t entries = lrd_order_room_percent(order, 100);
  if (!lrd_order_is_idle(order, entries)) lrd_sketch_demand(&state->sketch, order, entries);
  lrd_sketch_add(&state->sketch, order, entry);
  uint32_t uses = lrd_sketch_estimate(&state->sketch, order, entry);
  link(order, pool, entry, id, uses ? (uint16_t)uses : 1);
}

static uint32_t cost_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  cost_state *state = order->state;
  // Only an eviction by value tells the age. A quota or a veto may evict another entry.
  uint32_t coldest = order->queue[0].list.tail;
  if (evicted && lrd_pool_entry(pool, coldest) == entry) {
    state->age = lrd_tree_node_of(pool, entry)->key;
  }
  return lrd_tree_remove(order, pool, entry);
}

static uint32_t cost_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                             uint32_t id) {
  uint16_t uses = lrd_tree_node_of(pool, old)->uses;
  uint32_t old_id = lrd_tree_remove(order, pool, old);
  lrd_entry_set_bits(entry, lrd_entry_bits(old));
  link(order, pool, entry, id, uses);
  return old_id;
}

static uint32_t cost_victim(lrd_order *order, lrd_pool *pool) {
  cost_state *state = order->state;
  for (int steps = 1;; steps++) {
    uint32_t id = order->queue[0].list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_pool_entry(pool, id);
    uint32_t hits = lrd_entry_bits(entry);
    order->steps++;
    if (!hits || steps == LRD_VICTIM_STEPS) return id;
    lrd_entry_set_bits(entry, 0);
    for (uint32_t i = 0; i < hits; i++) lrd_sketch_add(&state->sketch, order, entry);
    uint32_t uses = lrd_tree_node_of(pool, entry)->uses + hits;
    lrd_tree_remove(order, pool, entry);
    link(order, pool, entry, id, uses < UINT16_MAX ? (uint16_t)uses : UINT16_MAX);
  }
}

const lrd_policy lrd_policy_cost_aware = {
    .hits_most = LRD_HITS_MOST,
    .entry_bytes = sizeof(lrd_tree_node),
    .steps_most = LRD_VICTIM_STEPS,
    .by_cost = true,
    .state_bytes = sizeof(cost_state),
    .open = cost_open,
    .resize = lrd_sketch_resize,
    .renewed = lrd_sketch_renewed,
    .insert = cost_insert,
    .remove = cost_remove,
    .replace = cost_replace,
    .victim = cost_victim,
    LRD_POLICY_OF_TREE,
};
