// SPDX-License-Identifier: Apache-2.0
/* lrd_sketch.h — how often keys were used lately, estimated: a count-min sketch that ages.
 *
 *   block   8 words of 16 counters of 4 bits, one cache line; row r is words 2r and 2r + 1
 *
 * A key has one block and one counter in each of its four rows; its estimate is the least of them.
 * Counters stop at 15. A sweep halves all of them once in every five uses for each entry, a block
 * at a time. (Cormode and Muthukrishnan, "An Improved Data Stream Summary", J. Algorithms 55(1),
 * 2005; ageing after Einziger, Friedman and Manes, "TinyLFU", ACM ToS 13(4), 2017, which halves all
 * at once: the same pace, without the pause.)
 *
 * The blocks are the order's history. What is here is the policy's state, guarded like it. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

typedef struct lrd_sketch {
  uint64_t blocks;
  uint64_t group; // blocks that age together
  uint64_t hand;  // the block that ages next
  uint64_t uses;  // noted since one aged
} lrd_sketch;

/// Asks for a history that suits `entries`, where the one there is too small or far too large.
void lrd_sketch_demand(const lrd_sketch *sketch, lrd_order *order, uint64_t entries);

/// Adopts a new history: nothing was used yet.
void lrd_sketch_renewed(lrd_sketch *sketch, const lrd_order *order);

/// Notes a use of an entry's key.
void lrd_sketch_add(lrd_sketch *sketch, const lrd_order *order, const lrd_entry *entry);

/// How often the entry's key was used lately, 0 to 15.
uint32_t lrd_sketch_estimate(const lrd_sketch *sketch, const lrd_order *order,
                             const lrd_entry *entry);

#pragma clang assume_nonnull end
