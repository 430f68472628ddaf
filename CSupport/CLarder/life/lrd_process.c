// SPDX-License-Identifier: Apache-2.0
#include "lrd_process.h"

#include "lrd_enter.h"
#include "lrd_outcall.h"
#include "lrd_slot.h"

#include <pthread.h>

static lrd_lock caches_lock; // guards both lists
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
  // The next holder is told what a mark says.
  if (lrd_lock_release(lock)) lrd_lock_mark(lock);
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

static _Thread_local lrd_hold *holds; // of this thread, innermost first

void lrd_hold_begin(lrd_hold *hold) {
  *hold = (lrd_hold){.outer = holds};
  holds = hold;
}

/// Takes a reference unless the last one is being given up.
static bool retain(lrd_cache *cache) {
  uint32_t references = LRD_LOAD(&cache->request.references);
  while (references) {
    // Relaxed: whoever adds one has the list's lock, which the last one to give one up takes.
    if (atomic_compare_exchange_weak_explicit(&cache->request.references, &references,
                                              references + 1, memory_order_relaxed,
                                              memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

lrd_cache *lrd_hold_next(lrd_hold *hold, lrd_cache **before) {
  *before = hold->cache;
  lrd_lock_acquire(&caches_lock);
  // A cache that is held is in the list.
  lrd_cache *next = hold->cache ? hold->cache->older : newest;
  while (next && (LRD_LOAD(&next->closed) || !retain(next))) next = next->older;
  hold->cache = next;
  lrd_lock_release(&caches_lock);
  if (!next) holds = hold->outer;
  return next;
}

/// A thread that was changing the rule is gone. What is stored from now on goes by the new rule;
/// what the thread had not come to stays with the former one until the rule is set again.
static void follow_rule(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  if (!LRD_LOAD(&cache->rule_changes)) return;
  LRD_STORE(&cache->torn, true);
  LRD_STORE(&cache->rule_changes, false);
  lrd_cache_begin_idle(cache, &cache->rule);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    if (!shard->timer) continue;
    shard->timer->rule = cache->rule;
    shard->timer->former = cache->former;
  }
}

/// Other threads are gone, and so are their references. Entries that they were destroying leak.
static void reset_caches(void) {
  for (lrd_cache *cache = newest; cache; cache = cache->older) {
    lrd_lanes_reset(cache);
    // A thread that had taken on a fence is gone.
    for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
      shard->limbo.fencing = false;
      // Nobody waits for a deadline any more.
      if (shard->timer) shard->timer->wake = LRD_FOREVER;
    }
    follow_rule(cache);
    LRD_STORE(&cache->compacting, false);
    cache->density = (lrd_density){0};
    LRD_STORE(&cache->budget.claims, 0);
    LRD_STORE(&cache->pool.sparse, LRD_DENSE);
    lrd_outcall_reset(cache);
    // To start a thread is not for fork(): the child may be about to call exec().
    bool owes = !lrd_request_is_idle(&cache->request) || lrd_cache_is_timed(cache);
    if (owes) LRD_STORE(&cache->owed, true);
    lrd_request_reset(&cache->request);
    if (LRD_LOAD(&cache->closed)) continue;
    // A destructor may have forked amid a visit. That goes on in the child.
    bool visited = lrd_request_visited() == &cache->request;
    LRD_STORE(&cache->request.references, visited ? 2 : 1);
  }
  for (lrd_hold *hold = holds; hold; hold = hold->outer) {
    if (!hold->cache || LRD_LOAD(&hold->cache->closed)) continue;
    LRD_STORE(&hold->cache->request.references, LRD_LOAD(&hold->cache->request.references) + 1);
  }
}

static bool started;

static void after_fork_child(void) LRD_UNCHECKED_LOCKS {
  // Where another thread was amid pthread_once(), glibc runs its function again in the child. (That
  // of musl waits there for ever.)
  started = true;
  for_all_locks(lrd_lock_reset);
  reset_caches();
  // The next use of each cache comes the long way, by which it asks for what is owed.
  lrd_lanes_forget_near();
  lrd_thread_after_fork_child();
  lrd_lock_reset(&caches_lock);
  lrd_request_after_fork_child();
}

/// When a thread ends, notes its last hits in the order of every cache it has used: a batch does
/// not outlive its thread. Nor do its free slots: a few in each of many pages would keep all of
/// them. (A page that is empty then is freed under `caches_lock`: whoever creates or closes a cache
/// may wait for that.) The lanes go to the next thread that takes its record.
static void leave_caches(lrd_thread *thread) {
  lrd_lanes_forget_near();
  lrd_lock_acquire(&caches_lock);
  for (lrd_cache *cache = newest; cache; cache = cache->older) {
    lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
    if (thread->index >= lanes->capacity) continue;
    lrd_lane *lane = atomic_load_explicit(&lanes->lane[thread->index], memory_order_acquire);
    for (uint32_t i = 0; lane && lane->touches && i <= cache->shard_mask; i++) {
      lrd_shard *shard = &cache->shards[i];
      lrd_shard_enter(cache, lane, shard);
      // Not lrd_shard_leave(): the queue of requests may not be locked under `caches_lock`. Marks
      // the lock again instead.
      if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
    }
    if (lane) lrd_slot_give_all(cache, lane);
  }
  lrd_lock_release(&caches_lock);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void) {
  if (started) return; // see after_fork_child()
  lrd_platform_start();
  lrd_thread_set_exit_hook(leave_caches);
  started = pthread_atfork(before_fork, after_fork_parent, after_fork_child) == 0;
}

bool lrd_process_start(void) {
  pthread_once(&once, start);
  return started;
}

void lrd_process_add(lrd_cache *cache) {
  lrd_lock_acquire(&caches_lock);
  cache->older = newest;
  cache->link = &newest;
  if (newest) newest->link = &cache->older;
  newest = cache;
  lrd_lock_release(&caches_lock);
}

void lrd_process_remove(lrd_cache *cache) {
  lrd_lock_acquire(&caches_lock);
  *cache->link = cache->older;
  if (cache->older) cache->older->link = cache->link;
  lrd_lock_release(&caches_lock);
}

void lrd_side_lock_add(lrd_side_lock *side) {
  // fork() must know the list before a thread can be changing it. If this fails for want of memory,
  // no cache can be created either.
  (void)lrd_process_start();
  lrd_lock_acquire(&caches_lock);
  if (!side->link) {
    side->older = newest_side;
    side->link = &newest_side;
    if (newest_side) newest_side->link = &side->older;
    newest_side = side;
  }
  lrd_lock_release(&caches_lock);
}

void lrd_side_lock_remove(lrd_side_lock *side) {
  lrd_lock_acquire(&caches_lock);
  *side->link = side->older;
  if (side->older) side->older->link = side->link;
  side->link = NULL;
  lrd_lock_release(&caches_lock);
}
