// SPDX-License-Identifier: Apache-2.0
/* lrd_expert.h — the rules that the adaptive policy chooses from: one eviction order with seven
 * settings, each of which is called an expert. (In the documentation they are rules 1 to 7.)
 *
 *   new key ─▶ young ─▶ old ─▶ out, leaves a ghost          small queue: `small` per cent of all
 *                │        │
 *                └─ hits ─┴──▶ main ─▶ (hits: once more round) ─▶ out
 *   missed again while its ghost lives ─▶ main
 *
 * A new key passes through a small first-in-first-out queue. An entry that is hit in the older half
 * of that queue, or twice in the younger half, moves to the main queue, which is a clock. Any other
 * entry leaves a ghost, and the ghost gives its key a second chance. Hits in the younger half alone
 * are a burst and prove nothing. They are forgotten when the entry enters the older half. (But not
 * where next to no miss is followed by a store. An entry that goes too early there costs not one
 * load but all lookups to come, so that any hit counts.) This is S3-FIFO (Yang, Zhang, Qiu, Yue,
 * Rashmi, "FIFO queues are all you need for cache eviction", SOSP 2023) with the correlation window
 * of Clock2Q+. That window needs no clock on the hit path.
 *
 * WHY SEVEN. No single size of the small queue is good. Loops and scans want a tiny one. Workloads
 * that favour new keys want a large one. The table is for ten public traces (block, database,
 * key-value, web, file) and five cache sizes. It takes the best setting for each afterwards, and
 * shows the part of the requests missed beyond the best of some twenty known policies:
 *     one size (10 %)                   0.0104
 *     five sizes                        0.0012
 *
 * `life`    A ghost that lives long brings keys back that a small queue was too small for. But in a
 *           loop longer than the cache every key has a ghost, and the main queue would take them
 *           all, one after the other. One expert's ghosts therefore live for one epoch. Without it
 *           such loops lose up to 12 points.
 * `small`   Where all entries are in the small queue no key is proven, and one that was hit is the
 *           next victim of the main queue: FIFO. Keys that are read once, about a fill after they
 *           were stored, need this setting: with 97 % nine in ten of them are lost.
 * `clock`   Every key enters the main queue, and an entry has one second chance however often it
 *           was hit. This is CLOCK, the nearest to LRU of all orders in which a hit moves nothing.
 *           Zigzag scans and drifting working sets need this setting.
 * `fills`   While the cache fills up, keys beyond the small queue's share enter the main queue.
 *           Once it is full, evictions move there the oldest entries of a small queue that was
 *           larger under another expert. Loops and scans need this: whatever stays is then hit.
 *           But it protects entries that nobody has read. So there must be this much demand for it
 *           (lrd_tally.h). In a full cache that is not small, demand must press as well. A full
 *           cache that nobody reads is then one first-in-first-out queue, and its newest entries
 *           are there. The expert to begin with fills under pressing demand: otherwise a loop is
 *           half over before another expert has learned of it. In a cache of 3 to 511 entries it
 *           never fills: up to 63 by its own rule, and above because demand never presses there
 *           (LRD_EXPERT_SMALL).
 *
 * THE FIRST EXPERT is followed until there is evidence for another, and again after removeAll(). It
 * keeps what was hit apart from what was not, and goes by age where it does not fill. In a tiny
 * cache its small queue is half of the cache: in a tenth of five entries nothing lives long enough
 * to be hit. In one of two entries it is the whole cache: one entry that stays would be half of the
 * room. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// How much what is missed outweighs what is stored or found; see lrd_tally.h.
typedef enum lrd_demand {
  LRD_DEMAND_NONE,
  LRD_DEMAND_SOME,
  LRD_DEMAND_PRESSING,
  LRD_DEMAND_NEVER, // more than there ever is
} lrd_demand;

typedef struct lrd_expert {
  uint8_t small; // target of the small queue, in per cent of the capacity
  uint8_t life;  // how long a ghost lives, in epochs; 0: it proves nothing
  bool clock;    // see above
  uint8_t fills; // lrd_demand, from which on it fills
} lrd_expert;

enum {
  LRD_EXPERTS = 7,
  LRD_EXPERT_FIRST = 1,
  LRD_EXPERT_HALF = 3,
  LRD_EXPERT_AGE = 4,
  LRD_EXPERT_CLOCK = 6,
  LRD_EXPERT_EPOCHS = 4,      // in which a table of ghosts counts a capacity: see lrd_ghosts.h
  LRD_EXPERT_GHOSTS_MOST = 2, // the longest life of a ghost, in capacities
  LRD_EXPERT_ALL = 100,       // of `small`
};

static const lrd_expert lrd_experts[LRD_EXPERTS] = {
    {.small = 1, .life = 2 * LRD_EXPERT_EPOCHS, .fills = LRD_DEMAND_SOME},
    {.small = 10, .life = 1 * LRD_EXPERT_EPOCHS, .fills = LRD_DEMAND_PRESSING},
    {.small = 30, .life = 1 * LRD_EXPERT_EPOCHS, .fills = LRD_DEMAND_SOME},
    {.small = 50, .life = 2 * LRD_EXPERT_EPOCHS, .fills = LRD_DEMAND_NEVER},
    {.small = LRD_EXPERT_ALL, .life = 0, .fills = LRD_DEMAND_NEVER},
    {.small = 3, .life = 1, .fills = LRD_DEMAND_SOME},
    {.small = 0, .life = 0, .clock = true, .fills = LRD_DEMAND_SOME},
};

/// The most hits that count for an entry. With 1 the miss ratio is 0.002 worse; with 7 it is no
/// better.
enum { LRD_CREDIT_MOST = 3 };
/// The hits that count, of so many.
static inline uint32_t lrd_credit(uint32_t hits) {
  return hits < LRD_CREDIT_MOST ? hits : LRD_CREDIT_MOST;
}

/// The most entries that move from the younger to the older half in one insertion.
enum { LRD_AGEING_MOST = 4 };

/// The most entries that one eviction looks at, beside LRD_AGEING_MOST that it may have to settle
/// and LRD_FRONT_STEPS that the front hand passes.
enum { LRD_EXPERT_STEPS = 56 };

/// The target of the small queue, for this capacity.
static inline uint64_t lrd_expert_small(const lrd_expert *expert, uint64_t capacity) {
  if (expert->clock) return 0;
  uint64_t rounded = capacity / 100 * expert->small + (capacity % 100 * expert->small + 50) / 100;
  return rounded ? rounded : 1;
}

/// True when an entry leaves the small queue for the main queue.
static inline bool lrd_expert_promotes(bool young, uint32_t credit) {
  return credit >= (young ? 2 : 1);
}

/// The credit that an entry keeps when it goes round the main queue once more.
static inline uint32_t lrd_expert_round(const lrd_expert *expert, uint32_t credit) {
  return expert->clock ? 0 : credit - 1;
}

/// A cache of fewer entries keeps no ghosts. By chance one recall in 500 takes a new key for one
/// that has a ghost. That key then enters the main queue although nobody has asked for it again.
/// Among a handful of entries a single one of that kind is felt.
enum { LRD_EXPERT_TINY = 64 };

/// In a cache of fewer entries a phase of the workload is over within a few hundred requests. There
/// demand never presses: what filled the cache would stay for all of a phase.
enum { LRD_EXPERT_SMALL = 512 };

/// Caches of up to so many entries begin with age alone.
enum { LRD_EXPERT_LEAST = 2 };

/// The expert to begin with, in a cache of `whole`. 0: its size is not known yet.
static inline uint32_t lrd_expert_first(uint64_t whole) {
  if (whole && whole <= LRD_EXPERT_LEAST) return LRD_EXPERT_AGE;
  return whole && whole < LRD_EXPERT_TINY ? LRD_EXPERT_HALF : LRD_EXPERT_FIRST;
}

/// The number of ghosts to remember, for this capacity of `whole` and a life of so many epochs.
static inline uint64_t lrd_expert_ghosts(uint64_t capacity, uint64_t whole, uint32_t life) {
  return whole < LRD_EXPERT_TINY ? 0 : capacity * life / LRD_EXPERT_EPOCHS;
}

/// The number of ghosts in an epoch, for this capacity.
static inline uint64_t lrd_expert_epoch(uint64_t capacity) {
  return capacity / LRD_EXPERT_EPOCHS;
}

#pragma clang assume_nonnull end
