// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_cheapest_first.c — evicts the entry of least cost, and the oldest among equals. A tree
 * keeps the entries ordered by cost. */
#include "lrd_policies.h"
#include "lrd_queues.h"
#include "lrd_tree.h"

static void cheapest_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_tree_add(order, pool, entry, id, lrd_entry_cost(entry));
}

static uint32_t cheapest_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  (void)evicted;
  return lrd_tree_remove(order, pool, entry);
}

static uint32_t cheapest_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                                 uint32_t id) {
  uint32_t old_id = lrd_tree_remove(order, pool, old);
  lrd_tree_add(order, pool, entry, id, lrd_entry_cost(entry));
  return old_id;
}

const lrd_policy lrd_policy_cheapest_first = {
    .hits_most = LRD_HITS_IGNORED,
    .entry_bytes = sizeof(lrd_tree_node),
    .steps_most = 1,
    .by_cost = true,
    .insert = cheapest_insert,
    .remove = cheapest_remove,
    .replace = cheapest_replace,
    .victim = lrd_queues_victim,
    LRD_POLICY_OF_TREE,
};
