// SPDX-License-Identifier: Apache-2.0
/* lrd_front.h — the front hand of the main queue, which finds the next victims in advance.
 *
 *   coldest ⇄ … ⇄ │ front ⇄ … ⇄ hottest
 *   └── known ──┘
 *
 * The main queue is a clock: an eviction from it moves the coldest entries to the hot end as long
 * as they have hits. Where four lookups in five hit, one eviction in two hundred passes ten entries
 * or more, which the processor has to load one after the other. These were the slowest insertions.
 *
 * The front hand passes entries in advance, a few after each eviction. It moves those with hits as
 * the eviction would. It leaves those without, until it knows LRD_FRONT_MOST of them. An entry that
 * is hit after the hand has passed it goes round all the same, as evictions look again. So an entry
 * gets its second chances a few evictions earlier than with one hand, and hits that come in between
 * count for its next round. In a queue of fewer than 1,024 entries the hand does not go ahead. (The
 * two-handed clock of 4.3BSD: Leffler, McKusick, Karels, Quarterman, "The Design and Implementation
 * of the 4.3BSD UNIX Operating System", 1989.)
 *
 * Each round takes hits from an entry. So the hand goes no more than LRD_FRONT_REACH steps for each
 * eviction from the main queue: where nearly all entries are hit, it gives up.
 *
 * `known` is an estimate. It may be too high: nobody tells it of entries that a call or a trim takes
 * away, that are passed over, or that an eviction lets go round. It may be too low: evictions of
 * entries that somebody has named, the costliest or the oldest, count as well, wherever these are.
 * The hand may then come to the hot end, and begins anew with the next eviction. `known` is 0 again
 * when the coldest entry is the one at the hand.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

enum {
  LRD_FRONT_MOST = 16,
  LRD_FRONT_STEPS = 4, // the most entries passed after one eviction
  LRD_FRONT_REACH = 32,
};

/// To be called after an eviction from the main queue, and after any other while the hand `goes`.
void lrd_front_advance(lrd_order *order, lrd_slots slots, bool from_main);

#pragma clang assume_nonnull end
