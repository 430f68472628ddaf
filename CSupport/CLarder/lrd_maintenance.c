// SPDX-License-Identifier: Apache-2.0
#include "lrd_maintenance.h"

#include "lrd_grace.h"
#include "lrd_retire.h"

static lrd_lock queue_lock;
static lrd_cache *queue;
static bool running;
static _Atomic(uint32_t) requests; // counts requests: what the thread sleeps on
_Atomic(bool) lrd_maintenance_missing;

static const uint64_t shortest_nap = 1000000;  // 1 ms: gathers what a burst of writes leaves
static const uint64_t longest_nap = 100000000; // 0.1 s: while readers hold on to entries

/// A visit to a shard moves at most this many times lrd_service.c's slice of buckets.
enum { slices_per_visit = 256 };

static void nap(uint64_t nanoseconds) {
  static _Atomic(uint32_t) never;
  lrd_park(&never, 0, nanoseconds);
}

/// What a visit leaves. MORE_TO_DO: come back soon. LATER: a reader holds entries, or the
/// foreground is busy.
typedef enum progress { DONE, MORE_TO_DO, LATER } progress;

/// Destroys proven entries, a handful between two tries of the lock, so that reclaim() and the end
/// of the cache find nearly all of them in the shard. LATER: the lock was busy, or something has no
/// proof yet. MORE_TO_DO: writers turn over what waits, and may stop.
static progress destroy_proven(lrd_cache *cache, lrd_shard *shard) {
  progress left = DONE;
  for (;;) {
    lrd_change change = {0};
    if (!lrd_lock_try_or_mark(&shard->lock)) return LATER;
    if (shard->attended) {
      bool waits = lrd_retire_waits_locked(shard);
      lrd_change_cancel(cache, shard);
      return waits ? MORE_TO_DO : DONE;
    }
    lrd_retire_take_proven_locked(cache, shard, &change, LRD_DESTROY_STEP);
    // Retired since the fence, or the lock was busy then: not every holder asks again.
    if (change.unsettled || (!change.ready.head && lrd_retire_waits_locked(shard))) left = LATER;
    lrd_change_cancel(cache, shard);
    if (!change.ready.head) return left;
    lrd_retire_destroy_ready(cache, &change);
  }
}

/// Scans what was taken from the shard and puts it back. True when something is held by a reader.
static bool scan(lrd_cache *cache, lrd_shard *shard, lrd_change *change) {
  lrd_chain held = {0}, free = {0};
  if (!change->suspect.head && !change->tables) return false;
  lrd_retire_scan(cache, change, &held, &free);
  bool waits = held.head || change->tables;
  while (!lrd_lock_try_or_mark(&shard->lock)) {
    // Nobody waits for what is free; what is held has to go back, however long that takes.
    lrd_chain_append(&change->ready, &free);
    lrd_retire_destroy_ready(cache, change);
    if (!waits) return false;
    nap(shortest_nap);
  }
  lrd_retire_put_back_locked(cache, shard, change, &held, &free);
  lrd_change_cancel(cache, shard);
  lrd_retire_destroy_ready(cache, change);
  return waits;
}

/// Works on one shard, in slices between which the lock is free.
static progress service_shard(lrd_cache *cache, lrd_shard *shard) {
  lrd_change change = {0};
  bool reached = lrd_shard_service(cache, shard, &change, true);
  bool waits = scan(cache, shard, &change);
  progress proven = destroy_proven(cache, shard);
  if (!reached) return change.soon ? MORE_TO_DO : LATER;
  bool moved = change.moving;
  for (int slice = 1; change.moving && slice < slices_per_visit; slice++) {
    if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return DONE;
    change.moving = false;
    if (!lrd_shard_service(cache, shard, &change, false)) return LATER;
  }
  // A table moved to its end is retired by now.
  if (moved || change.soon || proven == MORE_TO_DO) return MORE_TO_DO;
  return waits || proven == LATER ? LATER : DONE;
}

/// One fence for what is retired in all shards, unless their writers look after it or their locks
/// are busy.
static void fence_retired(lrd_cache *cache) {
  bool awaited = false;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    if (!lrd_lock_try_or_mark(&shard->lock)) continue;
    if (!lrd_retire_attend_locked(shard)) awaited |= lrd_retire_await_locked(shard);
    lrd_change_cancel(cache, shard);
  }
  if (awaited) lrd_grace_fence();
}

/// Works on every shard once.
static progress service(lrd_cache *cache) {
  progress worst = DONE;
  fence_retired(cache);
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    // Whoever took the last page up will want the next one soon, too.
    if (lrd_cache_prepare_pool(cache)) worst = MORE_TO_DO;
    progress one = service_shard(cache, &cache->shards[i]);
    if (one == MORE_TO_DO || worst == DONE) worst = one;
  }
  return worst;
}

static lrd_cache *take_queue(void) {
  lrd_lock_acquire(&queue_lock);
  lrd_cache *taken = queue;
  queue = NULL;
  lrd_lock_release(&queue_lock);
  return taken;
}

static void put_back(lrd_cache *cache) {
  lrd_lock_acquire(&queue_lock);
  cache->next_queued = queue;
  queue = cache;
  lrd_lock_release(&queue_lock);
}

static void run(void) {
  uint64_t pause = shortest_nap;
  for (;;) {
    uint32_t seen = atomic_load_explicit(&requests, memory_order_acquire);
    lrd_cache *cache = take_queue();
    if (!cache) {
      lrd_park(&requests, seen, 0);
      pause = shortest_nap;
      continue;
    }
    nap(pause);
    progress worst = DONE;
    while (cache) {
      lrd_cache *next = cache->next_queued;
      // Set first: what is left after this visit asks for another.
      atomic_exchange_explicit(&cache->queued, LRD_VISITED, memory_order_acq_rel);
      progress left = service(cache);
      if (left == MORE_TO_DO || worst == DONE) worst = left;
      uint32_t visited = LRD_VISITED;
      if (left == DONE &&
          atomic_compare_exchange_strong_explicit(&cache->queued, &visited, 0, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
        lrd_cache_unreference(cache);
      } else {
        // Not a store: the next visit is to see what those have done who asked during this one.
        atomic_exchange_explicit(&cache->queued, LRD_QUEUED, memory_order_acq_rel);
        put_back(cache);
      }
      cache = next;
    }
    // A value's destruction may have used a cache on this thread; alone means alone again.
    lrd_thread_unregister();
    pause = worst == LATER ? pause * 2 : shortest_nap;
    if (pause > longest_nap) pause = longest_nap;
  }
}

void lrd_maintenance_queue(lrd_cache *cache) {
  // During a visit the mark is enough: the visitor itself puts the cache back.
  if (atomic_fetch_or_explicit(&cache->queued, LRD_QUEUED, memory_order_acq_rel)) return;
  atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
  lrd_lock_acquire(&queue_lock);
  bool start = !running;
  running = true;
  cache->next_queued = queue;
  queue = cache;
  lrd_lock_release(&queue_lock);
  atomic_fetch_add_explicit(&requests, 1, memory_order_release);
  if (!start) {
    lrd_unpark_one(&requests);
    return;
  }
  bool missing = !lrd_thread_spawn(run);
  atomic_store_explicit(&lrd_maintenance_missing, missing, memory_order_relaxed);
  if (missing) {
    // Without the thread, writers and reclaim() do its work; the next request tries again.
    lrd_lock_acquire(&queue_lock);
    running = false;
    lrd_lock_release(&queue_lock);
    for (lrd_cache *waiting = take_queue(), *next; waiting; waiting = next) {
      next = waiting->next_queued;
      atomic_store_explicit(&waiting->queued, 0, memory_order_release);
      lrd_cache_unreference(waiting);
    }
  }
}

void lrd_maintenance_before_fork(void) LRD_UNCHECKED_LOCKS {
  lrd_lock_acquire(&queue_lock);
}

void lrd_maintenance_after_fork_parent(void) LRD_UNCHECKED_LOCKS {
  lrd_lock_release(&queue_lock);
}

void lrd_maintenance_after_fork_child(void) LRD_UNCHECKED_LOCKS {
  running = false;
  queue = NULL;
  lrd_lock_reset(&queue_lock);
}
