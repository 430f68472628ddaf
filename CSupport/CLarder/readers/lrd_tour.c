// SPDX-License-Identifier: Apache-2.0
#include "lrd_tour.h"

/// Never the same again after the order has changed.
static uint64_t changes_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  // An insertion adds one to the count, and a removal takes one off it: every change raises the
  // sum.
  return shard->count + 2 * shard->unlinked + shard->order_changes;
}

/// True when the entry, or the end of the order, was in front of entry `index` of the slice.
static bool was_in_front(const lrd_tour *tour, uint32_t index, const lrd_entry *entry) {
  if (entry == tour->before && (entry || !index)) return true;
  for (uint32_t i = 0; i < index; i++) {
    if (entry == tour->last[i]) return true;
  }
  return false;
}

/// The entry that the next slice begins with.
static lrd_entry *resume_locked(lrd_cache *cache, lrd_shard *shard, lrd_tour *tour)
    LRD_REQUIRES(shard->lock) {
  bool forward = tour->hottest_first;
  bool same = tour->changes == changes_locked(shard);
  tour->changed |= !same;
  for (uint32_t i = tour->count; i--;) {
    lrd_entry *entry = tour->last[i];
    if (!same) {
      if (!lrd_shard_holds_locked(shard, entry, tour->hash48[i])) continue;
      lrd_entry *front = lrd_order_next_locked(cache, shard, entry, !forward);
      if (!was_in_front(tour, i, front)) continue;
    }
    tour->before = entry;
    return lrd_order_next_locked(cache, shard, entry, forward);
  }
  tour->lost = true;
  return NULL;
}

uint32_t lrd_tour_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_tour *tour, uint64_t most) {
  bool forward = tour->hottest_first;
  lrd_entry *entry = tour->count ? resume_locked(cache, shard, tour)
                                 : lrd_order_first_locked(cache, shard, forward);
  uint32_t count = 0;
  for (; entry && count < LRD_TOUR_ROOM && count < most; count++) {
    tour->last[count] = entry;
    tour->hash48[count] = lrd_entry_hash48(entry);
    entry = lrd_order_next_locked(cache, shard, entry, forward);
  }
  tour->count = count;
  tour->done = !entry || count == most;
  tour->changes = changes_locked(shard);
  return count;
}
