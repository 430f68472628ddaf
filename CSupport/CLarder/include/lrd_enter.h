// SPDX-License-Identifier: Apache-2.0
/* lrd_enter.h — takes a shard's lock and gives it back, and reads what needs it.
 *
 *   lrd_shard_enter()   locks, and notes the thread's own hits first, so that it sees an exact order
 *   lrd_shard_leave()   unlocks, and asks for the visit that the background thread was refused
 *
 * Between the two the caller may use everything whose name ends in _locked. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Locks the shard and notes this thread's hits in its order. `lane` NULL: only locks.
static inline void lrd_shard_enter(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard)
    LRD_ACQUIRE(shard->lock) {
  lrd_lock_acquire(&shard->lock);
  if (lane && lane->touches) lrd_lane_apply_locked(cache, lane, shard);
}

/// Unlocks. The background thread, where the lock turned it away meanwhile, is asked to come again.
static inline void lrd_shard_leave(lrd_cache *cache, lrd_shard *shard) LRD_RELEASE(shard->lock) {
  if (LRD_UNLIKELY(lrd_lock_release(&shard->lock))) lrd_request_visit(&cache->request);
}

/// Notes one use of an entry, in the way the policy wants it.
void lrd_note_hit_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// Counts a lookup made under the lock: a hit on `entry`, or a miss when it is NULL.
void lrd_note_locked(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                     lrd_entry *_Nullable entry) LRD_REQUIRES(shard->lock);

/// Lends an entry found under the lock, as lrd_find() does. False when the thread has all its loans
/// out.
bool lrd_lend_locked(lrd_lane *_Nullable lane, lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// The hottest or coldest entry of a shard, and the one after `entry` going away from that end.
lrd_entry *_Nullable lrd_order_first_locked(lrd_cache *cache, lrd_shard *shard, bool hottest)
    LRD_REQUIRES(shard->lock);
lrd_entry *_Nullable lrd_order_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                           bool hottest) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
