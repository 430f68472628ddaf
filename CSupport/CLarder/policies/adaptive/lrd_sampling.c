// SPDX-License-Identifier: Apache-2.0
#include "lrd_sampling.h"

static lrd_probe *probe_at(lrd_adaptive *state, uint32_t index) {
  return &state->probes[(state->first_probe + index) % LRD_PROBES];
}

/// Takes the oldest probe through the shadows. False when the advisor is busy.
static bool advance(lrd_order *order) {
  lrd_adaptive *state = order->state;
  if (!lrd_advisor_learn(order->shared, probe_at(state, 0))) return false;
  state->first_probe++;
  state->probe_count--;
  return true;
}

/// The latest probe, if that is a miss which a store may follow.
static lrd_probe *latest_miss(lrd_adaptive *state) {
  if (!state->probe_count) return NULL;
  lrd_probe *latest = probe_at(state, state->probe_count - 1);
  return latest->heard == LRD_HEARD_MISS ? latest : NULL;
}

void lrd_sampling_tell(lrd_order *order, uint64_t mixed, lrd_heard heard, uint32_t hits) {
  lrd_adaptive *state = order->state;
  lrd_probe *miss = heard == LRD_HEARD_STORE ? latest_miss(state) : NULL;
  if (miss && miss->mixed == mixed) {
    miss->heard = LRD_HEARD_LOAD;
    return;
  }
  // If the advisor is busy, this one goes unheard.
  if (state->probe_count == LRD_PROBES && !advance(order)) return;
  *probe_at(state, state->probe_count++) =
      (lrd_probe){.mixed = mixed, .heard = (uint8_t)heard, .hits = (uint8_t)hits};
}

void lrd_sampling_tell_hits(lrd_order *order, const lrd_entry *entry, uint32_t id, uint32_t hits,
                            uint32_t left) {
  const lrd_adaptive *state = order->state;
  lrd_sample sample = lrd_samples_find(&state->samples, id);
  uint32_t heard = lrd_sample_heard(sample);
  lrd_sample_set_heard(sample, left);
  if (hits > heard) {
    lrd_sampling_tell(order, lrd_entry_mixed_hash(entry), LRD_HEARD_HIT, hits - heard);
  }
}

/// Polls the bucket whose entries are loaded, and begins to load those of the next.
static void poll(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  lrd_sample_bucket *loaded = state->polled;
  bool current = loaded && loaded->turn == state->samples.turn;
  for (uint64_t left = current ? lrd_samples_held(loaded) : 0; left; left &= left - 1) {
    lrd_sample sample = {loaded, lrd_samples_first(left)};
    lrd_entry *entry = lrd_slots_entry(slots, loaded->id[sample.index] - 1);
    uint32_t hits = lrd_entry_bits(entry);
    uint32_t heard = lrd_sample_heard(sample);
    if (hits <= heard) continue;
    if (hits > LRD_CREDIT_MOST) lrd_entry_set_bits(entry, LRD_CREDIT_MOST);
    lrd_sample_set_heard(sample, lrd_credit(hits));
    lrd_sampling_tell(order, lrd_entry_mixed_hash(entry), LRD_HEARD_HIT, hits - heard);
  }
  lrd_sample_bucket *next = state->polled = lrd_samples_next(&state->samples);
  bool far = next && order->ahead;
  for (uint64_t left = far ? lrd_samples_held(next) : 0; left; left &= left - 1) {
    LRD_PREFETCH(lrd_slots_entry(slots, next->id[lrd_samples_first(left)] - 1));
  }
}

/// Does what is due once in a period, and spreads its upkeeps over its insertions.
static void begin_period(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  lrd_adaptive_follow(order);
  lrd_adaptive_plan(order);
  order->adjust = lrd_advisor_waits(order->shared);
  uint32_t threshold = lrd_advisor_threshold(order->shared);
  if (threshold != state->threshold) {
    state->threshold = threshold;
    lrd_samples_clear(&state->samples);
  }
  if (state->full_for) state->full_for--;
  for (uint32_t left = threshold ? state->polls : 0; left; left--) poll(order, slots);
  uint32_t upkeeps = lrd_advisor_is_large(order->shared) ? 1 + state->probe_count / 4 : 1;
  state->upkeeps = (uint32_t)lrd_least(upkeeps, state->period / 2);
  state->pace = state->period / state->upkeeps;
}

void lrd_sampling_upkeep(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  if (!state->upkeeps) begin_period(order, slots);
  state->upkeeps--;
  state->rest = state->pace - 1;
  uint32_t kept = latest_miss(state) ? 1 : 0;
  bool all = !lrd_advisor_is_large(order->shared);
  while (state->probe_count > kept && advance(order) && all) continue;
}

/// Tells the advisor of a key that the shard does not hold.
static void tell_absent(lrd_order *order, uint64_t hash48, lrd_heard heard) {
  if (!lrd_sampling_hears(order->state, hash48)) return;
  lrd_sampling_tell(order, lrd_hash_mix(hash48), heard, 0);
}

void lrd_sampling_missed(lrd_order *order, uint64_t hash48) {
  tell_absent(order, hash48, LRD_HEARD_MISS);
}

void lrd_sampling_removed(lrd_order *order, uint64_t hash48) {
  tell_absent(order, hash48, LRD_HEARD_REMOVAL);
}

/// Puts the entry in slot `id` in the sample in place of the one in slot `old_id`, whose place it
/// takes. If it replaces it, that has counted as one of its `hits`, and no poll is to take that for
/// a lookup.
static LRD_COLD void replace_sample(lrd_order *order, uint32_t old_id, lrd_entry *entry,
                                    uint32_t id, uint32_t hits) {
  lrd_adaptive *state = order->state;
  lrd_sample sample = lrd_samples_find(&state->samples, old_id);
  if (!sample.bucket) return;
  uint32_t heard = lrd_sample_heard(sample) + hits, bits = lrd_entry_bits(entry);
  if (heard > LRD_CREDIT_MOST) {
    // A sample counts no further. The entry counts less instead, so that their difference stays.
    uint32_t over = heard - LRD_CREDIT_MOST;
    if (bits > over) lrd_entry_set_bits(entry, (uint8_t)(bits - over));
    heard = LRD_CREDIT_MOST;
  }
  lrd_samples_remove(&state->samples, old_id);
  lrd_samples_add(&state->samples, id);
  lrd_sample_set_heard(lrd_samples_find(&state->samples, id), heard);
}

uint32_t lrd_sampling_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                              uint32_t id) {
  uint32_t old_id = lrd_parted_replace(order, pool, old, entry, id);
  if (LRD_UNLIKELY(lrd_sampling_hears(order->state, lrd_entry_hash48_locked(entry)))) {
    replace_sample(order, old_id, entry, id, 1);
    lrd_sampling_tell(order, lrd_entry_mixed_hash(entry), LRD_HEARD_STORE, 0);
  }
  return old_id;
}

uint32_t lrd_sampling_move(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                           uint32_t id) {
  uint32_t old_id = lrd_parted_replace(order, pool, old, entry, id);
  if (lrd_sampling_hears(order->state, lrd_entry_hash48_locked(entry))) {
    replace_sample(order, old_id, entry, id, 0);
  }
  return old_id;
}

void lrd_sampling_check(const lrd_order *order, lrd_pool *pool) {
  const lrd_adaptive *state = order->state;
  uint32_t held = 0;
  for (uint32_t i = 0; i < state->samples.count; i++) {
    const lrd_sample_bucket *bucket = &state->samples.buckets[i];
    for (int j = 0; bucket->turn == state->samples.turn && j < LRD_SAMPLES_BUCKET; j++) {
      if (!bucket->id[j]) continue;
      const lrd_entry *entry = lrd_pool_entry(pool, bucket->id[j] - 1);
      LRD_CHECK(entry->state == LRD_ENTRY_LINKED);
      held++;
    }
  }
  LRD_CHECK(held == state->samples.held);
}
