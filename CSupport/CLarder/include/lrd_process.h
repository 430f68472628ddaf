// SPDX-License-Identifier: Apache-2.0
/* lrd_process.h — what exists once per process: the list of all caches, start-up, and fork().
 *
 * fork() copies only the calling thread. Before it, every lock of the core is taken, so that the
 * child gets every structure whole. After it, both sides let go, and the child forgets the other
 * threads' loans.
 *
 * ORDER OF LOCKS. Nothing but fork() ever holds two, except those named on the right.
 *   queue of requests
 *   lists of caches and side locks      the exit hook of threads: then one shard at a time
 *   registry of threads
 *   of each cache: admin
 *                  shards by number     lrd_removal_of_all()
 *                  pool
 *   side locks
 *
 * SIDE LOCKS are for what the layer above keeps beside the core: a lock that another thread holds
 * during fork() would stay taken in the child, and what it guards half changed. So fork() takes
 * every lock that was added here as well. A side lock is a leaf. Its holder takes no other lock of
 * the core, adds and removes none, uses no cache and does not fork. It may allocate, since
 * allocators take their own locks around fork() after these. Whoever waits for a side lock therefore
 * waits for a holder that needs nothing of what a fork holds.
 *
 * FIELDS of lrd_side_lock
 *   lock           see lrd_lock.h
 *   newer, older   the list of all; guard: the lock of both lists */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Prepares the process at its first cache. False when hooks cannot be installed.
bool lrd_process_start(void);

void lrd_process_add(lrd_cache *cache);
void lrd_process_remove(lrd_cache *cache);

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
