// SPDX-License-Identifier: Apache-2.0
/* lrd_tour.h — a walk over the entries of a shard in the policy's order, in slices. The lock is
 * free between the slices, and whoever holds it then may change the order.
 *
 * While nothing changes, the slices together are the order. Otherwise the tour goes on behind the
 * last entry of its slice that is where it was: still linked, and behind another entry of the
 * slice. An entry that moves meanwhile may be met twice, or not at all. `changed` says that this is
 * possible; lrd_sweep.h finds what the tour has not met.
 *
 * One slice is the order at one moment. */
#pragma once

#include "lrd_enter.h"

#pragma clang assume_nonnull begin

/// The most entries of a slice. A shard that holds no more than LRD_TOUR_WHOLE may be toured under
/// one lock, and is then listed as it is at one moment.
enum { LRD_TOUR_ROOM = 64, LRD_TOUR_WHOLE = 512 };

typedef struct lrd_tour {
  bool hottest_first;
  bool done;    // there is no further slice
  bool lost;    // because all of the last one has left or moved
  bool changed; // the order may have changed since the first slice
  uint32_t count;
  uint64_t changes;            // of the shard, after the last slice
  lrd_entry *_Nullable before; // in front of the last slice; only its address is used
  lrd_entry *_Nullable last[LRD_TOUR_ROOM];
  uint64_t hash48[LRD_TOUR_ROOM];
} lrd_tour;

static inline lrd_tour lrd_tour_start(bool hottest_first) {
  return (lrd_tour){.hottest_first = hottest_first};
}

/// The entries of the next slice, `most` of them or LRD_TOUR_ROOM. Returns how many.
uint32_t lrd_tour_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_tour *tour, uint64_t most)
    LRD_REQUIRES(shard->lock);

/// An entry of the slice just made, which is still locked.
static inline lrd_entry *lrd_tour_entry(const lrd_tour *tour, uint32_t index) {
  return (lrd_entry *)tour->last[index];
}

#pragma clang assume_nonnull end
