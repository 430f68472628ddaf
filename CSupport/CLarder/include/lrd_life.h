// SPDX-License-Identifier: Apache-2.0
/* lrd_life.h — makes a cache and closes it.
 *
 * Its owner has one reference, and the background thread another one while the cache is in the
 * queue or is visited. So has a walk over all caches (lrd_pressure.h) to the one that it is at.
 * Whoever gives up the last reference frees the cache. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// A new cache; NULL without memory.
lrd_cache *_Nullable lrd_cache_create(const lrd_options *options);

/// Destroys all entries on this thread, by `hooks.destroy`, and gives up the owner's reference.
/// Those that another thread has in its hands, the background thread or one that answers to
/// pressure, are destroyed there, or by the last lrd_cache_release(). No other call may be running.
void lrd_cache_close(lrd_cache *cache);

/// Gives up one reference. The last one frees the cache.
void lrd_cache_release(lrd_cache *cache);

#pragma clang assume_nonnull end
