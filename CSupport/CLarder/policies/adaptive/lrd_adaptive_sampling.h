// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_sampling.h — what a shard tells the advisor, as probes (lrd_probe.h).
 *
 *   insertion of a sampled key    STORE, or LOAD if the thread has just missed it
 *   hits on a sampled entry       HIT, when an insertion polls the entry or a scan passes it
 *   lookups that missed           MISS, handed over by the thread's lane
 *   removal by a call             REMOVAL
 *
 * A hit adds to a count in its entry and tells nobody. Whoever finds that count turns it into a
 * probe. What a poll takes from an entry stays with its sample as credit (lrd_samples.h). The entry
 * has not lost it: lrd_adaptive_count_hits() adds credit and count up.
 *
 * A shard keeps LRD_PROBES of them, and each insertion takes the oldest through one shadow
 * (lrd_advisor.h).
 *
 * Everything that most insertions run is inline here.
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

/// Takes over the advisor's threshold after it has changed.
void lrd_adaptive_follow_threshold(lrd_order *order);

/// Hands the sample of the entry in slot `old_id` to `entry` in slot `id`, which replaces it.
void lrd_adaptive_move_sample(lrd_order *order, uint32_t old_id, lrd_entry *entry, uint32_t id);

/// Takes what a replacement has added to the count of hits of a sampled entry for credit, so that
/// no poll takes it for a lookup.
void lrd_adaptive_forget_replacement(lrd_order *order, lrd_entry *entry, uint32_t id);

/// Stops the process when the sample has an entry that the shard does not have.
void lrd_adaptive_check_samples(const lrd_order *order, lrd_pool *pool);

/// True when the advisor hears of this key.
static inline bool lrd_adaptive_is_sampled(const lrd_order *order, uint64_t hash48) {
  const lrd_adaptive *state = order->state;
  return (uint32_t)(hash48 >> 32) < state->threshold;
}

/// Tells the advisor about a sampled key.
void lrd_adaptive_hear(lrd_order *order, uint64_t mixed, lrd_heard heard) LRD_COLD;

/// Takes the oldest probe through one shadow.
void lrd_adaptive_advance(lrd_order *order);

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
  lrd_adaptive_hits hits = {.credit = bits};
  if (!lrd_adaptive_is_sampled(order, lrd_entry_hash48_locked(entry))) return hits;
  hits.sample = lrd_samples_find(&state->samples, id);
  hits.credit += lrd_sample_credit(hits.sample);
  if (hits.credit > LRD_CREDIT_MOST) hits.credit = LRD_CREDIT_MOST;
  if (bits) lrd_adaptive_hear(order, lrd_entry_mixed_hash(entry), LRD_HEARD_HIT);
  return hits;
}

/// Leaves an entry with this credit: in its sample if it has one, otherwise in the entry.
static inline void lrd_adaptive_set_credit(lrd_entry *entry, lrd_sample sample, uint32_t credit) {
  lrd_sample_set_credit(sample, credit);
  lrd_entry_set_bits(entry, sample.bucket ? 0 : (uint8_t)credit);
}

/// Polls the bucket whose entries are loaded, and begins to load those of the next.
void lrd_adaptive_poll(lrd_order *order, lrd_slots slots);

/// Does what an insertion owes the advisor: adds the new entry to the sample if its key is sampled,
/// polls other entries, and advances a probe.
static inline void lrd_adaptive_sample(lrd_order *order, lrd_slots slots, uint32_t id,
                                       uint64_t hash48) {
  lrd_adaptive *state = order->state;
  if (LRD_UNLIKELY(lrd_advisor_threshold(order->shared) != state->threshold)) {
    lrd_adaptive_follow_threshold(order);
  }
  if (LRD_UNLIKELY(lrd_adaptive_is_sampled(order, hash48))) {
    lrd_samples_add(&state->samples, id);
    lrd_adaptive_hear(order, lrd_hash_mix(hash48), LRD_HEARD_STORE);
  }
  state->polls_due += state->polls;
  if (LRD_UNLIKELY(state->polls_due >= 256)) lrd_adaptive_poll(order, slots);
  if (LRD_UNLIKELY(state->probe_count)) lrd_adaptive_advance(order);
}

#pragma clang assume_nonnull end
