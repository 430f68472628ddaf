// SPDX-License-Identifier: Apache-2.0
/* lrd_insertion.h — stores one entry within the limits.
 *
 *   lrd_shortway_try()        true: the entry is stored, and that is all (lrd_shortway.h)
 *     or lrd_insertion_begin()
 *   the shard is locked: the caller looks for its key with lrd_shard_matches_locked()
 *   lrd_insertion_finish()    stores or refuses, and unlocks; or lrd_insertion_abandon()
 *   the caller ends the insertion's `garbage` (lrd_garbage.h)
 *
 * UNFIT means that the slot has no room for a deadline: the cache was given lifetimes after it was
 * taken. The shard is unlocked. The caller moves the pair into another slot, from
 * lrd_slot_take_timed(), describes that by lrd_entry_describe_again(), and starts over with
 * lrd_insertion_begin().
 *
 * AGAIN means that the insertion had to unlock: to allocate, to take room from another shard or
 * look there for what has expired, or after many victims. The entry is not stored, and the caller
 * starts over with lrd_insertion_begin(). Each round finds an old value, or none. The value
 * replaced is that of the last round: until then it stays. */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_supply.h"

#pragma clang assume_nonnull begin

/// Zero at first; kept for all rounds of an insertion.
typedef struct lrd_insertion {
  lrd_garbage garbage;
  lrd_supply supply;
  bool noted;          // an earlier round noted the replacement as a hit
  bool expired;        // the old entry that this round found had expired: there was none
  bool claims;         // an earlier round ended for want of room: lrd_budget_claim()
  uint32_t evenings;   // rounds that ended to take room from shards with more entries
  uint32_t vain_seeks; // rounds that ended to look in other shards for what has expired, in vain
} lrd_insertion;

typedef enum lrd_result {
  LRD_INSERTED,
  LRD_REPLACED,
  LRD_TOO_COSTLY,
  LRD_OUT_OF_MEMORY,
  LRD_EXPIRED, // a lifetime of 0, or a deadline that has come: not stored, the old entry is removed
  LRD_AGAIN,
  LRD_UNFIT,
} lrd_result;

/// Begins to load what the policy will touch for an insertion into a full shard.
LRD_INLINE void lrd_insertion_prefetch_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  const lrd_policy *policy = shard->policy;
  if (policy->prefetch) policy->prefetch(&shard->order, shard->pool, lrd_hash48(hash));
}

/// Locks the shard for an insertion of this hash. If the last one had to evict, begins to load what
/// this one will touch: but not in a small cache, all of whose memory the processor keeps at hand.
static inline void lrd_insertion_begin(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                                       uint64_t hash) LRD_ACQUIRE(shard->lock) {
  lrd_shard_enter(cache, lane, shard);
  if (shard->order.ahead) lrd_insertion_prefetch_locked(shard, hash);
}

/// Publishes `entry`, in place of `old` if there is one, within the limits; unlocks. The entry
/// stays the caller's, except after INSERTED and REPLACED.
lrd_result lrd_insertion_finish(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                                lrd_insertion *insertion, lrd_entry *entry,
                                lrd_entry *_Nullable old, uint64_t hash) LRD_RELEASE(shard->lock);

/// Gives the insertion up; unlocks. `garbage` keeps what earlier rounds have removed.
void lrd_insertion_abandon(lrd_cache *cache, lrd_shard *shard, lrd_insertion *insertion)
    LRD_RELEASE(shard->lock);

#pragma clang assume_nonnull end
