// SPDX-License-Identifier: Apache-2.0
/* lrd_life.h — makes a cache and ends it.
 *
 * A cache has one reference for its owner and one while the background thread has it in its queue
 * or visits it. The last one out frees. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// A new cache, NULL without memory.
lrd_cache *_Nullable lrd_cache_create(const lrd_options *options);

/// Takes everything out and gives up the owner's reference. No other call may be running. The
/// entries are handed to `hooks.destroy` on this thread.
void lrd_cache_close(lrd_cache *cache);

#pragma clang assume_nonnull end
