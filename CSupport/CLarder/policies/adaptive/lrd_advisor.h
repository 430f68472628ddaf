// SPDX-License-Identifier: Apache-2.0
/* lrd_advisor.h — tells all shards of a cache which expert to follow: one that would have missed
 * least lately.
 *
 *   shards ──sampled requests──▶ shadow 0 … shadow 6 ──misses──▶ current expert ──▶ shards
 *
 * Every expert runs in a shadow (lrd_shadow.h), over the same sample of keys: those whose hash is
 * below `threshold`. The samples reach the advisor from the paths of misses alone: the missed key
 * itself, and hits that insertions find in sampled entries (lrd_samples.h). No hit ever comes here.
 *
 * THE DECISION. Misses of each shadow are counted, older ones for less: at every decision all
 * counts shrink by 2 %. The advisor turns to the expert that saves most against the current one,
 * less what the change itself costs: entries that have to be fetched again, in proportion to how
 * far the small queue moves, and a third more where it grows. Decisions come after a tenth of a
 * capacity of misses in the average shadow; misses of the real cache that no shadow had count as
 * well, so that a cache in a bad state gets away from it though all shadows are well.
 *
 * Choosing among experts by what each would have missed is the idea of LeCaR (Vietri et al.,
 * HotStorage 2018) and Cacheus (FAST 2021), where two experts share one cache and learn from its
 * ghosts; a shadow of its own for each avoids that what one evicts is held against another.
 *
 * SIZE. Shadows have 1/16 of the capacity up to 2,048 keys, 1/64 beyond, at least 256 keys (or all,
 * of fewer) and at most 32,768. All seven take 92 to 95 bytes for each key: 5.9 bytes for an entry
 * of a medium cache, 1.5 for one of a large cache, and 24 KB for a small cache as a whole. They are
 * made when the cache is a sixteenth full, and never for one that stays emptier or has no limit.
 * With 256 keys of 12,000 and less costly changes, chance misled the advisor in every fifth run of
 * one trace.
 *
 * ONE AT A TIME. A request to all seven shadows touches a good deal of memory that is not in the
 * cache, and one insertion in fifty would pay for it. Each shard therefore has one sampled request
 * under way, a note, and each insertion brings it to one more shadow. When the next one comes the
 * rest is asked at once.
 *
 * THREADS. Shards call lrd_advisor_ask() under their own lock. It takes `lock` by trylock only; if
 * another shard has it the note stays as it is, and a sample that comes meanwhile is dropped:
 * whole, so that all shadows see the same ones. The lock is held for at most seven requests to
 * shadows, of LRD_VICTIM_STEPS steps each. lrd_advisor_adjust() runs without any lock; it allocates
 * and frees outside `lock` and tries it as well. fork() takes all shards' locks, so the child finds
 * `lock` free, unless an adjustment was in its few instructions: then the child's cache goes on
 * with the expert it has, and does without shadows.
 *
 * FIELDS
 *   current      relaxed: an insertion that misses a change follows the former expert
 *   threshold    relaxed, as are `wished` and `built`: an estimate of sizes, adjusted at leisure
 *   all others   guard: `lock` */
#pragma once

#include "lrd_lock.h"
#include "lrd_shadow.h"

#pragma clang assume_nonnull begin

typedef struct lrd_advisor {
  _Atomic(uint32_t) current;
  _Atomic(uint32_t) threshold;
  _Atomic(uint64_t) wished; // entries of the whole cache, for which shadows are wanted
  _Atomic(uint64_t) built;  // for which they were made
  uint32_t shards;          // constant

  // Apart from what every insertion reads.
  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  lrd_shadow *_Nullable shadows; // one for each expert, and the memory they use
  size_t bytes;
  uint32_t capacity; // of each shadow
  uint32_t events;   // towards the next decision
  double misses[LRD_EXPERTS];
} lrd_advisor;

/// A new advisor without shadows; NULL without memory.
lrd_advisor *_Nullable lrd_advisor_create(uint32_t shards);

void lrd_advisor_destroy(lrd_advisor *advisor);

/// The capacity of the shadows of a cache of `entries`.
static inline uint32_t lrd_advisor_shadow(uint64_t entries) {
  uint64_t part = entries / 16 < 2048 ? entries / 16 : 2048;
  if (part < entries / 64) part = entries / 64;
  if (part < 256) part = 256;
  if (part > entries) part = entries;
  return part > LRD_SHADOW_MOST ? LRD_SHADOW_MOST : (uint32_t)part;
}

/// Asks for shadows, to be made by lrd_advisor_adjust(), for a cache whose shards hold `entries`
/// each. Unless that is exact, shadows stay that are for half to twice as many.
void lrd_advisor_propose(lrd_advisor *advisor, uint64_t entries, bool exact);

/// About how many sampled entries each shard holds.
static inline uint32_t lrd_advisor_share(lrd_advisor *advisor) {
  uint64_t entries = atomic_load_explicit(&advisor->wished, memory_order_relaxed);
  return lrd_advisor_shadow(entries) / advisor->shards + 1;
}

/// Memory the advisor has now.
size_t lrd_advisor_bytes(lrd_advisor *advisor);

/// True when lrd_advisor_adjust() has something to do.
static inline bool lrd_advisor_waits(lrd_advisor *advisor) {
  return atomic_load_explicit(&advisor->wished, memory_order_relaxed) !=
         atomic_load_explicit(&advisor->built, memory_order_relaxed);
}

/// Makes the shadows that were asked for; those that were there go. Without memory there are none,
/// and the current expert stays.
void lrd_advisor_adjust(lrd_advisor *advisor);

static inline uint32_t lrd_advisor_current(lrd_advisor *advisor) {
  return atomic_load_explicit(&advisor->current, memory_order_relaxed);
}

/// Keys are sampled when the lower half of their scrambled hash is below this.
static inline uint32_t lrd_advisor_threshold(lrd_advisor *advisor) {
  return atomic_load_explicit(&advisor->threshold, memory_order_relaxed);
}

/// A request for a sampled key, on its way through the shadows.
typedef struct lrd_note {
  uint64_t scrambled;
  uint8_t next;   // the shadow to ask next; LRD_EXPERTS when all were asked
  uint8_t absent; // of those asked, the ones that did not have the key
  bool missed;    // nor had the real cache
} lrd_note;

/// lrd_advisor_ask() for a note that was not brought to all.
void lrd_advisor_ask_more(lrd_advisor *advisor, lrd_note *note, uint32_t most);

/// Brings a note to up to `most` more shadows, and decides when it is time. Another thread's lock
/// may keep it from that.
static inline void lrd_advisor_ask(lrd_advisor *advisor, lrd_note *note, uint32_t most) {
  if (LRD_UNLIKELY(note->next != LRD_EXPERTS)) lrd_advisor_ask_more(advisor, note, most);
}

#pragma clang assume_nonnull end
