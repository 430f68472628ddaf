// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_sampling.h — the requests that a shard tells the advisor of, as probes.
 *
 *   insertion of a sampled key    a miss: one probe
 *   hits on a sampled entry       one probe, when an insertion polls the entry or a scan passes it
 *
 * A hit adds to a count in its entry and tells nobody. Whoever finds that count turns it into a
 * probe. What a poll takes from an entry stays with its sample as credit (lrd_samples.h). The entry
 * has not lost it: lrd_adaptive_count_hits() adds credit and count up.
 *
 * A shard has one probe at a time, and each insertion advances it by one shadow (lrd_advisor.h).
 *
 * Everything that most insertions run is inline here. Calls would cost an insertion 1 % more.
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

/// Takes over the advisor's threshold after it has changed.
void lrd_adaptive_follow_threshold(lrd_order *order);

/// Hands the sample of the entry in slot `old_id` to `entry` in slot `id`, which replaces it.
void lrd_adaptive_move_sample(lrd_order *order, uint32_t old_id, lrd_entry *entry, uint32_t id);

/// Stops the process when the sample has an entry that the shard does not have.
void lrd_adaptive_check_samples(const lrd_order *order, lrd_pool *pool);

/// True when the advisor learns of requests for this key.
static inline bool lrd_adaptive_is_sampled(const lrd_order *order, uint64_t mixed) {
  const lrd_adaptive *state = order->state;
  return (uint32_t)mixed < state->threshold;
}

/// Finishes the probe under way and starts another. While another thread has the advisor, the probe
/// under way stays, and the new request goes unheard.
static inline void lrd_adaptive_probe(lrd_order *order, uint64_t mixed, bool missed) {
  lrd_adaptive *state = order->state;
  lrd_advisor_advance(order->shared, &state->probe, LRD_EXPERTS);
  if (state->probe.next == LRD_EXPERTS) {
    state->probe = (lrd_probe){.mixed = mixed, .missed = missed};
  }
}

/// The hits of an entry that count, and its sample, if it has one.
typedef struct lrd_adaptive_hits {
  lrd_sample sample;
  uint32_t credit;
} lrd_adaptive_hits;

/// Adds up the hits of the entry in slot `id`, and sends a probe for those that the advisor has not
/// heard of.
static inline lrd_adaptive_hits lrd_adaptive_count_hits(lrd_order *order, const lrd_entry *entry,
                                                        uint32_t id) {
  const lrd_adaptive *state = order->state;
  uint32_t bits = lrd_entry_bits(entry);
  uint64_t mixed = lrd_entry_mixed_hash(entry);
  lrd_adaptive_hits hits = {.credit = bits};
  if (!lrd_adaptive_is_sampled(order, mixed)) return hits;
  hits.sample = lrd_samples_find(&state->samples, id);
  hits.credit += lrd_sample_credit(hits.sample);
  if (hits.credit > LRD_CREDIT_MOST) hits.credit = LRD_CREDIT_MOST;
  if (bits) lrd_adaptive_probe(order, mixed, false);
  return hits;
}

/// Leaves an entry with this credit: in its sample if it has one, otherwise in the entry.
static inline void lrd_adaptive_set_credit(lrd_entry *entry, lrd_sample sample, uint32_t credit) {
  lrd_sample_set_credit(sample, credit);
  lrd_entry_set_bits(entry, sample.bucket ? 0 : (uint8_t)credit);
}

/// Polls as many sampled entries as are due. Each poll chooses the entry of the next one, which is
/// then loaded from memory until its turn comes.
static inline void lrd_adaptive_poll_samples(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  uint32_t due = state->polls_due + state->polls;
  state->polls_due = due % 256;
  for (; due >= 256; due -= 256) {
    if (lrd_samples_hold(&state->samples, state->polled, state->polled_id)) {
      lrd_entry *entry = lrd_slots_entry(slots, state->polled_id);
      if (lrd_entry_bits(entry)) {
        uint32_t credit = lrd_adaptive_count_hits(order, entry, state->polled_id).credit;
        lrd_adaptive_set_credit(entry, state->polled, credit);
      }
    }
    state->polled_id = lrd_samples_next(&state->samples, &state->polled);
    if (state->polled_id == LRD_NIL) {
      state->polled.bucket = NULL;
    } else {
      LRD_PREFETCH(lrd_slots_entry(slots, state->polled_id));
    }
  }
}

/// Does what an insertion owes the advisor: adds the new entry to the sample if its key is sampled,
/// polls other entries, and advances the probe.
static inline void lrd_adaptive_sample(lrd_order *order, lrd_slots slots, uint32_t id,
                                       uint64_t mixed) {
  lrd_adaptive *state = order->state;
  if (LRD_UNLIKELY(lrd_advisor_threshold(order->shared) != state->threshold)) {
    lrd_adaptive_follow_threshold(order);
  }
  if (lrd_adaptive_is_sampled(order, mixed)) {
    lrd_samples_add(&state->samples, id);
    lrd_adaptive_probe(order, mixed, true);
  }
  lrd_adaptive_poll_samples(order, slots);
  lrd_advisor_advance(order->shared, &state->probe, 1);
}

#pragma clang assume_nonnull end
