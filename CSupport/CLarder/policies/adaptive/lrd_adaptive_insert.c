// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_insert.h"

#include "lrd_sampling.h"

/// A shard whose cost lacks at most this part of its share is full: what it evicted last may have
/// cost more than what took its place.
enum { cost_gap = 16 };

/// Makes entries old that the younger half has no room for, and forgets their hits.
static void age(lrd_order *order, lrd_slots slots) {
  const lrd_adaptive *state = order->state;
  for (int i = 0; i < LRD_AGEING_MOST; i++) {
    if (!lrd_queue_exceeds(&order->queue[LRD_YOUNG], state->young)) return;
    uint32_t id = order->hand;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint32_t hits = lrd_entry_bits(entry);
    if (hits) lrd_sampling_set_hits(order, entry, id, hits, 0);
    lrd_parted_age(order, entry);
  }
}

/// True when the insertion needs no eviction because the cache still fills up.
static bool is_filling(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  uint64_t full = order->share.cost;
  return !state->full_for &&
         (full == LRD_UNBOUNDED || lrd_order_size(order).cost < full - full / cost_gap);
}

/// True when a new entry begins in the main queue. `proven`: its key had a ghost. While the cache
/// fills up and there is demand, entries beyond the small queue's share do. The main queue would
/// otherwise start out empty, and the small one be the whole cache.
LRD_INLINE bool is_for_main(const lrd_order *order, bool proven) {
  const lrd_adaptive *state = order->state;
  const lrd_expert *expert = state->expert;
  // Where nobody loads what was missed, a key stored again proves nothing.
  if (LRD_UNLIKELY(proven) && lrd_advisor_hears_loads(order->shared)) return true;
  if (expert->clock) return true;
  return is_filling(order) && lrd_adaptive_small_is_full(order) &&
         lrd_advisor_hears_demand(order->shared) >= expert->fills;
}

static __attribute__((noinline)) void insert_bounded(lrd_order *order, lrd_pool *pool,
                                                     lrd_entry *entry, uint32_t id) {
  lrd_adaptive *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  if (LRD_UNLIKELY(!state->rest--)) lrd_sampling_upkeep(order, slots);
  uint64_t hash48 = lrd_entry_hash48_locked(entry);
  uint32_t life = state->expert->life;
  bool proven = lrd_ghosts_recall(&state->ghosts, hash48, life) && life;
  if (is_for_main(order, proven)) {
    lrd_order_add(order, LRD_MAIN, slots, entry, id);
  } else {
    lrd_parted_add_young(order, slots, entry, id);
  }
  age(order, slots);
  if (LRD_UNLIKELY(lrd_sampling_hears(state, hash48))) {
    lrd_samples_add(&state->samples, id);
    lrd_sampling_tell(order, lrd_hash_mix(hash48), LRD_HEARD_STORE, 0);
  }
}

void lrd_adaptive_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  const lrd_adaptive *state = order->state;
  if (!state->plain) {
    insert_bounded(order, pool, entry, id);
  } else {
    lrd_order_add(order, LRD_MAIN, lrd_pool_slots(pool), entry, id);
  }
}
