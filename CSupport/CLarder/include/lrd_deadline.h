// SPDX-License-Identifier: Apache-2.0
/* lrd_deadline.h — the deadline of an entry, in one word, and when the entry was written.
 *
 *   word   [ deadline:51 | parity:1 | life:12 ]     deadline in ticks (lrd_clock.h)
 *   limit  [ the first tick to come | 0 ]           expired: word < limit
 *
 * LIFE is 0 if the entry goes by the lifetime of its cache, and LRD_LIFE_FOREVER if it was given
 * one without end. Otherwise it is the lifetime that the entry was given, as a number of six bits
 * with an exponent: good to 2 %, which is enough to tell how old the entry is. Deadlines themselves
 * are exact to a tick, and round down.
 *
 * An entry that never expires has a deadline of LRD_FOREVER or later, which no limit reaches. What
 * it is later is half of the tick at which the entry was written.
 *
 * PARITY is that of the cache's rule when the word was made: it tells, while the rule changes,
 * which entries still go by the former one.
 *
 * IDLE LIFETIMES. Caches that have them keep two words for an entry: `hard` is the deadline
 * however often the entry is used, and `word` the earlier of that and the one by the last use.
 *
 * GUARD: the shard's lock to write, but a hit stores `word` without it (all relaxed). Such a store
 * can undo a change of `word` that somebody makes at the same time. So readers look at `hard` as
 * well, which no hit writes. */
#pragma once

#include "lrd_clock.h"
#include "lrd_pool.h"

#pragma clang assume_nonnull begin

#define LRD_WORD_SHIFT 13
#define LRD_WORD_PARITY ((uint64_t)1 << 12)
#define LRD_LIFE_MASK (LRD_WORD_PARITY - 1)
#define LRD_LIFE_FOREVER LRD_LIFE_MASK

/// Before the header of a timed entry. The links are those of its shard's wheel (lrd_wheel.h).
typedef struct lrd_time {
  _Atomic(uint64_t) word;
  uint32_t earlier;
  uint32_t later;
} lrd_time;
_Static_assert(sizeof(lrd_time) == LRD_TIME_BYTES, "the time lies right before the header");

LRD_INLINE lrd_time *lrd_entry_time(const lrd_entry *entry) LRD_NONBLOCKING {
  return (lrd_time *)(uintptr_t)entry - 1;
}

/// The word that hits do not write: `hard` where there are idle lifetimes, or can be.
LRD_INLINE _Atomic(uint64_t) *lrd_entry_hard(const lrd_pool *pool,
                                             const lrd_entry *entry) LRD_NONBLOCKING {
  if (!pool->hard) return &lrd_entry_time(entry)->word;
  return (_Atomic(uint64_t) *)(void *)((char *)(uintptr_t)entry + pool->hard);
}

/// What has a word below this has expired at `tick`.
static inline uint64_t lrd_limit_at(uint64_t tick) {
  return (tick + 1) << LRD_WORD_SHIFT;
}

LRD_INLINE uint64_t lrd_word_deadline(uint64_t word) LRD_NONBLOCKING {
  return word >> LRD_WORD_SHIFT;
}

LRD_INLINE uint64_t lrd_word_life(uint64_t word) LRD_NONBLOCKING {
  return word & LRD_LIFE_MASK;
}

static inline bool lrd_word_is_endless(uint64_t word) {
  return lrd_word_deadline(word) >= LRD_FOREVER;
}

/// The code of a lifetime that an entry was given, in ticks.
static inline uint64_t lrd_life_encode(uint64_t ticks) {
  if (ticks >= LRD_FOREVER) return LRD_LIFE_FOREVER;
  if (ticks < 64) return ticks ? ticks : 1;
  int shift = 63 - __builtin_clzll(ticks) - 6;
  return (uint64_t)(shift + 1) << 6 | (ticks >> shift & 63);
}

static inline uint64_t lrd_life_decode(uint64_t life) {
  if (life == LRD_LIFE_FOREVER) return LRD_FOREVER;
  return life < 64 ? life : (64 | (life & 63)) << ((life >> 6) - 1);
}

/// The word of an entry written at one tick that lives for `ticks`.
static inline uint64_t lrd_word_make(uint64_t written, uint64_t ticks, uint64_t life,
                                     uint64_t parity) {
  bool ends = ticks < LRD_FOREVER && written + ticks < LRD_FOREVER;
  uint64_t deadline = ends ? written + ticks : LRD_FOREVER + written / 2;
  return deadline << LRD_WORD_SHIFT | parity | life;
}

#pragma clang assume_nonnull end
