// SPDX-License-Identifier: Apache-2.0
/* lrd_removal.h — takes entries out by the caller's wish: one, some, or all. Ends the lock that the
 * caller has taken with lrd_shard_enter(); the caller then ends `garbage` (lrd_garbage.h). */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

/// Unlinks a linked entry for a reason (LRD_REMOVED_…) and adds it to `removed`.
void lrd_removal_unlink_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, uint8_t reason,
                               lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Gives back the room of what was unlinked, hands it on, and unlocks.
void lrd_removal_finish(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                        lrd_chain *removed) LRD_RELEASE(shard->lock);

/// Unlinks one entry that a call removes, and unlocks.
void lrd_removal_of_one(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage, lrd_entry *entry)
    LRD_RELEASE(shard->lock);

/// Takes everything out. All shards are locked at once, so no insertion falls between.
void lrd_removal_of_all(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage);

#pragma clang assume_nonnull end
