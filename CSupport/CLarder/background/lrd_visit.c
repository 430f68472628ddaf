// SPDX-License-Identifier: Apache-2.0
#include "lrd_visit.h"

#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_grace.h"
#include "lrd_hazards.h"
#include "lrd_tidy.h"

static const uint64_t shortest_nap = 1000000;  // 1 ms: gathers what a burst of writes leaves
static const uint64_t longest_nap = 100000000; // 0.1 s: while readers hold on to entries

/// A visit moves at most this many slices of a shard's table.
enum { slices_per_visit = 256 };

static void nap(uint64_t nanoseconds) {
  static _Atomic(uint32_t) never;
  lrd_park(&never, 0, nanoseconds);
}

/// What a visit leaves. MORE_TO_DO: come back soon. LATER: a reader holds entries, or a lock was
/// busy.
typedef enum progress { DONE, MORE_TO_DO, LATER } progress;

/// Draws a ticket for what is fresh in all shards, unless their writers look after it or their
/// locks are busy. One fence then serves them all.
static void fence_all(lrd_cache *cache) {
  bool waits = false;
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    if (!lrd_lock_try_or_mark(&shard->lock)) continue;
    lrd_amount bound = lrd_garbage_bound_locked(cache, shard);
    bool busy = lrd_limbo_note_visit_locked(&shard->limbo, shard->unlinked, bound);
    if (!busy) waits |= lrd_limbo_draw_locked(&shard->limbo);
    lrd_shard_leave(cache, shard);
  }
  if (waits) lrd_grace_fence();
}

/// Scans what was taken from the shard's limbo and returns it. True when a reader holds something.
static bool scan_waiting(lrd_cache *cache, lrd_shard *shard, lrd_scan *scan) {
  if (!scan->entries.head && !scan->tables) return false;
  lrd_hazards hazards;
  lrd_scan_run(scan, &hazards);
  lrd_scan_sort(scan, &hazards, &cache->pool);
  bool held = scan->held.head || scan->tables;
  while (!lrd_lock_try_or_mark(&shard->lock)) {
    // Nobody waits for what is free. What is held has to go back, however long that takes.
    lrd_garbage garbage = {.free = scan->entries};
    lrd_garbage_destroy_free(cache, &garbage);
    scan->entries = (lrd_chain){0};
    if (!held) {
      lrd_hazards_discard(&hazards);
      return false;
    }
    nap(shortest_nap);
  }
  lrd_limbo_return_locked(&shard->limbo, scan, &hazards);
  lrd_shard_leave(cache, shard);
  lrd_hazards_discard(&hazards);
  return held;
}

/// Destroys what is scanned, a handful between two tries of the lock, so that reclaim() and the end
/// of the cache find nearly all of it in the shard. LATER: the lock was busy, or something is not scanned
/// yet. MORE_TO_DO: writers turn over what waits, and may stop.
static progress destroy_scanned(lrd_cache *cache, lrd_shard *shard) {
  for (;;) {
    lrd_garbage garbage = {0};
    lrd_limbo *limbo = &shard->limbo;
    if (!lrd_lock_try_or_mark(&shard->lock)) return LATER;
    bool busy = limbo->busy;
    if (!busy) {
      lrd_limbo_take_locked(limbo, &cache->pool, &cache->entry_references, LRD_DESTROY_STEP,
                            &garbage.free);
    }
    bool waits = lrd_limbo_waits_locked(limbo);
    lrd_shard_leave(cache, shard);
    if (!garbage.free.head) return !waits ? DONE : busy ? MORE_TO_DO : LATER;
    lrd_garbage_destroy_free(cache, &garbage);
  }
}

/// Works on one shard, in slices between which the lock is free.
static progress visit_shard(lrd_cache *cache, lrd_shard *shard) {
  lrd_scan scan = {0};
  lrd_slice slice = lrd_tidy_slice(cache, shard, &scan);
  bool held = scan_waiting(cache, shard, &scan);
  progress destroyed = destroy_scanned(cache, shard);
  bool moves = slice == LRD_SLICE_MOVING;
  for (int i = 1; slice == LRD_SLICE_MOVING && i < slices_per_visit; i++) {
    if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return DONE;
    slice = lrd_tidy_slice(cache, shard, NULL);
  }
  if (slice == LRD_SLICE_BUSY) return LATER;
  // A table that has moved to its end is in the limbo by now.
  if (moves || slice == LRD_SLICE_LEFT || destroyed == MORE_TO_DO) return MORE_TO_DO;
  return held || destroyed == LATER ? LATER : DONE;
}

/// What is left after two parts of a visit.
static progress worse(progress a, progress b) {
  return a == DONE || b == MORE_TO_DO ? b : a;
}

static progress visit(lrd_cache *cache) {
  progress left = DONE;
  fence_all(cache);
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    // Whoever took the last page up will want the next one soon, too.
    if (lrd_tidy_pool(cache)) left = MORE_TO_DO;
    left = worse(left, visit_shard(cache, &cache->shards[i]));
  }
  return left;
}

static lrd_cache *cache_of(lrd_request *request) {
  return (lrd_cache *)(void *)((char *)request - offsetof(lrd_cache, request));
}

void lrd_visit_run(void) {
  uint64_t pause = shortest_nap;
  for (;;) {
    lrd_request *request = lrd_request_take_all(), *next;
    if (!request) {
      pause = shortest_nap;
      continue;
    }
    nap(pause);
    progress left = DONE;
    for (; request; request = next) {
      next = request->next;
      // Begun first: what is left during the visit asks for another.
      lrd_request_begin(request);
      progress one = visit(cache_of(request));
      lrd_request_end(request, one == DONE);
      left = worse(left, one);
    }
    // A value's destruction may have used a cache on this thread; alone means alone again.
    lrd_thread_unregister();
    pause = left == LATER ? pause * 2 : shortest_nap;
    if (pause > longest_nap) pause = longest_nap;
  }
}
