// SPDX-License-Identifier: Apache-2.0
/* lrd_side_lock.h — a lock for what the layer above keeps beside the core, known to fork().
 *
 * fork() copies only the calling thread: a lock that another thread holds at that moment would stay
 * taken in the child, and what it guards half changed. So fork() takes every lock that was added
 * here, as it does the core's own, and lets go on both sides.
 *
 * The lock is a leaf. Its holder takes no other lock of the core, adds and removes none, uses no
 * cache and does not fork; it may allocate, since allocators take their own locks around fork()
 * after these. Whoever waits for the lock therefore waits for a holder that needs nothing of what a
 * fork holds.
 *
 * FIELDS
 *   lock           see lrd_lock.h
 *   newer, older   the list of all; guard: the lock of the list of caches (lrd_process.c) */
#pragma once

#include "lrd_lock.h"

#pragma clang assume_nonnull begin

typedef struct LRD_CAPABILITY("mutex") lrd_side_lock {
  lrd_lock lock;
  struct lrd_side_lock *_Nullable newer;
  struct lrd_side_lock *_Nullable older;
} lrd_side_lock;

/// Makes a zeroed lock known to fork(). From now on it may be taken, and must not move.
void lrd_side_lock_add(lrd_side_lock *side);

/// Must come before its memory goes; the lock must be free.
void lrd_side_lock_remove(lrd_side_lock *side);

static inline void lrd_side_lock_acquire(lrd_side_lock *side)
    LRD_ACQUIRE(side) LRD_UNCHECKED_LOCKS {
  lrd_lock_acquire(&side->lock);
}

static inline void lrd_side_lock_release(lrd_side_lock *side)
    LRD_RELEASE(side) LRD_UNCHECKED_LOCKS {
  lrd_lock_release(&side->lock);
}

#pragma clang assume_nonnull end
