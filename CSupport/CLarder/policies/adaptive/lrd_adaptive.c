// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive.c — how much memory the adaptive policy asks for, and when. */
#include "lrd_adaptive.h"

/// The number of entries that fill the shard's share, estimated from the costs of those it holds.
static uint64_t capacity_of(const lrd_order *order) {
  uint64_t capacity = order->share.count;
  lrd_amount size = lrd_order_size(order);
  if (order->share.cost == LRD_UNBOUNDED || !size.cost) return capacity;
  unsigned __int128 by_cost = (unsigned __int128)order->share.cost * size.count / size.cost;
  return by_cost < capacity ? (uint64_t)by_cost : capacity;
}

static bool is_far(uint64_t estimate, uint64_t planned) {
  return estimate / 2 > planned || estimate < planned / 2;
}

void lrd_adaptive_plan_again(lrd_order *order) {
  lrd_adaptive *state = order->state;
  lrd_advisor *advisor = order->shared;
  bool exact = order->share.cost == LRD_UNBOUNDED;
  if (!lrd_adaptive_is_bounded(order)) return;
  uint64_t capacity = capacity_of(order);
  if (capacity == LRD_UNBOUNDED || lrd_order_is_idle(order, capacity)) return;
  if (!capacity) capacity = 1;
  if (state->planned && !is_far(capacity, state->planned)) return;
  state->planned = state->capacity = capacity;
  lrd_advisor_propose(advisor, capacity, exact);
  uint64_t whole = LRD_LOAD(&advisor->wished);
  state->ghost_buckets = lrd_ghosts_buckets(
      lrd_expert_ghosts(capacity, whole, LRD_EXPERT_GHOSTS_MOST * LRD_EXPERT_EPOCHS));
  state->sample_buckets = lrd_samples_buckets(lrd_advisor_share(advisor));
  order->history.wanted =
      lrd_ghosts_bytes(state->ghost_buckets) + state->sample_buckets * sizeof(lrd_sample_bucket);
}

void lrd_adaptive_resize(lrd_order *order) {
  if (!order->history.bytes) return;
  lrd_adaptive_plan_again(order);
  const lrd_adaptive *state = order->state;
  if (!state->planned) order->history.wanted = 0;
}

void lrd_adaptive_renewed(lrd_order *order) {
  lrd_adaptive *state = order->state;
  if (!order->history.bytes) state->ghost_buckets = state->sample_buckets = 0;
  // Ghosts come first. Each of their buckets is then within one cache line.
  char *memory = order->history.memory;
  size_t ghost_bytes = lrd_ghosts_bytes(state->ghost_buckets);
  lrd_ghosts_open(&state->ghosts, (uint16_t *)memory, state->ghost_buckets,
                  lrd_expert_epoch(state->capacity));
  lrd_samples_open(&state->samples, (lrd_sample_bucket *)(memory + ghost_bytes),
                   state->sample_buckets);
  state->polled = NULL;
}
