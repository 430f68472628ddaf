// SPDX-License-Identifier: Apache-2.0
#include "lrd_samples.h"

#include "lrd_entry.h"

#include <string.h>

void lrd_samples_open(lrd_samples *samples, lrd_sample_bucket *buckets, uint32_t count) {
  *samples = (lrd_samples){.buckets = buckets, .count = buckets ? count : 0};
}

void lrd_samples_clear(lrd_samples *samples) {
  samples->turn++;
}

/// The bucket of an id, emptied first if it is of an earlier turn. (Fibonacci hashing.)
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
  uint64_t matches = lrd_samples_matches(bucket, wanted);
  return matches ? (lrd_sample){bucket, lrd_samples_first(matches)} : (lrd_sample){NULL, 0};
}

void lrd_samples_add(lrd_samples *samples, uint32_t id) {
  lrd_sample sample = find(samples, 0, id);
  if (!sample.bucket) return;
  sample.bucket->id[sample.index] = id + 1;
  lrd_sample_set_heard(sample, 0);
}

lrd_sample lrd_samples_find(const lrd_samples *samples, uint32_t id) {
  return find(samples, id + 1, id);
}

void lrd_samples_remove(lrd_samples *samples, uint32_t id) {
  lrd_sample sample = lrd_samples_find(samples, id);
  if (sample.bucket) sample.bucket->id[sample.index] = 0;
}
