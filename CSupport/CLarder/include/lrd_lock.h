// SPDX-License-Identifier: Apache-2.0
/* lrd_lock.h — a parking mutex of one word, with a mark that a failed try leaves for the holder.
 *
 *   word   LOCKED | PARKED | MARKED
 *
 * NO REQUEST IS LOST. One compare-and-swap of lrd_lock_try_or_mark() either takes the lock or sets
 * MARKED. The holder's release swaps the word to 0 and learns of the mark. Nothing can come between
 * "failed" and "marked", so the word's own order is enough, without a fence.
 *
 * Acquire pairs with release on `word`. A thread spins while nobody sleeps, for about as long as
 * sleeping would cost, then parks: the holder may be preempted, and spinning alone would burn whole
 * time slices. Not recursive, not fair. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

#define LRD_LOCKED 1u
#define LRD_PARKED 2u
#define LRD_MARKED 4u

typedef struct LRD_CAPABILITY("mutex") lrd_lock {
  _Atomic(uint32_t) word;
} lrd_lock;

/// lrd_lock_acquire() for a lock that is taken: spins, then sleeps.
void lrd_lock_acquire_slow(lrd_lock *lock) LRD_ACQUIRE(lock);

static inline void lrd_lock_acquire(lrd_lock *lock) LRD_ACQUIRE(lock) LRD_UNCHECKED_LOCKS {
  uint32_t free = 0;
  if (LRD_UNLIKELY(!atomic_compare_exchange_strong_explicit(
          &lock->word, &free, LRD_LOCKED, memory_order_acquire, memory_order_relaxed))) {
    lrd_lock_acquire_slow(lock);
  }
}

/// True when the lock was free and is now held. Never waits.
static inline bool lrd_lock_try(lrd_lock *lock)
    LRD_TRY_ACQUIRE(true, lock) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  uint32_t word = LRD_LOAD(&lock->word);
  return !(word & LRD_LOCKED) &&
         atomic_compare_exchange_strong_explicit(&lock->word, &word, word | LRD_LOCKED,
                                                 memory_order_acquire, memory_order_relaxed);
}

/// True while somebody holds the lock. A hint, unless no thread can take or release it meanwhile.
static inline bool lrd_lock_is_held(lrd_lock *lock) {
  return LRD_LOAD(&lock->word) & LRD_LOCKED;
}

/// True when a thread may be asleep, waiting for the lock. The caller holds it.
static inline bool lrd_lock_is_awaited(lrd_lock *lock) {
  return LRD_LOAD(&lock->word) & LRD_PARKED;
}

/// lrd_lock_try() that marks the lock on failure: the holder is told when it releases the lock.
static inline bool lrd_lock_try_or_mark(lrd_lock *lock)
    LRD_TRY_ACQUIRE(true, lock) LRD_UNCHECKED_LOCKS {
  uint32_t word = LRD_LOAD(&lock->word);
  for (;;) {
    uint32_t wanted = word & LRD_LOCKED ? word | LRD_MARKED : word | LRD_LOCKED;
    if (atomic_compare_exchange_weak_explicit(&lock->word, &word, wanted, memory_order_acquire,
                                              memory_order_relaxed)) {
      return !(word & LRD_LOCKED);
    }
  }
}

/// Frees the lock. True when somebody has left a mark meanwhile: the caller then does the work that
/// was asked for, or passes it on.
static inline bool lrd_lock_release(lrd_lock *lock)
    LRD_RELEASE(lock) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  uint32_t word = atomic_exchange_explicit(&lock->word, 0, memory_order_release);
  if (LRD_UNLIKELY(word & LRD_PARKED)) lrd_unpark_one(&lock->word);
  return word & LRD_MARKED;
}

/// Marks the lock in any state: whoever holds it, or takes it next, is told on release.
static inline void lrd_lock_mark(lrd_lock *lock) LRD_NONBLOCKING {
  atomic_fetch_or_explicit(&lock->word, LRD_MARKED, memory_order_relaxed);
}

/// In the child of fork(): frees the lock, whoever held it.
static inline void lrd_lock_reset(lrd_lock *lock) {
  LRD_STORE(&lock->word, 0);
}

#pragma clang assume_nonnull end
