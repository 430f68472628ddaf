// SPDX-License-Identifier: Apache-2.0
/* lrd_advisor.h — tells all shards of a cache which expert to follow: the one that would have
 * missed least lately.
 *
 *   shards ──probes──▶ shadow 0 … shadow 6 ──misses──▶ current expert ──▶ shards
 *
 * Every expert runs in a shadow (lrd_shadow.h). All shadows get the same sample of the keys: those
 * whose hash has upper 32 bits below `threshold`. A probe is what happened to such a key
 * (lrd_probe.h): a hit, a miss, a store, a removal. Hits are found by insertions (lrd_samples.h),
 * misses are noted in the thread's lane (lrd_lane.h). A hit never calls the advisor. A miss does so
 * only where a shard's probes are full.
 *
 * THE DECISION. The advisor counts the misses of each shadow. After every 33rd of a capacity of
 * misses in the average shadow it turns to the expert that saves most against the current one,
 * after the cost of the change is subtracted. That cost is the number of entries that must be
 * fetched again: a tenth of all, and more with the distance that the small queue's size moves, by a
 * third faster where the small queue grows. The fewer misses are followed by a store, the less of
 * that cost counts, down to 0.15 of it: there the entries lost do not come back, but neither do
 * those that a better expert would have kept. Chance alone could then change the expert. So the
 * other must also have saved up to two roots of what the current expert's shadow has missed since
 * it was made, the more the fewer misses are followed by a store. Half a capacity is always enough.
 * Small caches need none of this, nor does a cache that after eight capacities of misses finds next
 * to nothing. A miss of the real cache that no shadow had counts as a miss of all. A cache in a bad
 * state thus reaches a decision even when all shadows are well.
 *
 * THE CACHE ITSELF may do worse than the shadow of the current expert, which has followed that
 * expert from the start: a main queue full of what nobody asks for any more empties slowly under an
 * expert whose small queue is tiny. A miss that this shadow did not have therefore counts a quarter
 * against the expert, and another one is tried in the end.
 *
 * GHOSTS prove a key only if somebody asked for it. Where no miss has been followed by a store yet,
 * keys stored again prove nothing, in the cache as in the shadows.
 *
 * THE BOUND. No count may exceed that of the current expert by more than a lead (lrd_lead.h), which
 * is a shadow's capacity at most. Whatever the current expert was worth before, another is followed
 * once it has missed less by that lead and the cost of the change, or the margin if that is more:
 * at most half a capacity more. (A cumulative sum test: Page, "Continuous Inspection Schemes",
 * Biometrika 1954.) When the program ceases to store what it misses, what the current expert is
 * ahead is forgotten. The cache then needs time to become what the new expert would have made it.
 * An adversary who knows the sample can mislead the advisor.
 *
 * LeCaR (Vietri et al., HotStorage 2018) and Cacheus (FAST 2021) choose among experts by what each
 * would have missed. There two experts share one cache and learn from its ghosts. Here each expert
 * has a shadow of its own, so none is blamed for the evictions of another.
 *
 * SIZE. Shadows have 1/64 of the capacity up to 1,024 keys, and 1/128 beyond. They have at least
 * 256 keys, or all keys of a smaller cache, and at most 8,192. Twice as many keys save no misses on
 * the traces. From 256 keys on, all seven together take 93 to 125 bytes for each key of one. That
 * is 1.5 to 2 bytes for each entry of a medium cache, 0.7 to 1 for each of a large cache, and 25 KB
 * for a small cache as a whole. They are made when the cache is no longer idle (LRD_IDLE_PART). A
 * cache that stays idle or has no limit never gets any.
 *
 * A LIMIT OF THE COUNT that moves by an eighth or less is no change for the shadows: what they have
 * learned stays, and so does their size, as long as it suits. Those that have all keys of a small
 * cache may then be an eighth larger than it.
 *
 * A NEW START. removeAll(), and a change of the limits that halves or doubles the capacity or more,
 * begin anew with the first expert: what was learned was learned of another cache.
 *
 * COSTS. Where the limit is one of cost, the capacity in entries is an estimate. The first one is
 * made by what a nearly empty shard holds. A shard that is full estimates again, and then once in
 * each capacity of insertions: shadows of six tenths of the capacity would blame FIFO and LRU for
 * missing what they would have found. While their size does, they stay as they are, and so does
 * what they have learned; another part of the keys is sampled from then on.
 *
 * WHEN IT HEARS. The sooner the advisor hears, the better it chooses. But a key that all seven
 * shadows store touches much memory. Where that is outside the processor's cache, an insertion that
 * tells of several keys would take long. Each shard therefore keeps a few probes waiting, and in a
 * large cache each upkeep (lrd_sampling.h) takes one through the shadows. The more probes wait, the
 * more upkeeps a period has. When too many wait, the oldest does not wait for an upkeep. In a
 * smaller cache an upkeep takes all. (If two shadows at a time stored a key, one in each upkeep,
 * one request in a thousand would wait a fifth less, but the policy would save 0.03 less over the
 * traces of lrd_advisor.c.)
 *
 * THREADS. Shards call lrd_advisor_learn() under their own lock. It only tries `lock`. While
 * another shard has it, the probes wait. One that finds no room then is dropped as a whole, so all
 * shadows see the same. `lock` is held for at most seven stores in shadows, of at most
 * LRD_EXPERT_STEPS steps each, or after removals a sweep of all their queues. An upkeep does
 * that for up to LRD_PROBES probes that wait, under the shard's lock, and for one more for each hit
 * that its polls find when there is no room to wait (at most 32). lrd_advisor_adjust() runs without
 * any lock. It allocates and frees outside `lock`, and only tries `lock` as well. fork() takes the
 * locks of all shards, so the child finds `lock` free, unless an adjustment holds it in its few
 * instructions. Then the child's cache keeps its expert and does without shadows.
 *
 * FIELDS
 *   current      relaxed: an insertion that misses a change follows the former expert
 *   loading      relaxed: set under `lock`, cleared by a new start
 *   demand       relaxed, like `loading`; written only when it changes, as insertions read its line
 *   keeps        the same
 *   threshold    relaxed, like `wished`, `built`, `mean`, `exact` and `bytes`: adjusted at leisure.
 *                Two shards that change `mean` at a time may lose the change of one
 *   all others   guard: `lock` */
#pragma once

#include "lrd_lead.h"
#include "lrd_lock.h"
#include "lrd_probe.h"
#include "lrd_tally.h"

#pragma clang assume_nonnull begin

typedef struct lrd_advisor {
  _Atomic(uint32_t) current;
  _Atomic(uint32_t) threshold;
  _Atomic(uint64_t) wished; // entries of the whole cache that shadows are wanted for
  _Atomic(uint64_t) built;  // entries that they were made for
  _Atomic(uint64_t) mean;   // entries of the whole cache, by shards that were full, or by a limit
                            // that has moved a little; 0: by neither yet
  _Atomic(size_t) bytes;    // of the shadows
  _Atomic(bool) loading;    // a store has followed a miss
  _Atomic(uint8_t) demand;  // lrd_demand
  _Atomic(bool) exact;      // `wished` is a limit of the count, not an estimate
  _Atomic(bool) keeps;      // entries that age keep their hits: lrd_expert.h
  uint32_t shards;          // constant
  bool alone;               // constant: one thread has it for itself, and `lock` is never taken

  // Lookups that miss read the fields above. So do insertions that do the upkeep, find a ghost or
  // fill the cache. The fields below are on other cache lines.
  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  lrd_shadows *_Nullable shadows;
  uint32_t capacity; // of each shadow
  uint32_t events;   // misses since the last decision
  lrd_tally heard;   // of the cache itself, lately
  double misses[LRD_EXPERTS];
  lrd_lead lead; // of the current expert
} lrd_advisor;

/// A new advisor without shadows; NULL without memory. 0 shards: one, which one thread has for
/// itself.
lrd_advisor *_Nullable lrd_advisor_create(uint32_t shards);

void lrd_advisor_destroy(void *advisor);

/// Below LRD_ADVISOR_LARGE entries shadows have LRD_SHADOW_LEAST keys, or all keys.
enum { LRD_SHADOW_LEAST = 256, LRD_ADVISOR_LARGE = 64 * LRD_SHADOW_LEAST };

/// The capacity of the shadows of a cache of `entries`.
static inline uint32_t lrd_advisor_shadow(uint64_t entries) {
  uint64_t part = entries / 64 < 1024 ? entries / 64 : 1024;
  if (part < entries / 128) part = entries / 128;
  if (part < LRD_SHADOW_LEAST) part = LRD_SHADOW_LEAST;
  if (part > entries) part = entries;
  return part > LRD_SHADOW_MOST ? LRD_SHADOW_MOST : (uint32_t)part;
}

/// Asks for shadows for a cache whose shards hold `entries` each. lrd_advisor_adjust() makes them.
/// Where `entries` is an estimate and not `exact`, shadows for half to twice as many stay.
void lrd_advisor_propose(lrd_advisor *advisor, uint64_t entries, bool exact);

/// Notes that a full shard would hold so many entries, where costs are limited. The shadows follow
/// the mean of the shards, if that is far from what they are for: by an eighth, or by a quarter
/// below LRD_SHADOW_LEAST.
void lrd_advisor_measure(lrd_advisor *advisor, uint64_t entries);

/// Estimates how many sampled entries each shard holds.
static inline uint32_t lrd_advisor_share(lrd_advisor *advisor) {
  uint64_t entries = LRD_LOAD(&advisor->wished);
  return lrd_advisor_shadow(entries) / advisor->shards + 1;
}

/// The memory that the advisor has now.
size_t lrd_advisor_bytes(void *advisor);

/// True when lrd_advisor_adjust() has something to do.
static inline bool lrd_advisor_waits(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->wished) != LRD_LOAD(&advisor->built);
}

/// Makes the shadows that were asked for, in place of the former ones. If memory is missing there
/// are none. After lrd_advisor_measure(), or a limit that has moved a little, the former ones go
/// on, with another sample, if their size does. Otherwise the current expert stays, unless the
/// cache is twice as large as it was for the former shadows or larger, or half as large or smaller:
/// then the first expert is followed in any case.
void lrd_advisor_adjust(void *advisor);

static inline uint32_t lrd_advisor_current(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->current);
}

/// Follows the first expert again, and gives the shadows up until they are asked for again.
static inline void lrd_advisor_forget(lrd_advisor *advisor) {
  LRD_STORE(&advisor->current, lrd_expert_first(LRD_LOAD(&advisor->built)));
  LRD_STORE(&advisor->wished, 0);
  LRD_STORE(&advisor->mean, 0);
  LRD_STORE(&advisor->loading, false);
  LRD_STORE(&advisor->demand, LRD_DEMAND_NONE);
  LRD_STORE(&advisor->keeps, false);
}

/// True while shadows that were given up are still there.
static inline bool lrd_advisor_forgets(lrd_advisor *advisor) {
  return !LRD_LOAD(&advisor->wished) && LRD_LOAD(&advisor->built);
}

/// True when the program has stored what it missed.
static inline bool lrd_advisor_hears_loads(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->loading);
}

static inline lrd_demand lrd_advisor_hears_demand(lrd_advisor *advisor) {
  return (lrd_demand)LRD_LOAD(&advisor->demand);
}

static inline bool lrd_advisor_keeps(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->keeps);
}

/// True when its shadows are those of a small cache, or not made yet.
static inline bool lrd_advisor_is_small(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->built) < LRD_EXPERT_SMALL;
}

/// True for a cache of that size: the processor may not have the memory of its shadows at hand.
static inline bool lrd_advisor_is_large(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->built) >= LRD_ADVISOR_LARGE;
}

/// A key is sampled when the upper 32 bits of its hash are below this.
static inline uint32_t lrd_advisor_threshold(lrd_advisor *advisor) {
  return LRD_LOAD(&advisor->threshold);
}

/// Takes a probe through all shadows, if there are any, and decides when it is time. False, and
/// nothing is done, while another thread has the advisor's lock.
bool lrd_advisor_learn(lrd_advisor *advisor, lrd_probe *probe);

#pragma clang assume_nonnull end
