// SPDX-License-Identifier: Apache-2.0
/* lrd_round.h — what all caches that heed pressure do, one after the other: a walk over the list of
 * caches. The walking thread holds a reference to the cache that it visits, and no lock.
 *
 * A walk brings each cache to the level that is current when its call for that cache returns. While
 * an answer is under way another thread, or the closure that is asked, may report a lower level. If
 * the walk for that level comes to the cache first, the answer would undo what it has done. So each
 * answer is followed by another look at the level. The cache's `admin` lock, which both walks take,
 * orders that look after the report. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Brings one cache to the current level. True when something was evicted.
bool lrd_round_bring(lrd_cache *cache);

/// Brings the caches to the current level whose response is a number. True when something was
/// evicted.
bool lrd_round_answer(void);

/// The same for those whose owner must be asked.
bool lrd_round_ask(void);

/// Has those asked, on a thread of their own. It calls `evicted` if something was.
void lrd_round_ask_elsewhere(void (*evicted)(void));

/// Tells the caches that the program is hidden (lrd_level.h), or is not. True when something was
/// evicted.
bool lrd_round_hide(void);

/// The same for one cache.
bool lrd_round_hide_one(lrd_cache *cache);

/// Raises the caps by one step. True when some cache needs another one.
bool lrd_round_step(void);

/// In the child of fork(): nobody is being asked.
void lrd_round_forget(void);

#pragma clang assume_nonnull end
