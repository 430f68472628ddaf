// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_front.h — the front hand of the main queue, which finds the next victims in advance.
 *
 *   coldest ⇄ … ⇄ │ front ⇄ … ⇄ hottest
 *   └── known ──┘
 *
 * The main queue is a clock: an eviction from it moves the coldest entries to the hot end as long
 * as they have hits. Where four lookups in five hit, one eviction in two hundred passes ten entries
 * or more, which the processor has to load one after the other. These were the slowest insertions.
 *
 * The front hand passes such entries in advance, a few after each eviction from either queue. It
 * moves those with hits as the eviction would, and leaves those without: up to LRD_FRONT_MOST of
 * these are known. An entry that is hit after the hand has passed it goes round all the same, as
 * evictions look again. So every entry has the chances that one hand would give it, some evictions
 * earlier. In a queue of fewer than 1,024 entries the hand does not go ahead. (The two-handed clock of 4.3BSD: Leffler, McKusick, Karels,
 * Quarterman, "The Design and Implementation of the 4.3BSD UNIX Operating System", 1989.)
 *
 * `known` is an estimate. It does not hear of entries that a call or a trim takes away, or that
 * evictions let go round. It is 0 again when the coldest entry is the one at the hand.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

enum {
  LRD_FRONT_MOST = 16,
  LRD_FRONT_STEPS = 4, // the most entries passed after one eviction
};

/// To be called after an eviction from the main queue, and while `few` after any other.
void lrd_front_advance(lrd_order *order, lrd_slots slots, bool from_main) LRD_COLD;

#pragma clang assume_nonnull end
