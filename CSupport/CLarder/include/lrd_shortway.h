// SPDX-License-Identifier: Apache-2.0
/* lrd_shortway.h — the insertion of an absent key, as a straight line of code.
 *
 * Most insertions go this way. The layer above does not try it where it has a part of its own in
 * the insertion: in Swift, in caches with `Extras`, for loads, and where the old value decides. It
 * needs that
 *   no entry has the key's hash: then no keys need be compared
 *   the table has room, or gets it without memory, a visit, or a former table to free
 *   the policy wants no other history, and no flight is under way
 *   if entries can expire, none does in this turn of the wheel or the next, the slot has room for a
 *   deadline, and the thread has a lane
 *   there is room; or the new entry costs nothing: then the count is short, or somebody is just
 *   lowering a limit, one entry is evicted, and it needs that
 *     nobody observes, no entry of the shard has a cost, and the limbo is due for nothing
 *     the thread has a lane, lends nothing, and destroys nothing further up its stack
 *     no other shard can have what has expired: that would go first
 *
 * IN ORDER, under the shard's lock (lrd_insertion_begin()):
 *   notes the hits that the thread has gathered, or hands its misses to the policy; if the last
 *   insertion had to evict, begins to load what this one will touch
 *   makes room in a table that is not at ease
 *   finds that no entry has the hash
 *   reserves room and enters the new entry into the policy's order; or evicts one entry, whose room
 *   the new one takes over
 *   retires that: to the limbo, which may give an older entry for it; or it is free at once, if no
 *   other thread uses caches
 *   enters the new entry into the wheel, if it can expire, and the table
 * Then unlocks; asks for a visit if an entry stays in the limbo, or will expire before the next
 * visit, or if that visit is late; and lets the policy adjust what its shards share, if it has
 * asked for that. The caller destroys the entry that is free.
 *
 * A lifetime counts from the time of the lane, which may be two milliseconds late. An insertion for
 * which that matters, or with a lifetime of its own, goes the long way. */
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
