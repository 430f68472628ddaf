// SPDX-License-Identifier: Apache-2.0
/* lrd_process.h — the list of all caches in the process, its start-up, and fork().
 *
 * fork() copies the calling thread only. Every lock of the core is taken before it, so that no
 * structure in the child is half changed. Both processes release the locks after it, and the child
 * forgets the loans of the other threads.
 *
 * ORDER OF LOCKS. fork() takes all of them in this order. Otherwise a thread holds one at a time,
 * with the exceptions on the right.
 *   queue of requests
 *   lists of caches and side locks      the exit hook of threads: then one shard at a time
 *   registry of threads
 *   of each cache: admin
 *                  shards by number     lrd_removal_of_all(), lrd_removal_observe()
 *                  pool
 *   side locks
 * The lock of a policy (`create` of lrd_policy) is tried under that of a shard, and never waited
 * for. fork() leaves it alone; the policy sees to it that the child can do without.
 *
 * SIDE LOCKS guard data of the layer above, beside the core. If another thread held such a lock
 * during fork(), it would stay taken in the child, and its data half changed. So fork() takes the
 * side locks too. A side lock is a leaf: its holder takes no other lock of the core, adds and
 * removes no side lock, uses no cache and does not fork. It may allocate: fork() takes the locks of
 * allocators after these. A holder thus never waits for a lock that a fork holds.
 *
 * FIELDS of lrd_side_lock
 *   lock          see lrd_lock.h
 *   older, link   the list of all, and the pointer in it that leads here; guard: the list's lock */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Prepares the process for its first cache. False when the system refuses the hooks around fork().
bool lrd_process_start(void);

void lrd_process_add(lrd_cache *cache);
void lrd_process_remove(lrd_cache *cache);

/// A reference to a cache, on the stack of the thread that walks over all caches. A child of fork()
/// keeps the references of the only thread that it has.
typedef struct lrd_hold {
  lrd_cache *_Nullable cache;
  struct lrd_hold *_Nullable outer;
} lrd_hold;

/// Begins a walk over all caches that are not closed, newest first; those made meanwhile may be
/// missed. Call lrd_hold_next() until it returns NULL, on one thread and as calls are nested.
void lrd_hold_begin(lrd_hold *hold);

/// The next cache, which is held until the call after this one. Returns the cache that was held
/// until now in `*before`, NULL at first: the caller gives up its reference.
lrd_cache *_Nullable lrd_hold_next(lrd_hold *hold, lrd_cache *_Nullable *_Nonnull before);

typedef struct LRD_CAPABILITY("mutex") lrd_side_lock {
  lrd_lock lock;
  struct lrd_side_lock *_Nullable older;
  struct lrd_side_lock *_Nullable *_Nullable link;
} lrd_side_lock;

/// Makes a zeroed lock known to fork(). From then on it may be taken and must not move. Does nothing
/// with one that is known: after fork() amid pthread_once() glibc has the child call once more.
void lrd_side_lock_add(lrd_side_lock *side);

/// Must be called before the lock's memory is freed. The lock must be free.
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
