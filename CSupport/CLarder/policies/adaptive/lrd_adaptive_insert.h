// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_insert.h — where a new entry begins. In order, after the evictions for it:
 *   1. Does the upkeep if that is due (lrd_sampling.h).
 *   2. Enters the main queue: if a ghost proves the key and the program loads what it misses; under
 *      CLOCK; or while the cache fills up under an expert that fills, once the small queue has its
 *      share. Otherwise enters the young half of the small queue.
 *   3. Ages up to LRD_AGEING_MOST of the oldest young entries, while there are too many of them:
 *      they become old, and lose their hits unless the program loads next to nothing.
 *   4. Tells the advisor if the key is sampled.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_sampling.h"

#pragma clang assume_nonnull begin

/// Ages young entries after the first one.
void lrd_adaptive_age_more(lrd_order *order, lrd_slots slots);

/// Lets the entry in slot `id`, which counts so many hits, forget them, unless the advisor says
/// otherwise.
void lrd_adaptive_forget(lrd_order *order, lrd_entry *entry, uint32_t id, uint32_t hits);

/// The oldest young entry, which forgets its hits, unless the advisor says otherwise.
LRD_INLINE lrd_entry *lrd_adaptive_oldest_young(lrd_order *order, lrd_slots slots) {
  uint32_t id = order->hand;
  lrd_entry *entry = lrd_slots_entry(slots, id);
  uint32_t hits = lrd_entry_bits(entry);
  if (hits) lrd_adaptive_forget(order, entry, id, hits);
  return entry;
}

/// Makes one or a few of the oldest young entries old, if the younger half has no room for them.
LRD_INLINE void lrd_adaptive_age(lrd_order *order, lrd_slots slots) {
  const lrd_adaptive *state = order->state;
  const lrd_queue *young = &order->queue[LRD_YOUNG];
  if (!lrd_queue_exceeds(young, state->young)) return;
  lrd_parted_age(order, lrd_adaptive_oldest_young(order, slots));
  if (LRD_UNLIKELY(lrd_queue_exceeds(young, state->young))) lrd_adaptive_age_more(order, slots);
}

/// Adds an entry to the small queue, where no entry has a cost and the younger half is full: the
/// oldest of that half makes room, and the half keeps its size.
LRD_INLINE void lrd_adaptive_push_young(lrd_order *order, lrd_slots slots, lrd_entry *entry,
                                        uint32_t id) {
  lrd_parted_link_young(order, slots, entry, id);
  lrd_entry *oldest = lrd_adaptive_oldest_young(order, slots);
  oldest->queue = LRD_OLD;
  order->hand = oldest->prev;
  order->queue[LRD_OLD].size.count++;
}

/// True while the shard fills up.
bool lrd_adaptive_is_filling(const lrd_order *order);

/// True when a new entry begins in the main queue. While the cache fills up and there is demand,
/// entries beyond the small queue's share do. The main queue would otherwise start out empty, and
/// the small one be the whole cache.
LRD_INLINE bool lrd_adaptive_is_for_main(lrd_order *order, lrd_adaptive *state, uint64_t hash48,
                                         bool full) {
  const lrd_expert *expert = state->expert;
  bool proven = lrd_ghosts_recall(&state->ghosts, hash48, expert->life) && expert->life;
  // Where nobody loads what was missed, a key stored again proves nothing.
  if (LRD_UNLIKELY(proven) && lrd_advisor_hears_loads(order->shared)) return true;
  if (expert->clock) return true;
  return !full && lrd_adaptive_is_filling(order) && lrd_adaptive_small_is_full(order, state) &&
         lrd_advisor_hears_demand(order->shared) >= expert->fills;
}

/// Puts a new entry into the order of a cache with limits. `exchanged`: it takes the place of
/// another, and no entry has a cost.
LRD_INLINE void lrd_adaptive_admit(lrd_order *order, lrd_adaptive *state, lrd_slots slots,
                                   lrd_entry *entry, uint32_t id, bool exchanged) {
  if (LRD_UNLIKELY(!state->rest--)) lrd_sampling_upkeep(order, slots);
  bool for_main = lrd_adaptive_is_for_main(order, state, lrd_entry_hash48_locked(entry), exchanged);
  bool young_is_full = order->queue[LRD_YOUNG].size.count == state->young.count;
  if (LRD_LIKELY(exchanged && young_is_full && !for_main)) {
    lrd_adaptive_push_young(order, slots, entry, id);
  } else {
    if (for_main) {
      lrd_order_add(order, LRD_MAIN, slots, entry, id);
    } else {
      lrd_parted_add_young(order, slots, entry, id);
    }
    lrd_adaptive_age(order, slots);
  }
  if (LRD_UNLIKELY(lrd_sampling_hears(state, lrd_entry_hash48_locked(entry)))) {
    lrd_samples_add(&state->samples, id);
    lrd_sampling_tell(order, lrd_entry_mixed_hash(entry), LRD_HEARD_STORE, 0);
  }
}

/// The policy's `insert`.
void lrd_adaptive_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);

#pragma clang assume_nonnull end
