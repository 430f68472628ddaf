// SPDX-License-Identifier: Apache-2.0
#include "lrd_process.h"

#include "lrd_enter.h"

#include <pthread.h>

static lrd_lock caches_lock; // of both lists
static lrd_cache *newest;
static lrd_side_lock *newest_side;

static void for_all_locks(void (*apply)(lrd_lock *lock)) {
  for (lrd_cache *cache = newest; cache; cache = cache->older) {
    apply(&cache->admin);
    for (uint32_t i = 0; i <= cache->shard_mask; i++) apply(&cache->shards[i].lock);
    apply(&cache->pool.lock);
  }
  for (lrd_side_lock *side = newest_side; side; side = side->older) apply(&side->lock);
}

static void take(lrd_lock *lock) LRD_UNCHECKED_LOCKS {
  lrd_lock_acquire(lock);
}
static void let_go(lrd_lock *lock) LRD_UNCHECKED_LOCKS {
  lrd_lock_release(lock);
}

static void before_fork(void) LRD_UNCHECKED_LOCKS {
  lrd_request_before_fork();
  lrd_lock_acquire(&caches_lock);
  lrd_thread_before_fork();
  for_all_locks(take);
}

static void after_fork_parent(void) LRD_UNCHECKED_LOCKS {
  for_all_locks(let_go);
  lrd_thread_after_fork_parent();
  lrd_lock_release(&caches_lock);
  lrd_request_after_fork_parent();
}

/// The background thread is gone with its references; what it was destroying stays undestroyed.
static void reset_caches(void) {
  for (lrd_cache *cache = newest; cache; cache = cache->older) {
    lrd_lanes_reset(cache);
    // The thread that was to run the fence is gone.
    for (uint32_t i = 0; i <= cache->shard_mask; i++) cache->shards[i].limbo.fencing = false;
    atomic_store_explicit(&cache->request.state, 0, memory_order_relaxed);
    if (atomic_load_explicit(&cache->closed, memory_order_relaxed)) continue;
    atomic_store_explicit(&cache->request.references, 1, memory_order_relaxed);
  }
}

static void after_fork_child(void) LRD_UNCHECKED_LOCKS {
  for_all_locks(lrd_lock_reset);
  reset_caches();
  lrd_thread_after_fork_child();
  lrd_lock_reset(&caches_lock);
  lrd_request_after_fork_child();
}

/// Forgets the ending thread's lanes, which go to the next thread with its record, and notes its
/// last hits in the order of every cache it has used: a batch does not outlive its thread.
static void apply_last_hits(lrd_thread *thread) {
  for (int i = 0; i < LRD_NEAR_LANES; i++) lrd_near[i] = (lrd_near_lane){0, NULL};
  lrd_lock_acquire(&caches_lock);
  for (lrd_cache *cache = newest; cache; cache = cache->older) {
    lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
    if (thread->index >= lanes->capacity) continue;
    lrd_lane *lane = atomic_load_explicit(&lanes->lane[thread->index], memory_order_acquire);
    for (uint32_t i = 0; lane && lane->touches && i <= cache->shard_mask; i++) {
      lrd_shard *shard = &cache->shards[i];
      lrd_shard_enter(cache, lane, shard);
      // A mark goes back: the request queue's lock may not be taken under this one.
      if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
    }
  }
  lrd_lock_release(&caches_lock);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool started;

static void start(void) {
  lrd_platform_start();
  lrd_thread_set_exit_hook(apply_last_hits);
  started = pthread_atfork(before_fork, after_fork_parent, after_fork_child) == 0;
}

bool lrd_process_start(void) {
  pthread_once(&once, start);
  return started;
}

void lrd_process_add(lrd_cache *cache) {
  lrd_lock_acquire(&caches_lock);
  cache->older = newest;
  cache->newer = NULL;
  if (newest) newest->newer = cache;
  newest = cache;
  lrd_lock_release(&caches_lock);
}

void lrd_process_remove(lrd_cache *cache) {
  lrd_lock_acquire(&caches_lock);
  if (cache->newer) {
    cache->newer->older = cache->older;
  } else {
    newest = cache->older;
  }
  if (cache->older) cache->older->newer = cache->newer;
  lrd_lock_release(&caches_lock);
}

void lrd_side_lock_add(lrd_side_lock *side) {
  // fork() must know of the list before anybody can be in the middle of changing it. Without memory
  // for that there will be no cache either.
  (void)lrd_process_start();
  lrd_lock_acquire(&caches_lock);
  side->older = newest_side;
  side->newer = NULL;
  if (newest_side) newest_side->newer = side;
  newest_side = side;
  lrd_lock_release(&caches_lock);
}

void lrd_side_lock_remove(lrd_side_lock *side) {
  lrd_lock_acquire(&caches_lock);
  if (side->newer) {
    side->newer->older = side->older;
  } else {
    newest_side = side->older;
  }
  if (side->older) side->older->newer = side->newer;
  lrd_lock_release(&caches_lock);
}
