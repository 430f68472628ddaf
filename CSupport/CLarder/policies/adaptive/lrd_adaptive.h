// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive.h — the state of the adaptive policy in one shard, and what the shard aims at: the
 * sizes of its queues, and its memory.
 *
 *   lrd_policy_adaptive.c     the order: the next victim, and all else that a policy does
 *   lrd_adaptive_insert.h     where a new entry begins
 *   lrd_parted.h              the queues: the small one, in two halves, and the main one
 *   lrd_front.h               the next victims of the main queue, found in advance
 *   lrd_adaptive_trim.h       what trims and memory pressure evict
 *   lrd_sampling.h            the sample: the requests that the advisor learns of
 *
 * THE QUEUES follow the advisor's expert. A change of expert moves nothing at once: insertions and
 * evictions go by the new targets.
 *
 * THE MEMORY is a history of ghosts and samples. It is asked for when the shard is no longer idle;
 * lrd_order.h tells when it comes.
 *
 * Guard of everything here: the shard's lock. */
#pragma once

#include "lrd_advisor.h"
#include "lrd_parted.h"
#include "lrd_policy.h"
#include "lrd_samples.h"

#pragma clang assume_nonnull begin

/// Probes of a shard that wait.
enum { LRD_PROBES = 8 };

/// A trim's round through the main queue: see lrd_adaptive_trim.h.
typedef struct lrd_trim_round {
  uint32_t level;  // entries that count no more hits go, in a deep trim
  uint32_t looked; // entries looked at in this round that stay
  uint32_t passed; // those passed over
  uint32_t fewest; // hits of the others, if more than the level
  bool barren;     // in the round before, all were passed over
} lrd_trim_round;

typedef struct lrd_adaptive {
  // Most insertions write these, and nothing else here. They lie in one line.
  lrd_ghosts ghosts;
  uint32_t rest;      // insertions before the next upkeep
  uint32_t full_for;  // periods for which the shard still counts as full after an eviction
  uint32_t threshold; // keys are sampled below this; the advisor's, lately
  uint8_t known;      // entries without hits that the front hand has passed: lrd_front.h
  uint8_t reach;      // steps that it may go before the next eviction from the main queue
  bool goes;          // it goes on after evictions from the small queue as well
  // These follow the sampled keys.
  uint32_t probe_count;
  uint32_t first_probe;         // the oldest
  lrd_probe probes[LRD_PROBES]; // what the shadows have not heard of yet: a ring
  uint32_t upkeeps;             // left in this period; one to three to begin with
  uint32_t pace;                // insertions from one upkeep to the next
  uint32_t period;              // insertions of a period, and the polls in one
  uint32_t polls;
  lrd_samples samples;
  lrd_sample_bucket *_Nullable polled; // the next to poll: its entries are being loaded
  uint32_t advised; // the expert that the targets are for; LRD_EXPERTS: compute them again
  const lrd_expert *_Nullable expert; // to follow
  bool settles; // the small queue may be larger than its target, and gives to the main queue
  bool plain;   // without limits now and before: one clock, nobody to tell, nothing else to do
  lrd_amount small;
  lrd_amount young;
  lrd_trim_round round;
  uint32_t ghost_buckets;
  uint32_t sample_buckets;
  uint64_t capacity; // entries that the buckets above are for; stays when limits change
  bool planned;      // the history for these limits is asked for
  uint32_t measured; // periods before the advisor hears of the shard's capacity again
} lrd_adaptive;
_Static_assert(offsetof(lrd_adaptive, probes) <= 64, "in one line");

/// Computes the targets for another expert, or for other limits. Without limits it is CLOCK.
void lrd_adaptive_turn_to(lrd_order *order, uint32_t number);

/// The same when the expert to follow has changed.
static inline void lrd_adaptive_follow(lrd_order *order) {
  const lrd_adaptive *state = order->state;
  uint32_t number = lrd_advisor_current(order->shared);
  if (number != state->advised) lrd_adaptive_turn_to(order, number);
}

/// True when so many entries, or the cost of the small queue, reach the target of that queue.
LRD_INLINE bool lrd_adaptive_reaches(const lrd_order *order, const lrd_adaptive *state,
                                     uint64_t count) {
  if (count >= state->small.count) return true;
  const lrd_queue *old = &order->queue[LRD_OLD], *young = &order->queue[LRD_YOUNG];
  return old->size.cost + young->size.cost >= state->small.cost;
}

/// True when the small queue has its share: its size reaches the target.
LRD_INLINE bool lrd_adaptive_small_is_full(const lrd_order *order, const lrd_adaptive *state) {
  const lrd_queue *old = &order->queue[LRD_OLD], *young = &order->queue[LRD_YOUNG];
  return lrd_adaptive_reaches(order, state, old->size.count + young->size.count);
}

/// Moves the oldest entries of a small queue that was larger under another expert to the main
/// queue, a few at a time: those without which it is still full. Once none is left, clears
/// `settles`, until the targets change again.
void lrd_adaptive_settle(lrd_order *order, lrd_slots slots);

/// Asks for history and shadows when the shard is no longer idle. Where costs are limited, asks
/// again when the estimate of the capacity has become wrong.
void lrd_adaptive_plan_again(lrd_order *order);

/// The same if it has not been done. A limit of the count alone is exact: once is enough.
static inline void lrd_adaptive_plan(lrd_order *order) {
  const lrd_adaptive *state = order->state;
  if (!state->planned || order->share.cost != LRD_UNBOUNDED) lrd_adaptive_plan_again(order);
}

/// The policy's `open`.
void lrd_adaptive_open(lrd_order *order);

/// The policy's `resize`. Asks for another history where there is one, or for none where the shard
/// is idle.
void lrd_adaptive_resize(lrd_order *order);

/// The policy's `renewed`.
void lrd_adaptive_renewed(lrd_order *order);

#pragma clang assume_nonnull end
