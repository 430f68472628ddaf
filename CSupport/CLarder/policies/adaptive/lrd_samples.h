// SPDX-License-Identifier: Apache-2.0
/* lrd_samples.h — the sampled entries that a shard holds, so that hits on them can be looked for.
 *
 *   bucket   [ slot ids:8 × 32 | credits:8 × 2 bits | turn ]
 *
 * A hit stores nothing but a count in its own entry, so nobody is told of it. Insertions therefore
 * look at a few sampled entries each, in turn: a count that is not 0 is a hit the advisor has not
 * heard of. What the look takes from the entry is kept here as its credit, to which the entry is
 * still entitled when the policy judges it.
 *
 * Buckets are chosen by slot id and half full on average; an entry that finds its bucket full is
 * not tracked: only its hits go unheard until a scan comes by it. `turn` tells buckets written
 * before the last lrd_samples_clear(): those count as empty. Guard: the shard's lock. */
#pragma once

#include "lrd_expert.h"

#pragma clang assume_nonnull begin

enum { LRD_SAMPLES_BUCKET = 8 };

typedef struct lrd_sample_bucket {
  uint32_t id[LRD_SAMPLES_BUCKET]; // slot id + 1; 0 when empty
  uint32_t turn;
  uint16_t credits;
} lrd_sample_bucket;

typedef struct lrd_samples {
  lrd_sample_bucket *_Nullable buckets;
  uint32_t count; // of buckets
  uint32_t hand;  // the place to look at next
  uint32_t turn;
} lrd_samples;

/// Where one sampled entry is noted; `bucket` is NULL for entries that are not.
typedef struct lrd_sample {
  lrd_sample_bucket *_Nullable bucket;
  uint32_t index;
} lrd_sample;

/// Buckets for about `entries` samples.
static inline uint32_t lrd_samples_buckets(uint64_t entries) {
  return (uint32_t)(entries * 2 / LRD_SAMPLES_BUCKET + 1);
}

/// Starts with cleared memory for `count` buckets, or with none.
void lrd_samples_open(lrd_samples *samples, lrd_sample_bucket *_Nullable buckets, uint32_t count);

/// Forgets all, in O(1).
void lrd_samples_clear(lrd_samples *samples);

void lrd_samples_add(lrd_samples *samples, uint32_t id);

lrd_sample lrd_samples_find(const lrd_samples *samples, uint32_t id);

void lrd_samples_remove(lrd_samples *samples, uint32_t id);

/// The next sampled entry in turn, of one bucket; LRD_NIL when the rest of that is empty.
uint32_t lrd_samples_next(lrd_samples *samples, lrd_sample *sample);

/// True when a place found earlier, with the same memory, still holds the entry.
static inline bool lrd_samples_hold(const lrd_samples *samples, lrd_sample sample, uint32_t id) {
  return sample.bucket && sample.bucket->turn == samples->turn &&
         sample.bucket->id[sample.index] == id + 1;
}

static inline uint32_t lrd_sample_credit(lrd_sample sample) {
  return sample.bucket ? sample.bucket->credits >> sample.index * 2 & 3 : 0;
}

static inline void lrd_sample_set_credit(lrd_sample sample, uint32_t credit) {
  if (!sample.bucket) return;
  uint32_t others = sample.bucket->credits & ~(3u << sample.index * 2);
  sample.bucket->credits = (uint16_t)(others | credit << sample.index * 2);
}

#pragma clang assume_nonnull end
