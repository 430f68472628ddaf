// SPDX-License-Identifier: Apache-2.0
/* lrd_retire.h — between unlinking and destruction; the inner side of lrd_change.h. */
#pragma once

#include "lrd_change.h"

#pragma clang assume_nonnull begin

/// Retires `removed`, or makes it ready where no reader can hold it; takes up what became due.
void lrd_retire_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Takes all that waits in a shard: retired entries and tables to be scanned, proven ones as ready.
void lrd_retire_collect_locked(lrd_shard *shard, lrd_change *change) LRD_REQUIRES(shard->lock);

/// Scans what the change has gathered, frees tables no reader is inside, puts back what some reader
/// holds. Of the entries nobody holds up to `proven_most` wait in the shard, the rest become ready.
/// True when something stays retired.
bool lrd_retire_settle(lrd_cache *cache, lrd_change *change, uint32_t proven_most);

#pragma clang assume_nonnull end
