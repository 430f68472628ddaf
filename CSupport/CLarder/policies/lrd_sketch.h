// SPDX-License-Identifier: Apache-2.0
/* lrd_sketch.h — estimates how often keys were used lately: a count-min sketch that ages.
 *
 *   block   8 words of 16 counters of 4 bits, one cache line; row r is words 2r and 2r + 1
 *
 * A key has one block, and one counter in each of the four rows. Its estimate is the least of these
 * counters. Counters stop at 15. A sweep halves them, a group of blocks at a time, and comes round
 * once in five uses for each entry. (Cormode and Muthukrishnan, "An Improved Data Stream Summary",
 * J. Algorithms 55(1), 2005. Ageing follows Einziger, Friedman and Manes, "TinyLFU", ACM ToS 13(4),
 * 2017. They halve all counters at once; the sweep has the same pace and no pause.)
 *
 * The blocks are the order's history. An lrd_sketch comes first in the policy's state.
 * Guard: the lock of the shard that owns the order. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

typedef struct lrd_sketch {
  uint64_t blocks;
  uint64_t group; // blocks that age together
  uint64_t hand;  // the block that ages next
  uint64_t uses;  // counted since a group aged
} lrd_sketch;

/// Asks for a history that suits `entries`, unless the present one is large enough and not far too
/// large.
void lrd_sketch_demand(const lrd_sketch *sketch, lrd_order *order, uint64_t entries);

/// The `resize` of a policy that has a sketch. What it asked for was for other limits: asks anew if
/// it has a history or wants one, and for none where the shard is idle.
void lrd_sketch_resize(lrd_order *order);

/// Adopts a new history. No use is counted yet.
void lrd_sketch_renewed(lrd_order *order);

/// Counts a use of an entry's key.
void lrd_sketch_add(lrd_sketch *sketch, const lrd_order *order, const lrd_entry *entry);

/// Estimates how often the entry's key was used lately: 0 to 15.
uint32_t lrd_sketch_estimate(const lrd_sketch *sketch, const lrd_order *order,
                             const lrd_entry *entry);

#pragma clang assume_nonnull end
