// SPDX-License-Identifier: Apache-2.0
/* lrd_deadline.h — the deadline of an entry, in one word, and when the entry was written.
 *
 *   word   [ deadline:51 | parity:1 | life:12 ]     deadline in ticks (lrd_clock.h)
 *   limit  [ the first tick to come | 0 ]           expired: word < limit
 *
 * LIFE is 0 if the entry goes by the lifetime of its cache, and LRD_LIFE_FOREVER if it was given
 * one without end. Otherwise it is the lifetime that the entry was given, as a number of six bits
 * with an exponent: good to 2 %, which is enough to tell how old the entry is. Its lower byte is
 * never LRD_LIFE_SOFT. Deadlines themselves are exact to a tick, and round down.
 *
 * An entry that never expires has a deadline of LRD_FOREVER or later, which no limit reaches. The
 * difference is half of the tick at which the entry was written.
 *
 * PARITY is that of the cache's rule when the word was made. While the rule changes, it tells which
 * entries still go by the former one.
 *
 * IDLE LIFETIMES. An entry that may expire by its last use has two words. `word` is the deadline
 * that counts. `hard` is the deadline however often the entry is used; `word` is never later. A
 * soft word is one that uses move: its lower byte is LRD_LIFE_SOFT, and says that there is a hard
 * word. Every entry has room for a hard word before its cache has an idle lifetime
 * (lrd_retrofit.h). So nobody needs to ask whether an entry has that room.
 *
 * GUARD: the shard's lock to write, but a hit moves a soft `word` without it, by one compare and
 * swap. Whoever changes `hard` then stores another `word` (release): a hit that has seen this
 * (acquire, lrd_use.c) has seen the new `hard`, and one that has seen the former word swaps
 * nothing. */
#pragma once

#include "lrd_clock.h"
#include "lrd_pool.h"

#pragma clang assume_nonnull begin

#define LRD_WORD_SHIFT 13
#define LRD_WORD_PARITY ((uint64_t)1 << 12)
#define LRD_LIFE_MASK (LRD_WORD_PARITY - 1)
#define LRD_LIFE_SOFT 0xff
#define LRD_LIFE_FOREVER (LRD_LIFE_MASK - 1)

/// Before the header of a timed entry. The links are those of its shard's wheel (lrd_wheel.h).
/// Until the entry is published, `next` is its lrd_lifetime_kind.
typedef struct lrd_time {
  uint32_t previous;
  uint32_t next;
  _Atomic(uint64_t) word; // beside the header, which lookups read, too
} lrd_time;
_Static_assert(sizeof(lrd_time) == LRD_TIME_BYTES, "the time lies right before the header");

LRD_INLINE lrd_time *lrd_entry_time(const lrd_entry *entry) LRD_NONBLOCKING {
  return (lrd_time *)(uintptr_t)entry - 1;
}

/// True for a soft word: there is a hard one beside it.
LRD_INLINE bool lrd_word_is_soft(uint64_t word) LRD_NONBLOCKING {
  return (uint8_t)word == LRD_LIFE_SOFT;
}

/// Which of two rules a word was made by.
LRD_INLINE bool lrd_word_is_odd(uint64_t word) LRD_NONBLOCKING {
  return word & LRD_WORD_PARITY;
}

/// Where the hard word of an entry lies that has room for it.
LRD_INLINE _Atomic(uint64_t) *lrd_entry_hard_field(const lrd_pool *pool,
                                                   const lrd_entry *entry) LRD_NONBLOCKING {
  return (_Atomic(uint64_t) *)(void *)((char *)(uintptr_t)entry + pool->hard);
}

/// The hard word of an entry whose other one is `word`.
LRD_INLINE uint64_t lrd_entry_hard(const lrd_pool *pool, const lrd_entry *entry,
                                   uint64_t word) LRD_NONBLOCKING {
  return lrd_word_is_soft(word) ? LRD_LOAD(lrd_entry_hard_field(pool, entry)) : word;
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
  uint64_t number = (uint64_t)(shift + 1) << 6 | (ticks >> shift & 63);
  // In digits of which the lower one has 255 values: never LRD_LIFE_SOFT.
  return number + number / LRD_LIFE_SOFT;
}

static inline uint64_t lrd_life_decode(uint64_t life) {
  if (life == LRD_LIFE_FOREVER) return LRD_FOREVER;
  uint64_t number = life - (life >> 8);
  return number < 64 ? number : (64 | (number & 63)) << ((number >> 6) - 1);
}

/// The word of an entry written at one tick that lives for `ticks`.
static inline uint64_t lrd_word_make(uint64_t written, uint64_t ticks, uint64_t life,
                                     uint64_t parity) {
  bool ends = ticks < LRD_FOREVER && written + ticks < LRD_FOREVER;
  uint64_t deadline = ends ? written + ticks : LRD_FOREVER + written / 2;
  return deadline << LRD_WORD_SHIFT | parity | life;
}

#pragma clang assume_nonnull end
