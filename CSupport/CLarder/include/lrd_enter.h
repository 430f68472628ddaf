// SPDX-License-Identifier: Apache-2.0
/* lrd_enter.h — locks and unlocks a shard; notes hits, lends entries and walks the order under the
 * lock. Between lrd_shard_enter() and lrd_shard_leave() the caller may use all functions whose
 * names end in _locked. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Locks the shard and notes this thread's batch there, so that it sees an exact order. `lane`
/// NULL: only locks.
static inline void lrd_shard_enter(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard)
    LRD_ACQUIRE(shard->lock) {
  lrd_lock_acquire(&shard->lock);
  if (lane && lane->touches) lrd_lane_apply_locked(cache, lane, shard);
}

/// Unlocks, and asks for a visit if the background thread found the lock busy meanwhile.
LRD_INLINE void lrd_shard_leave(lrd_cache *cache, lrd_shard *shard) LRD_RELEASE(shard->lock) {
  if (LRD_UNLIKELY(lrd_lock_release(&shard->lock))) lrd_request_visit(&cache->request);
}

/// Notes one hit on an entry, in the way that the policy has chosen.
void lrd_note_hit_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// Counts a lookup of `hash` made under the lock: a hit on `entry`, which lives, or a miss when it
/// is NULL. A hit moves the deadline of an entry that goes by its last use.
void lrd_note_locked(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                     lrd_entry *_Nullable entry, uint64_t hash) LRD_REQUIRES(shard->lock);

/// Lends an entry found under the lock, and pins the loan. False when all loans are in use.
bool lrd_lend_locked(lrd_lane *_Nullable lane, lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// The hottest or the coldest entry of a shard, and the one after `entry` from that end.
lrd_entry *_Nullable lrd_order_first_locked(lrd_cache *cache, lrd_shard *shard, bool hottest)
    LRD_REQUIRES(shard->lock);
lrd_entry *_Nullable lrd_order_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                           bool hottest) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
