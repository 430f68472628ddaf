// SPDX-License-Identifier: Apache-2.0
/* lrd_round.h — what all caches that heed pressure do, one after the other: a walk over the list of
 * caches. The walking thread holds a reference to the cache that it visits, and no lock.
 *
 * A walk brings a cache to the level that is current when the call for the cache returns. Another
 * thread, or the closure that is asked, may have reported a lower level while an answer was under
 * way: its walk came before the answer then, and the lock of the answer's numbers orders the look
 * here after it. */
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

/// Tells the caches that the program is in the background, or is not. True when something was
/// evicted.
bool lrd_round_hide(void);

/// Raises the caps by one step. True when some cache needs another one.
bool lrd_round_step(void);

/// In the child of fork(): nobody is being asked.
void lrd_round_forget(void);

#pragma clang assume_nonnull end
