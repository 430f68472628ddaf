// SPDX-License-Identifier: Apache-2.0
/* lrd_ghosts.h — ghosts: the keys that were evicted lately, as fingerprints of two bytes.
 *
 *   bucket   [ slot 0 | … | slot 7 ]
 *   slot     [ fingerprint:11 | met:1 | epoch:4 ]      0 when empty
 *
 * A policy adds a ghost when it evicts an entry. When the key is missed again, the policy recalls
 * the ghost and treats the key better than a new one. The idea is from 2Q (Johnson, Shasha, VLDB
 * 1994) and ARC (Megiddo, Modha, FAST 2003). The table is the one that the paper on S3-FIFO
 * proposes (Yang et al., SOSP 2023).
 *
 * AGE. Evictions are the clock of a table. Every `granule` of added ghosts ends an epoch, and the
 * age of a ghost is the number of epochs that ended since it was added. A recall states the age up
 * to which ghosts live. A ghost older than LRD_GHOSTS_OLDEST is dead for every caller. The number
 * of an epoch is used again after 16 epochs. Each addition therefore clears the dead slots of one
 * bucket, and all buckets have had their turn before a number returns.
 *
 * WEIGHT. A ghost weighs 1, or the cost of its entry where only costs are limited. A ghost heavier
 * than an epoch ends one epoch only. If costs rise so far that a few ghosts fill 16 epochs, a dead
 * ghost that no addition has cleared yet may return.
 *
 * ROOM. A new ghost takes an empty slot of its bucket, or the slot of the oldest ghost there.
 * Hashes choose the buckets, so some overflow while others have room. A table with as many slots
 * as ghosts loses one in seven of the oldest. A table with twice as many loses one in a hundred.
 *
 * ERRORS. A full bucket takes a foreign key for one of its own once in 250 recalls. That key then
 * enters the main queue one request early. Over public traces, neither fingerprints of 27 bits nor
 * twice as many buckets change the mean miss ratio of the adaptive policy by 0.0002.
 *
 * Guard: that of the owner, a shard or the advisor. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

enum {
  LRD_GHOSTS_BUCKET = 8,
  LRD_GHOSTS_OLDEST = 12, // the highest age, in epochs, at which a ghost may live
};

typedef struct lrd_ghosts {
  uint16_t *_Nullable slots;
  uint32_t buckets;
  uint32_t sweep;   // the bucket to clear of dead slots next
  uint64_t granule; // the weight that fills an epoch, at least 1
  uint64_t filled;  // the weight added in the current epoch
  uint32_t epoch;   // the number of the current epoch, modulo 16
  uint32_t life;    // of ghosts added by lrd_ghosts_add_entry(), in epochs
} lrd_ghosts;

typedef enum lrd_recall {
  LRD_UNKNOWN, // no ghost, or none young enough
  LRD_ONCE,    // missed for the first time since the eviction
  LRD_MET,     // missed before, and kept out of the main queue then
} lrd_recall;

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
static inline uint16_t *lrd_ghosts_bucket(const lrd_ghosts *ghosts, uint64_t mixed) {
  uint64_t bucket = (mixed >> 32) * ghosts->buckets >> 32;
  return &ghosts->slots[bucket * LRD_GHOSTS_BUCKET];
}

/// Begins to load what the next call for this key will read.
static inline void lrd_ghosts_prefetch(const lrd_ghosts *ghosts, uint64_t mixed) {
  if (ghosts->buckets) LRD_PREFETCH(lrd_ghosts_bucket(ghosts, mixed));
}

/// Remembers an evicted key, given by its mixed hash.
void lrd_ghosts_add(lrd_ghosts *ghosts, uint64_t mixed, uint64_t weight);

/// Looks for the ghost of a missed key, at most `life` epochs old, and takes it out. With `keep` a
/// ghost found for the first time stays instead: it is young again, and met.
lrd_recall lrd_ghosts_recall(lrd_ghosts *ghosts, uint64_t mixed, uint32_t life, bool keep);

/* For a policy whose history is a table of ghosts and nothing else, with two slots for a ghost. */

/// Remembers an evicted entry. Its ghost lives until others of `percent` hundredths of the shard's
/// share have been added, give or take an eighth. The share is that of the count, or of the cost
/// where only costs are limited. Asks for a history when there is none, and for another one when it
/// has too few slots or far too many. The ghost is lost while there is no history.
void lrd_ghosts_add_entry(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry,
                          uint32_t percent);

/// Takes out the ghost of the entry's key. True when there was one. Its place is free again: the
/// others live longer by its weight, which may have changed since.
bool lrd_ghosts_take(lrd_ghosts *ghosts, const lrd_order *order, const lrd_entry *entry);

/// Adopts a new history: no ghost is left.
void lrd_ghosts_renewed(lrd_ghosts *ghosts, const lrd_order *order);

#pragma clang assume_nonnull end
