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
 * starts over with lrd_insertion_begin(). If `replaced` is true, the value replaced is that of the
 * round that set it, and the caller keeps what it found then. Otherwise it is that of the last. */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_supply.h"

#pragma clang assume_nonnull begin

/// Zero at first; kept for all rounds of an insertion.
typedef struct lrd_insertion {
  lrd_garbage garbage;
  lrd_supply supply;
  lrd_entry *_Nullable taken; // what `replaced` took out, if the caller is still to see it
  bool replaced;              // an earlier round took the key's old entry out
  bool noted;                 // an earlier round noted the replacement as a hit
  bool expired;               // the key's old entry had expired: there was none
  bool seeks;                 // this round ends to look in other shards for what has expired
  uint32_t sought;            // rounds that did
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

/// Publishes `entry`, in place of `old` if there is one, within the limits; unlocks. The entry
/// stays the caller's, except after INSERTED and REPLACED.
lrd_result lrd_insertion_finish(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                                lrd_insertion *insertion, lrd_entry *entry,
                                lrd_entry *_Nullable old, uint64_t hash) LRD_RELEASE(shard->lock);

/// Gives the insertion up; unlocks. `garbage` keeps what earlier rounds have removed.
void lrd_insertion_abandon(lrd_cache *cache, lrd_shard *shard, lrd_insertion *insertion)
    LRD_RELEASE(shard->lock);

#pragma clang assume_nonnull end
