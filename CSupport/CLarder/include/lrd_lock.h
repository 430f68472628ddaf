// SPDX-License-Identifier: Apache-2.0
/* lrd_lock.h — a parking mutex of one word, with a mark that a failed try leaves to the holder.
 *
 *   word   LOCKED | PARKED | MARKED
 *
 * NO REQUEST IS LOST. lrd_lock_try_or_mark() either takes the lock or sets MARKED in the same word
 * by the same compare-and-swap; the holder's release swaps the word to 0 and is told of the mark.
 * There is no window between "failed" and "marked", so no fence is needed beyond the word's own
 * order.
 *
 * Acquire pairs with release on `word`. A thread spins briefly while nobody sleeps, then parks:
 * holders may be preempted, so spinning alone would burn whole time slices. Not recursive, not
 * fair. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

#define LRD_LOCKED 1u
#define LRD_PARKED 2u
#define LRD_MARKED 4u

typedef struct LRD_CAPABILITY("mutex") lrd_lock {
  _Atomic(uint32_t) word;
} lrd_lock;

/// The path of lrd_lock_acquire() for a lock that is taken: spins, then sleeps.
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
  uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
  return !(word & LRD_LOCKED) &&
         atomic_compare_exchange_strong_explicit(&lock->word, &word, word | LRD_LOCKED,
                                                 memory_order_acquire, memory_order_relaxed);
}

/// True while somebody holds the lock: a hint, unless nobody can be taking or releasing it.
static inline bool lrd_lock_is_held(lrd_lock *lock) {
  return atomic_load_explicit(&lock->word, memory_order_relaxed) & LRD_LOCKED;
}

/// As lrd_lock_try(); on failure the holder learns of it when it releases the lock. Never waits.
static inline bool lrd_lock_try_or_mark(lrd_lock *lock)
    LRD_TRY_ACQUIRE(true, lock) LRD_UNCHECKED_LOCKS {
  uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
  for (;;) {
    uint32_t wanted = word & LRD_LOCKED ? word | LRD_MARKED : word | LRD_LOCKED;
    if (atomic_compare_exchange_weak_explicit(&lock->word, &word, wanted, memory_order_acquire,
                                              memory_order_relaxed)) {
      return !(word & LRD_LOCKED);
    }
  }
}

/// Frees the lock. True when somebody tried meanwhile and left a mark: the caller then does, or
/// passes on, the work that was asked for.
static inline bool lrd_lock_release(lrd_lock *lock)
    LRD_RELEASE(lock) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  uint32_t word = atomic_exchange_explicit(&lock->word, 0, memory_order_release);
  if (LRD_UNLIKELY(word & LRD_PARKED)) lrd_unpark_one(&lock->word);
  return word & LRD_MARKED;
}

/// Leaves a mark on a lock in any state: whoever holds it, or takes it next, is told on release.
static inline void lrd_lock_mark(lrd_lock *lock) LRD_NONBLOCKING {
  atomic_fetch_or_explicit(&lock->word, LRD_MARKED, memory_order_relaxed);
}

/// In the child of fork(): makes the lock free whoever held it.
static inline void lrd_lock_reset(lrd_lock *lock) {
  atomic_store_explicit(&lock->word, 0, memory_order_relaxed);
}

#pragma clang assume_nonnull end
