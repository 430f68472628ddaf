// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive.h — the state of the adaptive policy in one shard, and the planning of its memory.
 * Guard: the shard's lock. The policy itself is in lrd_policy_adaptive.c. */
#pragma once

#include "lrd_advisor.h"
#include "lrd_policy.h"
#include "lrd_samples.h"

#pragma clang assume_nonnull begin

enum { OLD, YOUNG, MAIN };

/// The part of its capacity that a shard holds when history and shadows are made: late enough that
/// caches which stay nearly empty never pay for them, early enough that shadows see the rest of the
/// filling and are full when the cache is.
static const uint64_t idle_part = 16;

typedef struct adaptive {
  // Written by most insertions, and therefore together.
  lrd_remnants remnants;
  lrd_samples samples;
  lrd_note note;       // the sampled request that is under way
  lrd_sample foreseen; // to be looked at next, while its entry is on its way from memory
  uint32_t foreseen_id;
  uint32_t looks_due; // in 256ths
  bool evicted;       // since the last insertion

  bool stale; // the targets below are to be computed again
  uint32_t expert;
  uint32_t looks; // per insertion, in 256ths
  lrd_amount small;
  lrd_amount young;
  uint32_t threshold; // of the sampled entries noted, as it was when the first of them was
  uint32_t remnant_buckets;
  uint32_t sample_buckets;
  uint64_t planned;  // entries of capacity that the history wanted is for; 0: none yet
  uint64_t capacity; // that the buckets above are for; outlives `planned` when limits change
} adaptive;

static inline bool lrd_adaptive_bounded(const lrd_order *order) {
  return order->share.count != LRD_UNBOUNDED || order->share.cost != LRD_UNBOUNDED;
}

/// Count and cost of the queues from `first` to `last`.
static inline lrd_amount lrd_adaptive_size(const lrd_order *order, int first, int last) {
  lrd_amount size = {0, 0};
  for (int i = first; i <= last; i++) {
    size.count += order->queue[i].size.count;
    size.cost += order->queue[i].size.cost;
  }
  return size;
}

/// lrd_adaptive_plan() where there may be something to ask for.
void lrd_adaptive_plan_anew(lrd_order *order);

/// Asks for history and shadows when it is time, and for others when the estimate was wrong. Where
/// only the count is limited none is needed.
static inline void lrd_adaptive_plan(lrd_order *order) {
  const adaptive *state = order->state;
  bool exact = order->share.cost == LRD_UNBOUNDED;
  if (LRD_UNLIKELY(!exact || !state->planned)) lrd_adaptive_plan_anew(order);
}

/// The policy's `renewed`.
void lrd_adaptive_renewed(lrd_order *order);

#pragma clang assume_nonnull end
