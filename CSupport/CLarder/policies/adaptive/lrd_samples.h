// SPDX-License-Identifier: Apache-2.0
/* lrd_samples.h — the sampled entries that a shard holds. Insertions poll them for hits.
 *
 *   bucket   [ slot ids:8 × 32 | turn | heard:8 × 2 bits | passed ]
 *
 * A hit only adds to a count in its entry, so the advisor does not learn of it. Insertions
 * therefore poll the sampled entries, one bucket at a time. `heard` is how many of the hits that an
 * entry now counts the advisor has heard of; what is above that is new. A poll takes the count down
 * to LRD_CREDIT_MOST, all that insertions ask about, so that later hits show. A replacement counts
 * as a hit that was heard. Where `heard` is as high as it goes, it takes one off the entry's count
 * instead. To a deep trim a sampled entry may thus look colder than others.
 *
 * The slot id chooses the bucket where a search begins. Buckets are half full on average. An entry
 * whose bucket is full goes into the next one that is not. `passed` counts the entries that went
 * past a bucket so; a search that comes to a bucket with none ends there. (The scheme of Facebook's
 * F14.) `turn` is the number of lrd_samples_clear() calls before the bucket was written. A bucket
 * of an earlier turn counts as empty.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_expert.h"

#include <string.h>

#pragma clang assume_nonnull begin

enum { LRD_SAMPLES_BUCKET = 8 };

typedef struct lrd_sample_bucket {
  uint32_t id[LRD_SAMPLES_BUCKET]; // slot id + 1; 0 when empty
  uint32_t turn;
  uint16_t heard;
  uint16_t passed;
} lrd_sample_bucket;

_Static_assert(sizeof(lrd_sample_bucket) == 40, "no padding");

typedef struct lrd_samples {
  lrd_sample_bucket *_Nullable buckets;
  uint32_t count; // of buckets
  uint32_t hand;  // the bucket to poll next
  uint32_t turn;
  uint32_t held; // ids in all buckets
} lrd_samples;

/// The position of one sampled entry. `bucket` is NULL for an entry that has none.
typedef struct lrd_sample {
  lrd_sample_bucket *_Nullable bucket;
  uint32_t index;
} lrd_sample;

/// Buckets for about `entries` samples.
static inline uint32_t lrd_samples_buckets(uint64_t entries) {
  return (uint32_t)(entries * 2 / LRD_SAMPLES_BUCKET + 1);
}

typedef uint32_t lrd_sample_ids __attribute__((vector_size(LRD_SAMPLES_BUCKET * sizeof(uint32_t))));
typedef int8_t lrd_sample_bytes __attribute__((vector_size(LRD_SAMPLES_BUCKET)));

/// A byte for each id of a bucket, the lowest for the first: 1 where the id is `wanted`, else 0.
LRD_INLINE uint64_t lrd_samples_matches(const lrd_sample_bucket *bucket, uint32_t wanted) {
  lrd_sample_ids held;
  memcpy(&held, bucket->id, sizeof held);
  uint32_t w = wanted;
  lrd_sample_bytes equal =
      __builtin_convertvector(held == (lrd_sample_ids){w, w, w, w, w, w, w, w}, lrd_sample_bytes);
  uint64_t matches;
  memcpy(&matches, &equal, sizeof matches);
  return matches & 0x0101010101010101;
}

/// The same for the ids that are not empty.
LRD_INLINE uint64_t lrd_samples_held(const lrd_sample_bucket *bucket) {
  return lrd_samples_matches(bucket, 0) ^ 0x0101010101010101;
}

/// The index of the first id of such bytes; not all are 0.
LRD_INLINE uint32_t lrd_samples_first(uint64_t matches) {
  return (uint32_t)__builtin_ctzll(matches) / 8;
}

/// Starts with cleared memory for `count` buckets, or with none: then nothing is sampled.
void lrd_samples_open(lrd_samples *samples, lrd_sample_bucket *_Nullable buckets, uint32_t count);

/// Forgets all samples, in O(1).
void lrd_samples_clear(lrd_samples *samples);

/// The most ids that there may be: so many that a search seldom passes more than a few buckets.
static inline uint32_t lrd_samples_most(const lrd_samples *samples) {
  return samples->count * (LRD_SAMPLES_BUCKET - 1);
}

/// Adds a slot that is not there. Where there are lrd_samples_most() it goes unheard.
void lrd_samples_add(lrd_samples *samples, uint32_t id);

lrd_sample lrd_samples_find(const lrd_samples *samples, uint32_t id);

void lrd_samples_remove(lrd_samples *samples, uint32_t id);

/// The index of the bucket after another, in a circle.
LRD_INLINE uint32_t lrd_samples_after(const lrd_samples *samples, uint32_t index) {
  return index + 1 < samples->count ? index + 1 : 0;
}

/// The next bucket in turn; NULL when it holds nothing.
LRD_INLINE lrd_sample_bucket *_Nullable lrd_samples_next(lrd_samples *samples) {
  if (!samples->count) return NULL;
  lrd_sample_bucket *bucket = &samples->buckets[samples->hand];
  samples->hand = lrd_samples_after(samples, samples->hand);
  return bucket->turn == samples->turn ? bucket : NULL;
}

static inline uint32_t lrd_sample_heard(lrd_sample sample) {
  return sample.bucket ? sample.bucket->heard >> sample.index * 2 & 3 : 0;
}

static inline void lrd_sample_set_heard(lrd_sample sample, uint32_t hits) {
  if (!sample.bucket) return;
  uint32_t others = sample.bucket->heard & ~(3u << sample.index * 2);
  sample.bucket->heard = (uint16_t)(others | hits << sample.index * 2);
}

#pragma clang assume_nonnull end
