// SPDX-License-Identifier: Apache-2.0
/* lrd_slot.h — slots for new entries, taken and given one by one by the threads that have a lane
 * and from the pool by those that have none. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Fetches free slots from the pool for a lane that has none. False without memory.
bool lrd_slot_refill(lrd_cache *cache, lrd_lane *lane);

/// Gives the later half of the free slots of a lane that is full of them to the pool, which hands out
/// first what it got last.
void lrd_slot_drain(lrd_cache *cache, lrd_lane *lane);

/// A free slot with its id in `prev`; NULL without memory. `lane` NULL: straight from the pool. Not
/// while a lock is held.
static inline lrd_entry *_Nullable lrd_slot_take(lrd_cache *cache, lrd_lane *_Nullable lane) {
  uint32_t id;
  if (lane) {
    if (LRD_UNLIKELY(!lane->free_count) && !lrd_slot_refill(cache, lane)) return NULL;
    lane->free_count--;
    id = lane->free[lane->first_free++ % LRD_FREE_SLOTS];
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
  if (LRD_UNLIKELY(lane->free_count == LRD_FREE_SLOTS)) lrd_slot_drain(cache, lane);
  lane->free[(lane->first_free + lane->free_count++) % LRD_FREE_SLOTS] = id;
}

#pragma clang assume_nonnull end
