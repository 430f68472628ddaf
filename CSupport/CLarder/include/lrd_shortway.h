// SPDX-License-Identifier: Apache-2.0
/* lrd_shortway.h — the insertion of an absent key, as a straight line of code.
 *
 * The short way is that of most insertions: no entry has the key's hash, the table lacks no
 * memory, no flight is under way, nothing has expired, and there is room, or nothing but the count
 * is short, nobody watches evictions, and the limbo has nothing to do. Keys need no comparison
 * then, and what is evicted can be retired at once. A lifetime counts from the time of the lane
 * there, which may be two milliseconds late, unless it is so short that this matters. */
#pragma once

#include "lrd_insertion.h"

#pragma clang assume_nonnull begin

/// Goes the short way if it can: true when `entry` is stored. The caller then destroys the entry
/// that is in `freed`, NULL at first, and calls lrd_garbage_end() if there is one. If the answer is
/// false, nothing is stored or evicted, and the shard is locked as by lrd_insertion_begin().
bool lrd_shortway_try(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                      lrd_entry *entry, uint64_t hash, lrd_entry *_Nullable *_Nonnull freed)
    LRD_TRY_ACQUIRE(false, shard->lock);

#pragma clang assume_nonnull end
