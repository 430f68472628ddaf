// SPDX-License-Identifier: Apache-2.0
/* lrd_sweep.h — a walk over all entries of a shard in slices, between which its lock is free.
 *
 * The walk goes by hash, not by place: `position` is the lowest hash not yet visited. So the table
 * may move or be replaced between two slices, and still
 *   - an entry that is linked during the whole walk is visited exactly once,
 *   - one that is linked during part of it is visited at most once.
 * A slice visits whole buckets, LRD_SWEEP_BUCKETS at most, so that an almost empty table does not
 * hold the lock for long either. */
#pragma once

#include "lrd_shard.h"

#pragma clang assume_nonnull begin

#define LRD_SWEEP_BUCKETS 128

typedef struct lrd_sweep {
  uint64_t position;
  size_t room; // that `entries` must have for the next slice: more only where hashes are equal
  bool done;
} lrd_sweep;

/// Room that suffices where chains are not long.
#define LRD_SWEEP_ROOM 64

/// The entries of the next buckets, as many as `room` has place for; returns how many. When
/// `sweep->room` says more than `room` afterwards, call again with that.
size_t lrd_sweep_next_locked(lrd_shard *shard, lrd_sweep *sweep,
                             lrd_entry *_Nonnull *_Nonnull entries, size_t room)
    LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
