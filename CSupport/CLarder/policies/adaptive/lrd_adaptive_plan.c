// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_plan.c — how much the adaptive policy remembers, and when it begins to. */
#include "lrd_adaptive.h"

/// Entries that fill the shard's share, as far as can be told from those it holds.
static uint64_t capacity_of(const lrd_order *order) {
  uint64_t capacity = order->share.count;
  lrd_amount size = lrd_adaptive_size(order, OLD, MAIN);
  if (order->share.cost == LRD_UNBOUNDED || !size.cost) return capacity;
  unsigned __int128 by_cost = (unsigned __int128)order->share.cost * size.count / size.cost;
  return by_cost < capacity ? (uint64_t)by_cost : capacity;
}

static bool is_far(uint64_t estimate, uint64_t planned) {
  return estimate / 2 > planned || estimate < planned / 2;
}

void lrd_adaptive_plan_anew(lrd_order *order) {
  adaptive *state = order->state;
  lrd_advisor *advisor = order->shared;
  bool exact = order->share.cost == LRD_UNBOUNDED;
  if (!lrd_adaptive_bounded(order)) return;
  uint64_t capacity = capacity_of(order);
  uint64_t held = lrd_adaptive_size(order, OLD, MAIN).count;
  if (capacity == LRD_UNBOUNDED || held * idle_part < capacity) return;
  if (!capacity) capacity = 1;
  if (state->planned && !is_far(capacity, state->planned)) return;
  state->planned = state->capacity = capacity;
  lrd_advisor_propose(advisor, capacity, exact);
  state->remnant_buckets = lrd_remnants_buckets(capacity, LRD_GHOSTS_LONGEST);
  state->sample_buckets = lrd_samples_buckets(lrd_advisor_share(advisor));
  order->history.wanted = lrd_remnants_bytes(state->remnant_buckets) +
                          state->sample_buckets * sizeof(lrd_sample_bucket);
}

void lrd_adaptive_renewed(lrd_order *order) {
  adaptive *state = order->state;
  // Remnants first: each of their buckets is then within one cache line.
  char *memory = order->history.memory;
  size_t remnant_bytes = lrd_remnants_bytes(state->remnant_buckets);
  lrd_remnants_open(&state->remnants, (uint16_t *)memory, state->remnant_buckets, state->capacity);
  lrd_samples_open(&state->samples, (lrd_sample_bucket *)(memory + remnant_bytes),
                   state->sample_buckets);
  state->foreseen.bucket = NULL;
}
