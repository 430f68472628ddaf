// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_trim.h — what a trim, a lowered limit or memory pressure evicts.
 *
 * Such a call may take most of a cache at once. The rule for insertions would be wrong for it: that
 * rule keeps the small queue as large as the whole cache asks for, and takes hits away from each
 * entry that it spares. After a deep trim the small queue would be all that is left, then chance.
 *
 *   the small queue   gives entries while it has its part of what is left, or half if that is less.
 *                     Those with hits enough move to the main queue, as ever
 *   the main queue    gives those that count the fewest hits. All others move to its hot end
 *
 * DEEP TRIMS, of more than an eighth of the cache, leave the others their hits: these would be used
 * up before the end. Any other trim takes hits away as an insertion does. A cache whose purges take
 * a few entries at a time thus forgets what was hot once. One that gets rid of entries by deep
 * trims alone does not: an entry with fifteen hits goes after a newer one with less.
 *
 * THE LEVEL, in deep trims, is the hits up to which entries of the main queue go. Those of the
 * small queue with less do not move up any more, and go as well. A trim begins at 0, in each shard.
 * When a round has looked at as many entries as the main queue has left, the level rises to the
 * fewest hits above it. A call that finds nothing among LRD_EXPERT_STEPS entries takes the one with
 * the fewest hits. So hot entries that wait before cold ones lose one in so many. If all that the
 * call looked at were in the small queue and have moved, the coldest of the main queue goes.
 *
 * PASSED OVER, because somebody holds it or it costs nothing: the entry moves to the hot end of the
 * main queue, and is named again in each round if its hits are no more than the level. When all of
 * a round were passed over, the small queue gives as long as it has any.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"
#include "lrd_parted.h"

#pragma clang assume_nonnull begin

/// The policy's `victim` where `trim` of the order is set.
uint32_t lrd_adaptive_trim(lrd_order *order, lrd_slots slots);

/// The policy's `pass` there.
void lrd_adaptive_trim_pass(lrd_order *order, lrd_slots slots, lrd_entry *entry);

#pragma clang assume_nonnull end
