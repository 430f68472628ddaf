// SPDX-License-Identifier: Apache-2.0
/* lrd_remnants.h — what is left of evicted keys: two bytes each, for a time counted in evictions.
 *
 *   bucket   [ slot 0 | … | slot 7 ]
 *   slot     [ fingerprint:11 | met:1 | epoch:4 ]      0 when empty
 *
 * An epoch is a quarter of a capacity of added remnants; a slot's epoch tells its age in four bits.
 * Ages above LRD_REMNANTS_OLDEST are dead. Before an epoch's number comes round again every bucket
 * has been swept: each addition sweeps one. A new remnant takes an empty or dead slot of its
 * bucket, or the oldest one. `met` is set when its key was missed again and yet not let into the
 * main queue.
 *
 * ERRORS. A bucket of live remnants takes a foreign key for its own once in 250 lookups; that key
 * enters the main queue one request early. Buckets are chosen by hash, so some overflow while
 * others have room: of the oldest remnants one in seven is lost before its time. Over public
 * traces, neither fingerprints of 27 bits nor twice as many buckets change the mean miss ratio by
 * 0.0002.
 *
 * The idea of remembering evicted keys is from 2Q (Johnson, Shasha, VLDB 1994) and ARC (Megiddo,
 * Modha, FAST 2003). Guard: that of the owner, a shard or the advisor. */
#pragma once

#include "lrd_expert.h"

#pragma clang assume_nonnull begin

enum {
  LRD_REMNANTS_BUCKET = 8,
  LRD_REMNANTS_EPOCHS = 4, // to a capacity
  LRD_REMNANTS_OLDEST = LRD_GHOSTS_LONGEST * LRD_REMNANTS_EPOCHS,
};

typedef struct lrd_remnants {
  uint16_t *_Nullable slots;
  uint32_t buckets;
  uint32_t sweep;   // the bucket to sweep next
  uint64_t granule; // remnants that make an epoch
  uint64_t filled;  // how many the epoch has
  uint32_t epoch;   // modulo 16
} lrd_remnants;

typedef enum lrd_recall {
  LRD_UNKNOWN, // no remnant that is young enough
  LRD_ONCE,    // missed for the first time since its eviction
  LRD_MET,     // and before that
} lrd_recall;

/// Buckets for the remnants of `life` capacities.
uint32_t lrd_remnants_buckets(uint64_t capacity, uint32_t life);

static inline size_t lrd_remnants_bytes(uint32_t buckets) {
  return (size_t)buckets * LRD_REMNANTS_BUCKET * sizeof(uint16_t);
}

/// Starts with cleared memory of lrd_remnants_bytes(), or with none: then nothing is remembered.
void lrd_remnants_open(lrd_remnants *remnants, uint16_t *_Nullable slots, uint32_t buckets,
                       uint64_t capacity);

/// Where the remnant of a key is looked for. There must be buckets.
static inline uint16_t *lrd_remnants_bucket(const lrd_remnants *remnants, uint64_t scrambled) {
  uint64_t bucket = (scrambled >> 32) * remnants->buckets >> 32;
  return &remnants->slots[bucket * LRD_REMNANTS_BUCKET];
}

/// Begins to load what the next call for this key will look at.
static inline void lrd_remnants_foresee(const lrd_remnants *remnants, uint64_t scrambled) {
  if (remnants->buckets) LRD_PREFETCH(lrd_remnants_bucket(remnants, scrambled));
}

/// Remembers an evicted key.
void lrd_remnants_add(lrd_remnants *remnants, uint64_t scrambled);

/// Looks for the remnant of a key that was missed, not older than `life` capacities. Takes it out,
/// but for LRD_ONCE with `keep`: that one is young again, and met.
lrd_recall lrd_remnants_recall(lrd_remnants *remnants, uint64_t scrambled, uint32_t life,
                               bool keep);

#pragma clang assume_nonnull end
