// SPDX-License-Identifier: Apache-2.0
/* lrd_slot.h — slots for new entries, taken and given one by one by the threads that have a lane
 * and from the pool by those that have none. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Fetches spare slots from the pool for a lane that has none. False without memory.
bool lrd_lane_take_spares(lrd_cache *cache, lrd_lane *lane);

/// Gives the later half of the spare slots of a lane that has LRD_SPARES of them to the pool, which
/// hands out first what it got last.
void lrd_lane_give_spares(lrd_cache *cache, lrd_lane *lane);

/// A free slot with its id in `prev`; NULL without memory. `lane` NULL: straight from the pool. Not
/// while a lock is held.
static inline lrd_entry *_Nullable lrd_slot_take(lrd_cache *cache, lrd_lane *_Nullable lane) {
  uint32_t id;
  if (lane) {
    if (LRD_UNLIKELY(!lane->spares) && !lrd_lane_take_spares(cache, lane)) return NULL;
    lane->spares--;
    id = lane->spare[lane->first_spare++ % LRD_SPARES];
  } else if (!lrd_pool_take(&cache->pool, &id, 1)) {
    return NULL;
  }
  lrd_entry *entry = lrd_pool_entry(&cache->pool, id);
  entry->prev = id;
  entry->next = LRD_NIL;
  entry->state = LRD_ENTRY_FREE;
  entry->policy_bits = 0;
  return entry;
}

/// Takes back a slot whose pair is destroyed.
static inline void lrd_slot_give(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_entry *entry) {
  uint32_t id = entry->prev;
  if (!lane) {
    lrd_pool_give(&cache->pool, &id, 1);
    return;
  }
  if (LRD_UNLIKELY(lane->spares == LRD_SPARES)) lrd_lane_give_spares(cache, lane);
  lane->spare[(lane->first_spare + lane->spares++) % LRD_SPARES] = id;
}

#pragma clang assume_nonnull end
