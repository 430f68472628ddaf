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
  const lrd_expert *expert = &lrd_experts[number];
  lrd_amount share = order->share;
  state->expert = number;
  state->stale = false;
  state->small = (lrd_amount){small_part(expert, share.count), small_part(expert, share.cost)};
  state->young = (lrd_amount){half(state->small.count), half(state->small.cost)};
  return expert;
}
