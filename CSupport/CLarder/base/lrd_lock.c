// SPDX-License-Identifier: Apache-2.0
#include "lrd_lock.h"

/// How often the word is read before sleeping: for about as long as it takes to sleep and to be
/// woken, some 25 us. So nobody waits more than twice as long as he would if he knew the best way
/// (Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning for a shared-memory
/// multiprocessor", SOSP 1991). With 60, p99.9 of insertions beside a thread that removes a million
/// entries was 43 to 58 us; it is 27 to 36 us.
static const int spin_limit = 1000;

void lrd_lock_acquire_slow(lrd_lock *lock) LRD_UNCHECKED_LOCKS {
  for (int spins = 0; spins < spin_limit; spins++) {
    uint32_t word = LRD_LOAD(&lock->word);
    if (word & LRD_PARKED) break;
    if (!(word & LRD_LOCKED)) {
      if (lrd_lock_try(lock)) return;
      continue;
    }
    lrd_pause();
  }
  // From here on PARKED stays set: a thread that takes the lock here cannot know that no other one
  // sleeps.
  uint32_t word = LRD_LOAD(&lock->word);
  for (;;) {
    uint32_t wanted = word | LRD_LOCKED | LRD_PARKED;
    if (!(word & LRD_LOCKED) || !(word & LRD_PARKED)) {
      if (!atomic_compare_exchange_weak_explicit(&lock->word, &word, wanted, memory_order_acquire,
                                                 memory_order_relaxed)) {
        continue;
      }
      if (!(word & LRD_LOCKED)) return;
    }
    lrd_park(&lock->word, wanted, 0);
    word = LRD_LOAD(&lock->word);
  }
}
