// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_targets.h — how large the queues of a shard should be, under the expert it follows.
 * A change of expert moves nothing at once: insertions and evictions go by the new targets.
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"
#include "lrd_adaptive_queues.h"

#pragma clang assume_nonnull begin

/// Computes the targets for another expert, or for other limits. Without limits it is CLOCK.
const lrd_expert *lrd_adaptive_turn_to(lrd_order *order, uint32_t number);

/// The expert to follow. Computes the targets when it has changed.
static inline const lrd_expert *lrd_adaptive_follow(lrd_order *order) {
  const lrd_adaptive *state = order->state;
  uint32_t number = lrd_advisor_current(order->shared);
  return LRD_LIKELY(number == state->advised) ? state->expert : lrd_adaptive_turn_to(order, number);
}

/// True when the small queue has its share.
static inline bool lrd_adaptive_small_is_full(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  lrd_amount old = order->queue[OLD].size, young = order->queue[YOUNG].size;
  return old.count + young.count >= state->small.count ||
         old.cost + young.cost >= state->small.cost;
}

/// Moves the oldest entries of a small queue that was larger under another expert to the main
/// queue, a few at a time: those without which it is still full. Once none is left, until the next
/// change of the targets nothing `settles`.
void lrd_adaptive_settle(lrd_order *order, lrd_slots slots);

#pragma clang assume_nonnull end
