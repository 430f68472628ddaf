// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_trim.h — what a trim, a lowered limit or memory pressure evicts.
 *
 * Such a call may take most of a cache at once. The rule for insertions would be wrong for it: that
 * rule keeps the small queue as large as the whole cache asks for, and takes hits away from each
 * entry that it spares. After a deep trim the small queue would be all that is left, then chance.
 *
 *   the small queue   gives entries while it is more than its part of what is left, half at most.
 *                     Those with hits enough move to the main queue, as ever
 *   the main queue    gives those that count the fewest hits. All others keep their hits, and move
 *                     to its hot end
 *
 * THE LEVEL is the hits of the latest victim in the main queue. An entry with no more hits goes at
 * once. Where a call finds none among LRD_EXPERT_STEPS, it takes the one with the fewest. So the
 * level falls where there are colder entries, and rises where there are none.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"
#include "lrd_adaptive_queues.h"

#pragma clang assume_nonnull begin

/// The policy's `victim` where `trims` of the order is set.
uint32_t lrd_adaptive_trim(lrd_order *order, lrd_slots slots);

#pragma clang assume_nonnull end
