// SPDX-License-Identifier: Apache-2.0
#include "lrd_samples.h"

#include "lrd_entry.h"

#include <string.h>

/// Places that one look goes over at most, half of which are empty on average.
enum { places_per_look = 8 };

void lrd_samples_open(lrd_samples *samples, lrd_sample_bucket *buckets, uint32_t count) {
  *samples = (lrd_samples){.buckets = buckets, .count = buckets ? count : 0};
}

void lrd_samples_clear(lrd_samples *samples) {
  samples->turn++;
}

/// The bucket of an id, emptied first if it is from before the last clearing. (Fibonacci hashing.)
static lrd_sample_bucket *bucket_of(const lrd_samples *samples, uint32_t id) {
  uint64_t spread = (uint32_t)(id * 0x9e3779b1u);
  lrd_sample_bucket *bucket = &samples->buckets[spread * samples->count >> 32];
  if (bucket->turn != samples->turn) {
    memset(bucket, 0, sizeof *bucket);
    bucket->turn = samples->turn;
  }
  return bucket;
}

static lrd_sample find(const lrd_samples *samples, uint32_t wanted, uint32_t id) {
  if (!samples->count) return (lrd_sample){NULL, 0};
  lrd_sample_bucket *bucket = bucket_of(samples, id);
  for (uint32_t i = 0; i < LRD_SAMPLES_BUCKET; i++) {
    if (bucket->id[i] == wanted) return (lrd_sample){bucket, i};
  }
  return (lrd_sample){NULL, 0};
}

void lrd_samples_add(lrd_samples *samples, uint32_t id) {
  lrd_sample place = find(samples, 0, id);
  if (!place.bucket) return;
  place.bucket->id[place.index] = id + 1;
  lrd_sample_set_credit(place, 0);
}

lrd_sample lrd_samples_find(const lrd_samples *samples, uint32_t id) {
  return find(samples, id + 1, id);
}

void lrd_samples_remove(lrd_samples *samples, uint32_t id) {
  lrd_sample place = lrd_samples_find(samples, id);
  if (place.bucket) place.bucket->id[place.index] = 0;
}

uint32_t lrd_samples_next(lrd_samples *samples, lrd_sample *sample) {
  for (int i = 0; i < places_per_look && samples->count; i++) {
    if (samples->hand >= samples->count * LRD_SAMPLES_BUCKET) samples->hand = 0;
    lrd_sample_bucket *bucket = &samples->buckets[samples->hand / LRD_SAMPLES_BUCKET];
    *sample = (lrd_sample){bucket, samples->hand++ % LRD_SAMPLES_BUCKET};
    if (bucket->turn == samples->turn && bucket->id[sample->index]) {
      return bucket->id[sample->index] - 1;
    }
  }
  return LRD_NIL;
}
