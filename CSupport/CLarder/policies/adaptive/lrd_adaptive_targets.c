// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_targets.h"

static uint64_t small_part(const lrd_expert *expert, uint64_t bound) {
  return bound == LRD_UNBOUNDED && !expert->clock ? bound : lrd_expert_small(expert, bound);
}

static uint64_t half(uint64_t bound) {
  return bound == LRD_UNBOUNDED ? bound : bound / 2;
}

const lrd_expert *lrd_adaptive_turn_to(lrd_order *order, uint32_t number) {
  lrd_adaptive *state = order->state;
  bool bounded = lrd_adaptive_is_bounded(order);
  const lrd_expert *expert = &lrd_experts[bounded ? number : LRD_EXPERT_CLOCK];
  lrd_amount share = order->share;
  state->advised = number;
  state->expert = expert;
  bool small = order->queue[OLD].size.count || order->queue[YOUNG].size.count;
  bool asked = lrd_advisor_threshold(order->shared) || lrd_advisor_waits(order->shared);
  state->plain = !bounded && !small && !asked && !state->threshold && !state->probe_count &&
                 !state->ghosts.buckets;
  state->settles = lrd_advisor_hears_demand(order->shared) >= expert->fills;
  state->small = (lrd_amount){small_part(expert, share.count), small_part(expert, share.cost)};
  state->young = (lrd_amount){half(state->small.count), half(state->small.cost)};
  return expert;
}

void lrd_adaptive_settle(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  const lrd_queue *old = &order->queue[OLD], *young = &order->queue[YOUNG];
  for (int i = 0; i < LRD_AGEING_MOST && old->size.count; i++) {
    uint32_t id = lrd_parted_tail(order);
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint64_t count = old->size.count + young->size.count - 1;
    uint64_t cost = old->size.cost + young->size.cost - lrd_entry_cost(entry);
    if (count < state->small.count && cost < state->small.cost) {
      state->settles = false;
      return;
    }
    order->steps++;
    lrd_parted_promote(order, OLD, slots, entry, id);
  }
  // Under CLOCK no small queue is small enough.
  if (!old->size.count && !young->size.count) state->settles = false;
}
