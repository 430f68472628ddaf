// SPDX-License-Identifier: Apache-2.0
/* lrd_copy.h — puts a copy of an entry in its place: elsewhere, or with more room.
 *
 * The copy takes the place of its entry as a replacement does: in the table by one store, so
 * readers find the one or the other, and in the order. The entry is unlinked: readers may hold it
 * as long as they like. No observer hears of that, the policy takes it for no use, and no statistic
 * shows it (`moves` only takes it out of the sums).
 *
 * WHAT STAYS AS IT WAS: the place in the order, and all that the policy knows of the entry; cost
 * and deadlines; what the layer above keeps. Hits that wait in batches find the copy by its hash.
 * What may be lost is a hit that is counted in the entry, or moves its deadline, at that very
 * moment.
 *
 * WHAT IS NOT. The value has two owners until the entry is destroyed. And an entry is another one:
 * who remembers its address takes it for gone (lrd_shard_holds_locked()). */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Makes `copy`, a free slot, a copy of a linked entry, in its place; not where hooks.copy is NULL.
/// `timed`: if the entry has no deadline, the copy gets one by the rule, as if it were written now.
/// The copy has room for all that. The entry is added to `replaced`.
void lrd_copy_in_place_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, lrd_entry *copy,
                              bool timed, lrd_chain *replaced) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
