// SPDX-License-Identifier: Apache-2.0
/* lrd_tidy.h — one bounded slice of the background thread's work on a shard's tables, by trylock:
 * moves and shrinks them, and makes the successor of a large one. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

typedef enum lrd_slice {
  LRD_SLICE_DONE,   // the table is as it should be
  LRD_SLICE_MOVING, // it has more buckets to move: take the next slice
  LRD_SLICE_LEFT,   // it is left to writers, memory for it came too late, or pages were wanted
  LRD_SLICE_BUSY,   // the lock was busy: its holder knows of the request
} lrd_slice;

/// Takes one slice. With `scan`, once for each visit, gives the limbo's tables and what waits there
/// to it.
lrd_slice lrd_tidy_slice(lrd_cache *cache, lrd_shard *shard, lrd_scan *_Nullable scan);

/// Makes the pool's reserve page, if the pool wants one and the cache may need it: true when it has.
bool lrd_tidy_pool(lrd_cache *cache);

#pragma clang assume_nonnull end
