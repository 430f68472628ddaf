// SPDX-License-Identifier: Apache-2.0
/* lrd_check.h — recomputes every invariant of lrd_shard.h from the ground. Tests run it after each
 * step. A broken invariant stops the process, in all builds. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Stops the process when an invariant of the shard is broken. Locks the shard.
void lrd_shard_check(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool);

/// The same for all shards, one after the other.
void lrd_cache_check(lrd_cache *cache);

#pragma clang assume_nonnull end
