// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_sampling.h"

/// How many buckets of samples an insertion polls, in 256ths. All are polled while a 32nd of the
/// cache is inserted, but never more than one by one insertion. A bucket is half full on average,
/// hence the 2. Without polls the advisor hears of most hits from scans alone, and too late of what
/// favours recency: a tenth of what the policy saves is lost. Half as many polls cost a hundredth.
static uint32_t polls_for(uint32_t threshold) {
  uint32_t polls = (uint32_t)((uint64_t)threshold * (32 * 2 * 256 / LRD_SAMPLES_BUCKET) >> 32);
  return polls < 256 ? polls : 256;
}

static lrd_probe *probe_at(lrd_adaptive *state, uint32_t index) {
  return &state->probes[(state->first_probe + index) % LRD_PROBES];
}

/// Takes the oldest probe through up to `most` shadows.
static void advance(lrd_order *order, uint32_t most) {
  lrd_adaptive *state = order->state;
  lrd_probe *oldest = probe_at(state, 0);
  lrd_advisor_advance(order->shared, oldest, most);
  if (oldest->next < LRD_EXPERTS) return;
  state->first_probe++;
  state->probe_count--;
}

void lrd_adaptive_advance(lrd_order *order) {
  advance(order, 1);
}

void lrd_adaptive_hear(lrd_order *order, uint64_t mixed, lrd_heard heard) {
  lrd_adaptive *state = order->state;
  if (heard == LRD_HEARD_STORE && state->probe_count) {
    lrd_probe *latest = probe_at(state, state->probe_count - 1);
    if (latest->mixed == mixed && latest->heard == LRD_HEARD_MISS && !latest->next) {
      latest->heard = LRD_HEARD_LOAD;
      return;
    }
  }
  if (state->probe_count == LRD_PROBES) advance(order, LRD_EXPERTS);
  // The advisor is busy: this one goes unheard.
  if (state->probe_count == LRD_PROBES) return;
  *probe_at(state, state->probe_count++) = (lrd_probe){.mixed = mixed, .heard = (uint8_t)heard};
}

void lrd_adaptive_poll(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  state->polls_due -= 256;
  lrd_sample_bucket *loaded = state->polled;
  bool current = loaded && loaded->turn == state->samples.turn;
  for (uint32_t i = 0; current && i < LRD_SAMPLES_BUCKET; i++) {
    if (!loaded->id[i]) continue;
    lrd_entry *entry = lrd_slots_entry(slots, loaded->id[i] - 1);
    uint32_t bits = lrd_entry_bits(entry);
    if (!bits) continue;
    lrd_sample sample = {loaded, i};
    uint32_t credit = lrd_sample_credit(sample) + bits;
    lrd_adaptive_set_credit(entry, sample, credit < LRD_CREDIT_MOST ? credit : LRD_CREDIT_MOST);
    lrd_adaptive_hear(order, lrd_entry_mixed_hash(entry), LRD_HEARD_HIT);
  }
  lrd_sample_bucket *next = state->polled = lrd_samples_next(&state->samples);
  for (uint32_t i = 0; next && i < LRD_SAMPLES_BUCKET; i++) {
    if (next->id[i]) LRD_PREFETCH(lrd_slots_entry(slots, next->id[i] - 1));
  }
}

void lrd_adaptive_follow_threshold(lrd_order *order) {
  lrd_adaptive *state = order->state;
  state->threshold = lrd_advisor_threshold(order->shared);
  state->polls = polls_for(state->threshold);
  lrd_samples_clear(&state->samples);
}

void lrd_adaptive_move_sample(lrd_order *order, uint32_t old_id, lrd_entry *entry, uint32_t id) {
  lrd_adaptive *state = order->state;
  lrd_sample sample = lrd_samples_find(&state->samples, old_id);
  if (!sample.bucket) return;
  uint32_t credit = lrd_sample_credit(sample);
  lrd_samples_remove(&state->samples, old_id);
  lrd_samples_add(&state->samples, id);
  lrd_sample moved = lrd_samples_find(&state->samples, id);
  lrd_sample_set_credit(moved, credit);
  if (moved.bucket) return;
  // The bucket of the new slot is full. The entry itself keeps the credit.
  credit += lrd_entry_bits(entry);
  lrd_entry_set_bits(entry, (uint8_t)(credit < LRD_CREDIT_MOST ? credit : LRD_CREDIT_MOST));
}

void lrd_adaptive_forget_replacement(lrd_order *order, lrd_entry *entry, uint32_t id) {
  lrd_adaptive *state = order->state;
  lrd_sample sample = lrd_samples_find(&state->samples, id);
  uint32_t bits = lrd_entry_bits(entry), credit = bits ? bits - 1 : 0;
  if (sample.bucket) credit = lrd_sample_credit(sample) + bits;
  lrd_adaptive_set_credit(entry, sample, credit < LRD_CREDIT_MOST ? credit : LRD_CREDIT_MOST);
}

void lrd_adaptive_check_samples(const lrd_order *order, lrd_pool *pool) {
  const lrd_adaptive *state = order->state;
  for (uint32_t i = 0; i < state->samples.count; i++) {
    const lrd_sample_bucket *bucket = &state->samples.buckets[i];
    for (int j = 0; bucket->turn == state->samples.turn && j < LRD_SAMPLES_BUCKET; j++) {
      if (!bucket->id[j]) continue;
      const lrd_entry *entry = lrd_pool_entry(pool, bucket->id[j] - 1);
      LRD_CHECK(entry->state == LRD_ENTRY_LINKED);
    }
  }
}
