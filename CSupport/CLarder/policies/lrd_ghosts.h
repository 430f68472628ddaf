// SPDX-License-Identifier: Apache-2.0
/* lrd_ghosts.h — ghosts: the keys that were evicted lately, as fingerprints of two bytes.
 *
 *   bucket   [ slot 0 | … | slot 7 ]
 *   slot     [ fingerprint:12 | epoch:4 ]              0 when empty
 *
 * A policy adds a ghost when it evicts an entry. When the key is missed again, the policy recalls
 * the ghost and treats the key better than a new one. The idea is from 2Q (Johnson, Shasha, VLDB
 * 1994) and ARC (Megiddo, Modha, FAST 2003). The table is the one that the paper on S3-FIFO
 * proposes (Yang et al., SOSP 2023).
 *
 * BITS. The bucket of a key is chosen by the highest bits of its hash, and the fingerprint is the
 * bits 24 to 35. Shards are chosen by lower bits, so those of one shard have all fingerprints.
 *
 * ORDER. The newest ghost of a bucket comes first, and a new one shifts the others by a slot. The
 * oldest of a full bucket falls off. Empty slots come last.
 *
 * AGE. Evictions are the clock of a table. Every `granule` of added ghosts ends an epoch, and the
 * age of a ghost is the number of epochs that ended since it was added. A recall states the age up
 * to which ghosts live. A ghost older than LRD_GHOSTS_OLDEST is dead for every caller, and each
 * addition drops the dead ghosts of its bucket. The number of an epoch is used again after 16
 * epochs. Only where no addition came to a bucket in the epochs between may a dead ghost return.
 * Where a bucket gets one in each epoch on average, that is one ghost in 600.
 *
 * WEIGHT. A ghost weighs 1, or the cost of its entry where only costs are limited. A ghost heavier
 * than an epoch ends one epoch only. Buckets then get fewer ghosts in an epoch, so each addition
 * clears dead ghosts in other buckets, too: lrd_ghosts_add_entry(). If costs rise so far that a few
 * ghosts fill 16 epochs, a dead ghost may return.
 *
 * ROOM. Hashes choose the buckets, so some overflow while others have room. A table with as many
 * slots as ghosts loses one in seven of the oldest. A table with twice as many loses one in a
 * hundred.
 *
 * ERRORS. A full bucket takes a foreign key for one of its own once in 500 recalls. That key then
 * enters the main queue one request early. Over public traces, neither fingerprints of 27 bits nor
 * twice as many buckets change the mean miss ratio of the adaptive policy by 0.0002.
 *
 * Guard: that of the owner, a shard or the advisor. */
#pragma once

#include "lrd_order.h"

#include <string.h>

#pragma clang assume_nonnull begin

enum {
  LRD_GHOSTS_BUCKET = 8,
  LRD_GHOSTS_OLDEST = 12, // the highest age, in epochs, at which a ghost may live
  LRD_GHOSTS_EPOCHS = 16, // after which the number of an epoch is used again
  LRD_GHOSTS_MARK_SHIFT = 4,
  LRD_GHOSTS_MARK_MASK = 0xfff,
  LRD_GHOSTS_MARK_FROM = 24, // the lowest bit of a hash that a fingerprint has
};

typedef struct lrd_ghosts {
  uint16_t *_Nullable slots;
  uint32_t buckets;
  uint32_t sweep;   // the bucket that lrd_ghosts_add_entry() clears of dead ghosts next
  uint64_t granule; // the weight that fills an epoch, at least 1
  uint64_t room;    // the weight that the current epoch still takes
  uint32_t epoch;   // the number of the current epoch, modulo 16
  uint32_t life;    // of ghosts added by lrd_ghosts_add_entry(), in epochs
} lrd_ghosts;

/// The number of buckets with a slot for each of `ghosts`.
static inline uint32_t lrd_ghosts_buckets(uint64_t ghosts) {
  uint64_t buckets = ghosts / LRD_GHOSTS_BUCKET + (ghosts % LRD_GHOSTS_BUCKET != 0);
  return buckets > UINT32_MAX ? UINT32_MAX : (uint32_t)buckets;
}

static inline size_t lrd_ghosts_bytes(uint32_t buckets) {
  return (size_t)buckets * LRD_GHOSTS_BUCKET * sizeof(uint16_t);
}

/// Starts with cleared memory of lrd_ghosts_bytes(), or with none: then nothing is remembered.
void lrd_ghosts_open(lrd_ghosts *ghosts, uint16_t *_Nullable slots, uint32_t buckets,
                     uint64_t granule);

/// The bucket of a key. There must be buckets.
static inline uint16_t *lrd_ghosts_bucket(const lrd_ghosts *ghosts, uint64_t hash) {
  // The upper half of the product is the bucket's number. Its offset is a multiple of that.
  const uint64_t bytes = LRD_GHOSTS_BUCKET * sizeof(uint16_t), parts = ((uint64_t)1 << 32) / bytes;
  uint64_t offset = (hash >> 32) * ghosts->buckets / parts;
  // Otherwise the mask becomes one of 64 bits, which takes an instruction of its own.
  LRD_KEEP(offset);
  return (uint16_t *)(void *)((char *)ghosts->slots + (offset & ~(bytes - 1)));
}

/// Begins to load what the next call for this key will read.
static inline void lrd_ghosts_prefetch(const lrd_ghosts *ghosts, uint64_t hash) {
  if (ghosts->buckets) LRD_PREFETCH(lrd_ghosts_bucket(ghosts, hash));
}

/// The slots of a bucket side by side: the processor handles all eight at once.
typedef uint16_t lrd_ghosts_slots
    __attribute__((vector_size(LRD_GHOSTS_BUCKET * sizeof(uint16_t))));
typedef int8_t lrd_ghosts_found __attribute__((vector_size(LRD_GHOSTS_BUCKET)));

LRD_INLINE lrd_ghosts_slots lrd_ghosts_load(const uint16_t *bucket) {
  lrd_ghosts_slots slots;
  memcpy(&slots, bucket, sizeof slots);
  return slots;
}

/// Eight times the same.
LRD_INLINE lrd_ghosts_slots lrd_ghosts_all(uint32_t value) {
  uint16_t v = (uint16_t)value;
  return (lrd_ghosts_slots){v, v, v, v, v, v, v, v};
}

/// The fingerprint, shifted to where a slot has it. Never 0.
LRD_INLINE uint16_t lrd_ghosts_mark(uint64_t hash) {
  uint16_t mark = hash >> LRD_GHOSTS_MARK_FROM & LRD_GHOSTS_MARK_MASK;
  return (uint16_t)((mark ? mark : 1) << LRD_GHOSTS_MARK_SHIFT);
}

/// The slots without the ghosts that are dead for every caller.
LRD_INLINE lrd_ghosts_slots lrd_ghosts_living(const lrd_ghosts *ghosts, lrd_ghosts_slots slots) {
  lrd_ghosts_slots age =
      (lrd_ghosts_all(ghosts->epoch) - slots) & lrd_ghosts_all(LRD_GHOSTS_EPOCHS - 1);
  return slots & (lrd_ghosts_slots)(age <= lrd_ghosts_all(LRD_GHOSTS_OLDEST));
}

/// Begins the next epoch, after more was added than there was room for. `room` is below 0, modulo
/// 2^64.
void lrd_ghosts_end_epoch(lrd_ghosts *ghosts);

/// Remembers an evicted key, given by its hash: its ghost comes first in its bucket.
LRD_INLINE void lrd_ghosts_add(lrd_ghosts *ghosts, uint64_t hash, uint64_t weight) {
  if (!ghosts->buckets) return;
  bool ends = __builtin_sub_overflow(ghosts->room, weight, &ghosts->room);
  if (LRD_UNLIKELY(ends)) lrd_ghosts_end_epoch(ghosts);
  uint16_t *bucket = lrd_ghosts_bucket(ghosts, hash);
  lrd_ghosts_slots slots = lrd_ghosts_living(ghosts, lrd_ghosts_load(bucket));
  lrd_ghosts_slots first = lrd_ghosts_all(lrd_ghosts_mark(hash) | ghosts->epoch);
  slots = __builtin_shufflevector(first, slots, 0, 8, 9, 10, 11, 12, 13, 14);
  memcpy(bucket, &slots, sizeof slots);
}

/// A byte for each slot of a bucket, the lowest for the first: not 0 where it has this mark.
LRD_INLINE uint64_t lrd_ghosts_matches(const uint16_t *bucket, uint16_t mark) {
  lrd_ghosts_slots marks =
      lrd_ghosts_load(bucket) & lrd_ghosts_all(LRD_GHOSTS_MARK_MASK << LRD_GHOSTS_MARK_SHIFT);
  lrd_ghosts_found equal = __builtin_convertvector(marks == lrd_ghosts_all(mark), lrd_ghosts_found);
  uint64_t found;
  memcpy(&found, &equal, sizeof found);
  return found;
}

/// lrd_ghosts_recall() for a bucket in which the key may be.
bool lrd_ghosts_take_out(const lrd_ghosts *ghosts, uint16_t *bucket, uint16_t mark, uint32_t life);

/// Takes out the ghost of a missed key. True when it was at most `life` epochs old.
LRD_INLINE bool lrd_ghosts_recall(lrd_ghosts *ghosts, uint64_t hash, uint32_t life) {
  if (!ghosts->buckets) return false;
  uint16_t *bucket = lrd_ghosts_bucket(ghosts, hash);
  uint16_t mark = lrd_ghosts_mark(hash);
  if (LRD_LIKELY(!lrd_ghosts_matches(bucket, mark))) return false;
  return lrd_ghosts_take_out(ghosts, bucket, mark, life);
}

/* For a policy whose history is a table of ghosts and nothing else, with two slots for a ghost. */

/// Remembers an evicted entry. Its ghost lives until others of `percent` hundredths of the shard's
/// share have been added, give or take an eighth. The share is that of the count, or of the cost
/// where only costs are limited. Asks for a history when there is none, and for another one when it
/// has too few slots or far too many. The ghost is lost while there is no history.
void lrd_ghosts_add_entry(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry,
                          uint32_t percent);

/// Asks for another history, or for none where the shard is idle, when the share has changed so
/// much that there are too few slots or far too many.
void lrd_ghosts_resize(const lrd_ghosts *ghosts, lrd_order *order, uint32_t percent);

/// Takes out the ghost of the entry's key. True when there was one. Its place is free again: the
/// others live longer by its weight, which may have changed since.
bool lrd_ghosts_take(lrd_ghosts *ghosts, const lrd_order *order, const lrd_entry *entry);

/// Adopts a new history: no ghost is left.
void lrd_ghosts_renewed(lrd_ghosts *ghosts, const lrd_order *order);

#pragma clang assume_nonnull end
