// SPDX-License-Identifier: Apache-2.0
/* lrd_compact.h — moves entries out of the sparse pages of a pool, and frees these.
 *
 *   1 pages are vacated, and there is room elsewhere for what is in them (lrd_vacancy.h)
 *   2 each shard is swept, a few entries under each lock: a copy takes the place of an entry that
 *     lies in a vacated page (lrd_copy.h), and the entry is moved out
 *   3 what no reader holds is destroyed; its slots go back, and pages that have become empty are
 *     freed. Of the others, what is free goes back to the system
 *
 * WHO AND WHEN. reclaim(), and an answer to memory pressure, do it as a whole when that wins an
 * eighth of the pool and 64 KiB, at least. Where a pass had begun 64 KiB are enough. The background
 * thread does it, some slices a visit (lrd_dense.h), when more than half of all slots are free, and
 * have been so for a while.
 *
 * WHAT IS NOT MOVED
 *   Objects to which values refer. The allocator has made them; only what lies in entries moves.
 *   Entries on loan to code that remembers their addresses, to change them later under the lock. It
 *   has taken the loan under the shard's lock, and a pass reads the hazards under the same lock: so
 *   the pass sees that loan without a fence. It may miss a loan taken without the lock. That does
 *   no harm: such a reader keeps the old entry until its loan ends. (A thread that has all its
 *   loans out remembers the address alone. If the entry has moved, it finds it gone, and changes
 *   nothing.)
 *   Any entry of a cache whose hooks.copy is NULL.
 *
 * WHY IT IS BOUNDED. One pass meets each entry at most once, and moves no more than there are. The
 * slots that it wins are those of entries that have left: as many have left as move, at least. What
 * it won is not won again, and what it did not win it does not try for again before more has left
 * (`left` of lrd_pool). Entries that are all replaced in bursts may still be moved now and then.
 *
 * WHEN MEMORY IS MISSING nothing is vacated. When others take the room meanwhile, entries stay
 * where they are. A pass takes no page beyond that of step 1, which stays for it although it is
 * empty.
 *
 * CONCURRENCY. `compacting` of lrd_cache is true while a thread does steps 1 and 2, scans what was
 * moved, or ends the vacancies: acquire to take, release to give. No code of users runs meanwhile,
 * so others may wait for it. (What is moved is destroyed without it.) The pages know themselves
 * that they are vacated. So a pass may be left off between any two slices, and another thread, or
 * the child of fork(), goes on with it. reclaim() ends what was begun, and begins anew. Between two
 * passes of one thread another may end them: what it finds moved is destroyed before
 * (lrd_pass_take_settled()). A pass ends when it sees `closed`; the caller has a reference to the
 * cache. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Compacts the pool as a whole, if that is worth it; not from within the destruction of what was
/// moved, on the same thread. No lock is held. `lane`: that of the calling thread, whose free slots
/// go back first; NULL if it has none. Destroys what it has moved, by the hooks.
void lrd_compact(lrd_cache *cache, lrd_lane *_Nullable lane);

/// Changes when entries are moved, by this or by lrd_retrofit.h: what was remembered of their
/// addresses is then good for nothing.
static inline uint64_t lrd_cache_moved(const lrd_cache *cache) {
  return LRD_LOAD(&cache->moved);
}

#pragma clang assume_nonnull end
