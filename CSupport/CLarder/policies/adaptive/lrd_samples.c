// SPDX-License-Identifier: Apache-2.0
#include "lrd_samples.h"

#include "lrd_entry.h"

#include <string.h>

void lrd_samples_open(lrd_samples *samples, lrd_sample_bucket *buckets, uint32_t count) {
  *samples = (lrd_samples){.buckets = buckets, .count = buckets ? count : 0};
}

void lrd_samples_clear(lrd_samples *samples) {
  samples->turn++;
  samples->held = 0;
}

/// The index of the bucket where the search for an id begins. (Fibonacci hashing.)
static uint32_t home_of(const lrd_samples *samples, uint32_t id) {
  uint64_t spread = (uint32_t)(id * 0x9e3779b1u);
  return (uint32_t)(spread * samples->count >> 32);
}

/// A bucket, emptied first if it is of an earlier turn.
static lrd_sample_bucket *bucket_at(const lrd_samples *samples, uint32_t index) {
  lrd_sample_bucket *bucket = &samples->buckets[index];
  if (bucket->turn != samples->turn) {
    memset(bucket, 0, sizeof *bucket);
    bucket->turn = samples->turn;
  }
  return bucket;
}

void lrd_samples_add(lrd_samples *samples, uint32_t id) {
  if (samples->held == lrd_samples_most(samples)) return;
  samples->held++;
  for (uint32_t i = home_of(samples, id);; i = lrd_samples_after(samples, i)) {
    lrd_sample_bucket *bucket = bucket_at(samples, i);
    uint64_t empty = lrd_samples_matches(bucket, 0);
    if (empty) {
      lrd_sample sample = {bucket, lrd_samples_first(empty)};
      bucket->id[sample.index] = id + 1;
      lrd_sample_set_heard(sample, 0);
      return;
    }
    bucket->passed++;
  }
}

lrd_sample lrd_samples_find(const lrd_samples *samples, uint32_t id) {
  uint32_t i = home_of(samples, id);
  for (uint32_t left = samples->count; left; left--, i = lrd_samples_after(samples, i)) {
    lrd_sample_bucket *bucket = bucket_at(samples, i);
    uint64_t matches = lrd_samples_matches(bucket, id + 1);
    if (matches) return (lrd_sample){bucket, lrd_samples_first(matches)};
    if (!bucket->passed) break;
  }
  return (lrd_sample){NULL, 0};
}

void lrd_samples_remove(lrd_samples *samples, uint32_t id) {
  lrd_sample sample = lrd_samples_find(samples, id);
  if (!sample.bucket) return;
  sample.bucket->id[sample.index] = 0;
  samples->held--;
  uint32_t i = home_of(samples, id);
  for (; &samples->buckets[i] != sample.bucket; i = lrd_samples_after(samples, i)) {
    samples->buckets[i].passed--;
  }
}
