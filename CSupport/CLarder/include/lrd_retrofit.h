// SPDX-License-Identifier: Apache-2.0
/* lrd_retrofit.h — gives a cache that is in use room for deadlines: one whose entries cannot
 * expire, or not by their last use.
 *
 *   1 each shard is told, and gets a timer    from then on all that is stored there has room for
 *                                             two deadlines, or is UNFIT
 *   2 what is there already is copied, slice by slice, into slots with such room
 *   3 the cache gets another number           every lookup that begins from then on looks at
 *                                             deadlines; only if no entry could expire before
 *
 * A copy takes the place of its entry in everything (lrd_copy.h).
 *
 * WHY NOBODY MISSES A DEADLINE. A thread finds its lane by the number of the cache, so with another
 * number it finds none, and comes to lrd_lane_attach(), which gives it a lane of the timed kind.
 * That costs other caches nothing: the number is compared anyway. A lifetime is given after step 3.
 * A lookup that began before, and finds the value, began before this was stored. It may answer as
 * if it had ended at once. Where entries could expire already, each word says itself whether there
 * is a second one (lrd_deadline.h).
 *
 * WHY EVERYBODY FINDS A DEADLINE. A lookup that has seen the new number (acquire) sees step 2
 * whole. It must look at the number before it looks for the entry. A soft word is only made where
 * step 2 is done, for the whole shard.
 *
 * Several threads may do this at the same time: each walks all shards, and what one has copied,
 * the others leave. What had no deadline counts as written, and as used, now: nobody knows when it
 * was. Afterwards the cache is as if it had been made for deadlines, but each entry takes `wide`
 * slots (lrd_pool.h), and one that is described without a lifetime mostly takes two rounds to be
 * stored. */
#pragma once

#include "lrd_timing.h"

#pragma clang assume_nonnull begin

/// True when entries of the cache can expire, by their last use as well if `by_use`, from now on at
/// the latest. False without memory, or where hooks.copy is NULL: entries are then as before, but
/// may be larger, and so may those that come. O(n) once, a slice of some 64 entries under each lock.
/// No lock is held.
bool lrd_cache_retrofit(lrd_cache *cache, bool by_use);

/// True once this has begun. It moves entries until lrd_cache_has_room() by use, also those on loan,
/// which nothing else moves. Under the lock of a shard whose entry was moved, it is true.
static inline bool lrd_cache_retrofits(lrd_cache *cache) {
  return LRD_LOAD(&cache->wide);
}

#pragma clang assume_nonnull end
