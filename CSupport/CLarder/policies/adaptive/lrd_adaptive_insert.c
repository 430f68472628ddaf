// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_insert.h"

/// A shard is full as long as no more than a half of its share of the cost is free: what it evicted
/// last may have cost more than what took its place. If a 16th were too much already, a cache would
/// protect new keys each time that an entry of a few per cent of the limit leaves. One such entry
/// in 500 would take the hit ratio from 0.56 to 0.42.
enum { cost_gap = 2 };

bool lrd_adaptive_is_filling(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  uint64_t full = order->share.cost;
  return !state->full_for &&
         (full == LRD_UNBOUNDED || lrd_order_size(order).cost < full - full / cost_gap);
}

void lrd_adaptive_forget(lrd_order *order, lrd_entry *entry, uint32_t id, uint32_t hits) {
  if (!lrd_advisor_keeps(order->shared))
    lrd_sampling_set_hits(order, order->state, entry, id, hits, 0);
}

void lrd_adaptive_age_more(lrd_order *order, lrd_slots slots) {
  const lrd_adaptive *state = order->state;
  for (int i = 1; i < LRD_AGEING_MOST; i++) {
    if (!lrd_queue_exceeds(&order->queue[LRD_YOUNG], state->young)) return;
    lrd_parted_age(order, lrd_adaptive_oldest_young(order, slots));
  }
}

static __attribute__((noinline)) void insert_bounded(lrd_order *order, lrd_pool *pool,
                                                     lrd_entry *entry, uint32_t id) {
  lrd_adaptive_admit(order, order->state, lrd_pool_slots(pool), entry, id, false);
}

void lrd_adaptive_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  const lrd_adaptive *state = order->state;
  if (!state->plain) {
    insert_bounded(order, pool, entry, id);
  } else {
    lrd_order_add(order, LRD_MAIN, lrd_pool_slots(pool), entry, id);
  }
}
