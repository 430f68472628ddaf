// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_sampling.h"

/// How many sampled entries an insertion polls, in 256ths. All are polled while a 32nd of the cache
/// is inserted, but never more than two by one insertion. Without polls the advisor hears of most
/// hits from scans alone, and too late of what favours recency: 0.005 more are missed there. Twice
/// as many polls are no better.
static uint32_t polls_for(uint32_t threshold) {
  uint32_t polls = (uint32_t)((uint64_t)threshold * 32 * 256 >> 32);
  return polls < 512 ? polls : 512;
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
