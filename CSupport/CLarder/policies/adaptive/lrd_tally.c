// SPDX-License-Identifier: Apache-2.0
#include "lrd_tally.h"

#include <string.h>

/// The misses after which half is forgotten; and the most hits or stores counted.
enum { window = 64, heard_most = 4 * window };
/// With more misses than this for each hit, next to nothing is found.
enum { misses_for_a_hit = 24 };

void lrd_tally_clear(lrd_tally *tally) {
  tally->misses = tally->loads = tally->unasked = tally->hits = 0;
  memset(tally->missed, 0, sizeof tally->missed);
}

void lrd_tally_hits(lrd_tally *tally, uint32_t hits) {
  if (tally->hits < heard_most) tally->hits += hits;
}

static void count_miss(lrd_tally *tally) {
  if (tally->misses == window) {
    tally->misses /= 2;
    tally->loads /= 2;
    tally->unasked /= 2;
    tally->hits /= 2;
  }
  tally->misses++;
}

static uint32_t *place_of(lrd_tally *tally, uint64_t mixed) {
  return &tally->missed[mixed % LRD_MISSED_KEYS];
}

/// Never 0.
static uint32_t key_of(uint64_t mixed) {
  return (uint32_t)(mixed >> 32) | 1;
}

void lrd_tally_miss(lrd_tally *tally, uint64_t mixed) {
  count_miss(tally);
  *place_of(tally, mixed) = key_of(mixed);
}

void lrd_tally_load(lrd_tally *tally) {
  count_miss(tally);
  tally->loads++;
}

bool lrd_tally_store(lrd_tally *tally, uint64_t mixed) {
  uint32_t *missed = place_of(tally, mixed);
  if (*missed != key_of(mixed)) {
    if (tally->unasked < heard_most) tally->unasked++;
    return false;
  }
  *missed = 0;
  if (tally->loads < tally->misses) tally->loads++;
  return true;
}

double lrd_tally_loaded(const lrd_tally *tally) {
  if (tally->misses < window / 8) return 1;
  return (double)tally->loads / tally->misses;
}

/// The part of the misses that counts as nothing. With a half or a tenth, programs that store one
/// request in four save 0.5 and 0.3 less, of some 9.9 %. With none, one cell of a disk trace whose
/// programs store a key only when it is new misses 4 points more.
static const double nothing = 0.04;

bool lrd_tally_loads_nothing(const lrd_tally *tally) {
  return lrd_tally_loaded(tally) < nothing;
}

bool lrd_tally_draw(lrd_tally *tally) {
  tally->chance = tally->chance * 1664525 + 1013904223;
  return (tally->chance >> 8) * 0x1p-24 < lrd_tally_loaded(tally);
}

bool lrd_tally_finds_little(const lrd_tally *tally) {
  return tally->misses > misses_for_a_hit * tally->hits;
}

/// If all experts filled without demand, programs whose stores are no loads would miss up to 4
/// points more. If misses above half of the unasked stores were enough, or above a quarter, they
/// would miss 0.3 and 0.6 more.
lrd_demand lrd_tally_demand(const lrd_tally *tally, bool small) {
  if (tally->misses <= tally->unasked && tally->misses <= tally->hits) return LRD_DEMAND_NONE;
  bool presses = 2 * tally->loads >= tally->unasked || tally->misses > 4 * tally->hits;
  return presses && !small ? LRD_DEMAND_PRESSING : LRD_DEMAND_SOME;
}
