// SPDX-License-Identifier: Apache-2.0
/* lrd_sweep.h — a walk over all entries of a shard in slices. The lock is free between the slices.
 *
 * The walk goes by hash: `position` is the lowest hash not visited yet. So the table may move or be
 * replaced between two slices. An entry that is linked during the whole walk is visited exactly
 * once, any other at most once. A slice visits whole buckets, LRD_SWEEP_BUCKETS at most, so that it
 * does not hold the lock for long in an almost empty table either. */
#pragma once

#include "lrd_shard.h"

#pragma clang assume_nonnull begin

#define LRD_SWEEP_BUCKETS 128

typedef struct lrd_sweep {
  uint64_t position;
  size_t room; // for entries that the next slice needs
  bool done;
} lrd_sweep;

/// Enough room, unless a chain is very long because hashes are equal.
#define LRD_SWEEP_ROOM 64

/// The entries of the next buckets, up to `room`; returns how many. If `sweep->room` is larger than
/// `room` afterwards, call again with that much.
size_t lrd_sweep_next_locked(lrd_shard *shard, lrd_sweep *sweep,
                             lrd_entry *_Nonnull *_Nonnull entries, size_t room)
    LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
