// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_targets.h — how large the queues of a shard should be, under the expert it follows.
 * A change of expert moves nothing at once: insertions and evictions go by the new targets.
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

/// The queues of the order: the small one, older half first, and the main one.
enum { OLD, YOUNG, MAIN };

/// Computes the targets for another expert, or for other limits.
const lrd_expert *lrd_adaptive_turn_to(lrd_order *order, uint32_t number);

/// The expert to follow. Computes the targets when it has changed.
static inline const lrd_expert *lrd_adaptive_follow(lrd_order *order) {
  const lrd_adaptive *state = order->state;
  uint32_t number =
      lrd_adaptive_is_bounded(order) ? lrd_advisor_current(order->shared) : LRD_EXPERT_CLOCK;
  if (LRD_UNLIKELY(number != state->expert || state->stale))
    return lrd_adaptive_turn_to(order, number);
  return &lrd_experts[number];
}

/// True when the small queue has its share.
static inline bool lrd_adaptive_small_is_full(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  lrd_amount old = order->queue[OLD].size, young = order->queue[YOUNG].size;
  return old.count + young.count >= state->small.count ||
         old.cost + young.cost >= state->small.cost;
}

#pragma clang assume_nonnull end
