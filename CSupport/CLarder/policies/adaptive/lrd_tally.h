// SPDX-License-Identifier: Apache-2.0
/* lrd_tally.h — what the advisor has heard of the cache itself, lately: lookups that missed or hit,
 * and stores that followed a miss or did not. Each time that 64 misses are counted, all of it
 * forgets half.
 *
 * FILLING protects entries that nobody has read (lrd_expert.h), so it needs DEMAND: more lookups
 * that miss than stores of what nobody had missed, or than lookups that hit. Without demand no
 * expert fills. There what came first is no better than what comes next. And a shadow that fills
 * would keep keys that the cache has lost and that its program does not store again. The shadow's
 * hits would argue for a change that cannot bring these keys back. With unasked stores alone as the
 * measure, keys read once, a little too late to be found, would never be protected.
 *
 * Demand is pressing where, besides, stores that follow a miss are at least half as many as those
 * that nobody had missed, or misses are more than four times as many as hits. It never is in a
 * small cache.
 *
 * Guard: the advisor's lock. */
#pragma once

#include "lrd_expert.h"

#pragma clang assume_nonnull begin

/// Keys that wait for the store that may follow their miss.
enum { LRD_MISSED_KEYS = 64 };

typedef struct lrd_tally {
  uint32_t misses;
  uint32_t loads;   // misses that a store has followed
  uint32_t unasked; // stores of keys that nobody had missed
  uint32_t hits;
  uint32_t chance;                  // the state of a generator of random numbers
  uint32_t missed[LRD_MISSED_KEYS]; // keys missed and not stored since
} lrd_tally;

/// Forgets everything but the state of the generator.
void lrd_tally_clear(lrd_tally *tally);

/// Notes so many hits.
void lrd_tally_hits(lrd_tally *tally, uint32_t hits);

/// Notes a miss of the key with this mixed hash. A store may follow.
void lrd_tally_miss(lrd_tally *tally, uint64_t mixed);

/// Notes a miss that a store has followed.
void lrd_tally_load(lrd_tally *tally);

/// Notes a store of a key that was absent. True if it follows a miss.
bool lrd_tally_store(lrd_tally *tally, uint64_t mixed);

/// The part of the misses that a store follows. Until there are eight misses: all. A batch that
/// misses more sampled keys than LRD_MISSED_KEYS before it stores them counts as if it stored few.
double lrd_tally_loaded(const lrd_tally *tally);

/// True when next to no miss is followed by a store.
bool lrd_tally_loads_nothing(const lrd_tally *tally);

/// True as often as a store follows a miss.
bool lrd_tally_draw(lrd_tally *tally);

/// True when next to nothing is found.
bool lrd_tally_finds_little(const lrd_tally *tally);

/// The demand there is. `small`: the cache is (LRD_EXPERT_SMALL).
lrd_demand lrd_tally_demand(const lrd_tally *tally, bool small);

#pragma clang assume_nonnull end
