// SPDX-License-Identifier: Apache-2.0
/* lrd_refresh.h — when a value is to be refreshed: the layer above makes a new one while the old
 * one still serves. Caches that refresh keep two words in each entry, where that layer says.
 *
 *   at      the tick from which the value is old
 *   time    the ticks that it took to make the value; only if the layer above wants that
 *
 * Many hits may find that a value is old. One of them *claims* the refresh, and moves `at` to a
 * later tick. If nothing has come of the refresh by then, another hit can claim it. `time` can be
 * claimed once.
 *
 * GUARD: written before the entry is published, then by hits, who hold it by a hazard, and under
 * the shard's lock. All relaxed: the words order nothing but claims. */
#pragma once

#include "lrd_lookup.h"

#pragma clang assume_nonnull begin

typedef struct lrd_refresh {
  _Atomic(uint64_t) at;
  _Atomic(uint64_t) time;
} lrd_refresh;

/// The words of an entry that is about to be published. `time` 0: not known. `timed`: it has room.
static inline void lrd_refresh_open(void *words, uint64_t at, bool timed, uint64_t time) {
  lrd_refresh *refresh = words;
  LRD_STORE(&refresh->at, at);
  if (timed) LRD_STORE(&refresh->time, time);
}

/// The same words for a copy of an entry that is published.
static inline void lrd_refresh_copy(void *copy, const void *words, bool timed) {
  lrd_refresh *refresh = (lrd_refresh *)(uintptr_t)words;
  lrd_refresh_open(copy, LRD_LOAD(&refresh->at), timed, timed ? LRD_LOAD(&refresh->time) : 0);
}

/// Claims `at` if it has come; it is then `later`.
LRD_INLINE bool lrd_refresh_claim(void *words, uint64_t now, uint64_t later) LRD_NONBLOCKING {
  lrd_refresh *refresh = words;
  uint64_t at = LRD_LOAD(&refresh->at);
  if (LRD_LIKELY(now < at)) return false;
  return atomic_compare_exchange_strong_explicit(&refresh->at, &at, later, memory_order_relaxed,
                                                 memory_order_relaxed);
}

/// What `time` is; 0 if that is not known, or was claimed.
LRD_INLINE uint64_t lrd_refresh_time(void *words) LRD_NONBLOCKING {
  return LRD_LOAD(&((lrd_refresh *)words)->time);
}

/// Claims `time`, found before.
static inline bool lrd_refresh_claim_early(void *words, uint64_t time) {
  return atomic_compare_exchange_strong_explicit(&((lrd_refresh *)words)->time, &time, 0,
                                                 memory_order_relaxed, memory_order_relaxed);
}

/// False when an entry lives longer than to a tick, even if nobody uses it.
static inline bool lrd_refresh_may_end(const lrd_entry *entry, uint64_t tick) {
  return lrd_word_deadline(LRD_LOAD(&lrd_entry_time(entry)->word)) <= tick;
}

/// The tick at which an entry expires however often it is used; LRD_FOREVER or later if it does
/// not. Who asks is about to use it, and an idle deadline is no end of what is used.
static inline uint64_t lrd_refresh_deadline(const lrd_cache *cache, const lrd_entry *entry) {
  // Acquire, partner: the release store of whoever changes `hard` (lrd_deadline.h).
  uint64_t word = atomic_load_explicit(&lrd_entry_time(entry)->word, memory_order_acquire);
  return lrd_word_deadline(lrd_entry_hard(&cache->pool, entry, word));
}

#pragma clang assume_nonnull end
