// SPDX-License-Identifier: Apache-2.0
/* lrd_tree.h — an order by a key: a height-balanced binary search tree through the entries.
 *
 *   prev   left child: smaller keys            hand            the root
 *   next   right child: larger or equal keys   queue[0].list   tail: smallest, head: largest
 *
 * The rest of a node lies in the extra bytes that the policy has in each entry. Entries with equal
 * keys keep the order in which they were added, the oldest first. Adding and removing take O(log n)
 * steps in the worst case, about 1.44 times the binary logarithm. Finding the smallest takes O(1).
 * (Adelson-Velsky and Landis, "An algorithm for the organization of information", 1962.)
 *
 * INVARIANTS  Keys never fall from left to right. The heights of two siblings differ by one at
 * most.
 *
 * Guard: the lock of the shard that owns the order. */
#pragma once

#include "lrd_queues.h"

#pragma clang assume_nonnull begin

typedef struct lrd_tree_node {
  uint64_t key;
  uint32_t parent;
  uint16_t height; // 1 for a leaf
  uint16_t uses;   // belongs to the policy
} lrd_tree_node;

LRD_INLINE lrd_tree_node *lrd_tree_node_of(const lrd_pool *pool, lrd_entry *entry) {
  return lrd_pool_extra(pool, entry);
}

/// Links the entry in slot `id` behind all entries whose keys are not larger.
void lrd_tree_add(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id, uint64_t key);

/// Unlinks an entry; returns its slot id.
uint32_t lrd_tree_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry);

/// Links the entry in slot `id` in the place of `old`, with its key and bits; returns the slot id
/// of `old`: `move` of lrd_policy.
uint32_t lrd_tree_move(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                       uint32_t id);

/* The functions of lrd_policy for policies that order entries by a key. The smallest is coldest. */
uint32_t lrd_tree_drain(lrd_order *order, lrd_pool *pool);
uint32_t lrd_tree_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
uint32_t lrd_tree_hotter(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
void lrd_tree_check(const lrd_order *order, lrd_pool *pool);

#define LRD_POLICY_OF_TREE                                                                         \
  .move = lrd_tree_move, .drain = lrd_tree_drain, .hottest = lrd_queues_hottest,                   \
  .coldest = lrd_queues_coldest, .colder = lrd_tree_colder, .hotter = lrd_tree_hotter,             \
  .check = lrd_tree_check

#pragma clang assume_nonnull end
