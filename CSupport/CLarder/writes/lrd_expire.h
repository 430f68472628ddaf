// SPDX-License-Identifier: Apache-2.0
/* lrd_expire.h — removes what has expired, a few entries at a time. */
#pragma once

#include "lrd_timing.h"

#pragma clang assume_nonnull begin

/// Unlinks an entry that has expired and adds it to `removed`.
void lrd_expire_locked(lrd_shard *shard, lrd_entry *entry, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Does so with up to `most` entries that the wheel of a shard with a timer says are due, in a
/// bounded number of steps, but not with `spared`. `exact`: as lrd_wheel_step() says. True when it
/// has removed or moved any, so that there may be more.
bool lrd_expire_some_locked(lrd_shard *shard, uint32_t most, const lrd_entry *_Nullable spared,
                            bool exact, lrd_chain *removed) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
