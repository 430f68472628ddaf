// SPDX-License-Identifier: Apache-2.0
/* lrd_slot.h — slots for entries: taken before an insertion, given back after a destruction.
 *
 * A lane keeps a few free ones, so that most calls lock nothing. Slots of more than one step, for
 * costs or deadlines that others in the cache lack, come straight from the pool (lrd_pool.h). */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Fetches free slots from the pool for a lane that has none. False without memory.
bool lrd_slot_refill(lrd_cache *cache, lrd_lane *lane);

/// Gives the later half of the free slots of a lane that is full of them to the pool, which hands
/// out first what it got last.
void lrd_slot_drain(lrd_cache *cache, lrd_lane *lane);

/// Gives all free slots of a lane to the pool. Asks for no visit.
void lrd_slot_give_all(lrd_cache *cache, lrd_lane *lane);

/// To be called when slots were given back: if the pool is LRD_SPARSE now, asks the background
/// thread to look whether it stays so.
void lrd_slot_ask(lrd_cache *cache);

/// Gives a slot straight to the pool: an odd one, or one that no lane takes.
void lrd_slot_give_slow(lrd_cache *cache, uint32_t id);

/// The entry of a slot that was taken.
static inline lrd_entry *lrd_slot_open(lrd_cache *cache, uint32_t id) {
  lrd_entry *entry = lrd_pool_entry(&cache->pool, id);
  entry->prev = id;
  entry->next = LRD_NIL;
  return entry;
}

/// lrd_slot_take() straight from the pool.
lrd_entry *_Nullable lrd_slot_take_slow(lrd_cache *cache, bool odd);

/// The same for an entry with a deadline, in a cache whose slots have no room for one.
lrd_entry *_Nullable lrd_slot_take_wide(lrd_cache *cache);

/// A free slot for an entry of this cost, with its id in `prev`; NULL without memory. The caller
/// describes the entry. `lane` NULL: straight from the pool. Not while a lock is held.
static inline lrd_entry *_Nullable lrd_slot_take(lrd_cache *cache, lrd_lane *_Nullable lane,
                                                 uint64_t cost) {
  bool odd = cost && (cache->pool.odd & LRD_HAS_COST);
  if (LRD_UNLIKELY(odd || !lane)) return lrd_slot_take_slow(cache, odd);
  if (LRD_UNLIKELY(!lane->free_count) && !lrd_slot_refill(cache, lane)) return NULL;
  lane->free_count--;
  return lrd_slot_open(cache, lane->free[lane->first_free++ % LRD_FREE_SLOTS]);
}

/// Takes back a slot whose pair is destroyed.
static inline void lrd_slot_give(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_entry *entry) {
  uint32_t id = entry->prev;
  bool odd = entry->fields & cache->pool.odd;
  if (LRD_UNLIKELY(odd || !lane)) {
    lrd_slot_give_slow(cache, id);
    return;
  }
  if (LRD_UNLIKELY(lane->free_count == LRD_FREE_SLOTS)) lrd_slot_drain(cache, lane);
  lane->free[(lane->first_free + lane->free_count++) % LRD_FREE_SLOTS] = id;
}

#pragma clang assume_nonnull end
