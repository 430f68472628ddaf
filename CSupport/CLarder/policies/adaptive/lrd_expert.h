// SPDX-License-Identifier: Apache-2.0
/* lrd_expert.h — the rules between which the adaptive policy chooses: one eviction order, in seven
 * settings.
 *
 *   new key ─▶ young ─▶ old ─▶ out, leaves a ghost          small queue: `small` per cent of all
 *                │        │
 *                └─ hits ─┴──▶ main ─▶ (hits: once more round) ─▶ out
 *   missed again while its ghost lives ─▶ main
 *
 * A new key passes through a small first-in-first-out queue. Who is hit in its older half, or twice
 * in its younger one, moves to the main queue, which is a clock; who is not leaves a ghost and gets
 * a second chance through that. Hits in the younger half alone are a burst, and prove nothing: they
 * are forgotten at half the way. This is S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi, "FIFO queues are
 * all you need for cache eviction", SOSP 2023) with the correlation window of Clock2Q+ in the place
 * of a clock on the hit path.
 *
 * WHY SEVEN. No single size of the small queue is good: loops and scans want it tiny, workloads
 * that favour what is new want it large. Over ten public traces (block, database, key-value, web,
 * file) and five cache sizes, with the best setting of each taken afterwards, the part of the
 * requests missed more than by the best of some twenty known policies is
 *     one size (10 %)                   0.0104
 *     five sizes                        0.0012
 *     and one that admits on frequency  0.0002
 * `twice`: a key must be missed twice with a live ghost before it enters the main queue, so only
 * keys asked for three times within `ghosts` capacities do. Very small caches need that.
 * `clock`: everything enters the main queue, whose hits count once: CLOCK, which comes nearest to
 * LRU without moving anything on a hit. Zigzag scans and drifting working sets need that. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

typedef struct lrd_expert {
  uint8_t small;    // per cent of the capacity that the small queue aims at
  uint8_t ghosts;   // how many capacities of evictions a ghost lives
  bool twice;       // see above
  bool clock;       // see above
  uint8_t position; // on the scale from small to large, CLOCK last: switching costs the distance
} lrd_expert;

enum { LRD_EXPERTS = 7, LRD_EXPERT_CLOCK = 6, LRD_GHOSTS_LONGEST = 3 };

static const lrd_expert lrd_experts[LRD_EXPERTS] = {
    {.small = 1, .ghosts = 2, .position = 1},
    {.small = 10, .ghosts = 1, .position = 10},
    {.small = 30, .ghosts = 1, .position = 30},
    {.small = 50, .ghosts = 2, .position = 50},
    {.small = 90, .ghosts = 2, .position = 90},
    {.small = 3, .ghosts = 3, .twice = true, .position = 3},
    {.small = 0, .ghosts = 0, .clock = true, .position = 100},
};

/// Hits that an entry is credited with at most. With 1 the miss ratio is 0.002 worse, with 7 no
/// better.
enum { LRD_CREDIT_MOST = 3 };
/// Entries that move from the younger to the older half in one insertion at most.
enum { LRD_AGEING_MOST = 4 };

/// What the small queue aims at, of a capacity.
static inline uint64_t lrd_expert_small(const lrd_expert *expert, uint64_t capacity) {
  if (expert->clock) return 0;
  uint64_t rounded = capacity / 100 * expert->small + (capacity % 100 * expert->small + 50) / 100;
  return rounded ? rounded : 1;
}

/// True when an entry leaves the small queue for the main queue.
static inline bool lrd_expert_promotes(bool young, uint32_t credit) {
  return credit >= (young ? 2 : 1);
}

/// The credit left to an entry that goes round the main queue once more.
static inline uint32_t lrd_expert_round(const lrd_expert *expert, uint32_t credit) {
  return expert->clock ? 0 : credit - 1;
}

/// Spreads the 48 bits of a place over 64, so that sampling, ghosts and shadows may each take some
/// although shards and tables have used them: both halves of a full product, as in wyhash.
static inline uint64_t lrd_scramble(uint64_t place) {
  unsigned __int128 product =
      (unsigned __int128)(place ^ 0xbf58476d1ce4e5b9u) * 0x94d049bb133111ebu;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#pragma clang assume_nonnull end
