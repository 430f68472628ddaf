// SPDX-License-Identifier: Apache-2.0
/* lrd_removal.h — removes entries that the caller has chosen: one, several, or all.
 *
 * One or several: the caller locks with lrd_shard_enter(); lrd_removal_of_one() or
 * lrd_removal_finish() unlocks. lrd_removal_of_all() and lrd_removal_observe() take and free the
 * locks themselves. The caller then ends `garbage` (lrd_garbage.h). */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

/// Unlinks a linked entry for a reason (LRD_REMOVED_…) and adds it to `removed`.
void lrd_removal_unlink_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, uint8_t reason,
                               lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Gives back the room of unlinked entries, hands them on, and unlocks.
void lrd_removal_finish(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                        lrd_chain *removed) LRD_RELEASE(shard->lock);

/// Removes one entry by call, and unlocks.
void lrd_removal_of_one(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage, lrd_entry *entry)
    LRD_RELEASE(shard->lock);

/// To be called when a call removes a key that the shard does not hold. The policy may have evicted
/// it and still think that another one would have kept it.
void lrd_removal_of_none_locked(lrd_shard *shard, uint64_t hash) LRD_REQUIRES(shard->lock);

/// Removes all entries. Takes the locks of all shards itself, so no insertion comes in between.
void lrd_removal_of_all(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage);

/// From now on the caller sees removed entries, as in a cache created with `observed`, or no more.
/// Takes the locks of all shards, so every change either began to unlink afterwards or has handed
/// on.
void lrd_removal_observe(lrd_cache *cache, bool observed);

#pragma clang assume_nonnull end
