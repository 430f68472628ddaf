// SPDX-License-Identifier: Apache-2.0
/* lrd_relief.h — evicts what memory pressure asks for, on whatever thread reports it, and shows and
 * destroys that by the hooks.
 *
 * NOBODY WAITS LONG FOR IT. It takes a shard by a trylock, evicts a few entries and leaves. If all
 * shards are busy it sleeps a moment. It waits for a shard's lock only to put into a limbo what an
 * observer has seen, what a reader holds, or what a scan of that limbo has left, and to take out of
 * it what is too much. lrd_relief_settle(), at the end, locks every shard.
 *
 * Entries go by the policy's order, but those that somebody else holds are passed over, up to
 * `may_pass_over` of the plan, because their eviction frees nothing.
 *
 * FEW FENCES. What nobody has to be shown goes to no limbo, but is gathered, and destroyed after
 * one fence and one scan: when it is more than a 64th of the cache, 8,192 entries, or what the
 * limbo of a shard may cost; before a nap, and before memory is given back. (A child of fork() has
 * no copy of the thread that gathered them: they are lost there, like a scan under way.)
 *
 * THE CACHE MAY CLOSE meanwhile. The caller has a reference to it. A relief ends when it sees
 * `closed`; what it had unlinked before, it destroys. */
#pragma once

#include "lrd_enter.h"

#pragma clang assume_nonnull begin

/// Evicts by the plan; shows and destroys what it evicts. `lane`: that of the calling thread, whose
/// hits are noted first; NULL if it has none.
void lrd_relief_run(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_relief *relief);

/// The time that a relief evicts before it gives memory back again, if that took so long last time,
/// in nanoseconds: 20 ms, because who is short cannot wait for the end; but giving back takes no
/// more than a fifth of all time. glibc looks at every free block each time.
uint64_t lrd_relief_pause(uint64_t took);

/// Destroys all removed entries and tables that no reader holds, and frees pages that are empty.
void lrd_relief_settle(lrd_cache *cache);

#pragma clang assume_nonnull end
