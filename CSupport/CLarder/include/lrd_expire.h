// SPDX-License-Identifier: Apache-2.0
/* lrd_expire.h — removes what has expired, a few entries at a time.
 *
 * WHERE ROOM IS NEEDED, what has expired goes before what lives, in whatever shard it is. A shard
 * that has nothing to offer therefore looks in the others. That takes a lock of each, so the cache
 * remembers when it was last in vain, in `barren`: until the wheel turns, nothing else expires. A
 * change of the rule makes it forget. An insertion takes what it needs of that, but a bounded
 * number of steps in vain: it may find as many entries in the way whose deadlines have moved, and
 * then it evicts what lives.
 *
 * ON A CLOCK SET BY HAND what expires within the current turn goes before what lives, too: the
 * clock may stand still, and the turn never end. An insertion then searches all of the turn, but no
 * part twice while the clock stands. */
#pragma once

#include "lrd_timing.h"

#pragma clang assume_nonnull begin

/// Unlinks an entry that has expired and adds it to `removed`.
void lrd_expire_locked(lrd_shard *shard, lrd_entry *entry, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Removes up to `most` entries that the wheel of a shard with a timer says are due at its last
/// look, in a bounded number of steps. Ends when it meets `spared`. True when it has removed or
/// moved any and not met `spared`: there may be more.
bool lrd_expire_any_locked(lrd_shard *shard, uint32_t most, const lrd_entry *_Nullable spared,
                           lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Removes one entry of a shard with a timer, to make room. False if it has found none.
bool lrd_expire_one_locked(lrd_shard *shard, const lrd_entry *_Nullable spared, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// True when any shard may have something that has expired at this tick.
bool lrd_expire_may_find(const lrd_cache *cache, uint64_t tick);

/// Removes a few entries that have expired from the first shard that has any, and gives their room
/// back; `*removed` is increased by how many. True as well where it has found none, but a wheel may
/// have more to show. False when no shard has any. No lock is held.
bool lrd_expire_seek(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage,
                     uint64_t *removed);

/// A call that removes all that had expired when it began.
typedef struct lrd_clearance {
  uint64_t tick;    // when that was
  uint64_t removed; // entries, so far
  uint32_t shard;   // nothing is left in those before it
} lrd_clearance;

static inline lrd_clearance lrd_clearance_begin(const lrd_cache *cache) {
  return (lrd_clearance){.tick = lrd_tick_at(lrd_now(cache->clock))};
}

/// Goes on with one: removes a few entries. True when none is left. False: the caller ends
/// `garbage` and calls again with a new one.
bool lrd_clearance_go_on(lrd_clearance *clearance, lrd_cache *cache, lrd_lane *_Nullable lane,
                         lrd_garbage *garbage);

#pragma clang assume_nonnull end
