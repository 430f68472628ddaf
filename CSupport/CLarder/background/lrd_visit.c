// SPDX-License-Identifier: Apache-2.0
#include "lrd_visit.h"

#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_grace.h"
#include "lrd_growth.h"
#include "lrd_hazards.h"

static const uint64_t shortest_nap = 1000000;  // 1 ms: gathers what a burst of writes leaves
static const uint64_t longest_nap = 100000000; // 0.1 s: while readers hold on to entries

/// Buckets moved under one lock.
enum { buckets_per_slice = 32 };
/// Tries to bring in what was allocated.
enum { supply_tries = 1000 };
/// Slots in use besides those of entries, and a 64th more: free slots of threads, and the limbo's.
enum { slots_besides = 4096 };
/// A visit moves at most this many slices of a shard's table.
enum { slices_per_visit = 256 };

static void nap(uint64_t nanoseconds) {
  static _Atomic(uint32_t) never;
  lrd_park(&never, 0, nanoseconds);
}

/// What a slice of work on a table leaves.
typedef enum slice {
  SLICE_DONE,   // the table is as it should be
  SLICE_MOVING, // it has more buckets to move: take the next slice
  SLICE_LEFT,   // it is left to writers, memory for it came too late, or pages were wanted
  SLICE_BUSY,   // the lock was busy: its holder knows of the request
} slice;

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

/// Makes the pool's reserve page, if the pool wants one and the cache may need it: true when it has.
static bool tidy_pool(lrd_cache *cache) {
  uint64_t limit = lrd_cache_count_limit(cache);
  return lrd_pool_prepare(&cache->pool, limit ? limit + limit / 64 + slots_besides : UINT64_MAX);
}

/// Insertions into any shard want pages while a table is being made for one.
typedef struct making {
  lrd_cache *cache;
  bool made_page;
} making;

static void make_page(void *context) {
  making *making = context;
  making->made_page |= tidy_pool(making->cache);
}

/// Takes the lock for what was allocated without it, which is too dear to throw away for a busy
/// moment; no longer than some thousand insertions take.
static bool try_for_supply(lrd_shard *shard) LRD_TRY_ACQUIRE(true, shard->lock) {
  for (int i = 0; i < supply_tries; i++) {
    if (lrd_lock_try(&shard->lock)) return true;
    lrd_yield();
  }
  return lrd_lock_try_or_mark(&shard->lock);
}

/// True when writers have moved buckets of a growing table since the thread had it last. Then it is
/// left to them: they are done before it is full, and would wait for whoever moves more. A table
/// that shrinks is far too large until it has moved, however slowly writers go.
static bool writers_move_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  bool grows = next && next->buckets > root->buckets && !lrd_growth_is_oversized_locked(shard);
  return grows && root->moved != shard->moved_seen;
}

/// Takes one bounded slice of work on a shard's tables: moves and shrinks them, and makes the
/// successor of a large one. With `scan`, once for each visit, gives the limbo's tables and what waits
/// there to it.
static slice tidy(lrd_cache *cache, lrd_shard *shard, lrd_scan *scan) {
  lrd_supply supply = {0};
  making making = {.cache = cache};
  if (!lrd_lock_try_or_mark(&shard->lock)) return SLICE_BUSY;
  bool theirs = writers_move_locked(shard);
  bool tidied = theirs || lrd_growth_tidy_locked(shard, buckets_per_slice, &supply);
  if (!tidied) {
    lrd_shard_leave(cache, shard);
    bool fetched = lrd_supply_fetch(&supply, &cache->entry_references);
    if (supply.given == LRD_SUPPLY_TABLE) lrd_table_prefault(supply.memory, make_page, &making);
    if (!try_for_supply(shard)) {
      lrd_supply_drop(&supply);
      return making.made_page ? SLICE_LEFT : SLICE_BUSY;
    }
    if (fetched) lrd_growth_tidy_locked(shard, buckets_per_slice, &supply);
    // What was not used came too late or will never do: no reason to go on at once.
    tidied = fetched && supply.given == LRD_SUPPLY_NONE;
  }
  shard->moved_seen = lrd_shard_root_locked(shard)->moved;
  bool wrong = lrd_growth_moves_locked(shard) || lrd_growth_is_oversized_locked(shard);
  if (scan) lrd_limbo_scan_passed_locked(&shard->limbo, scan);
  lrd_shard_leave(cache, shard);
  // Writers have moved on with some of their own memory, and may stop.
  bool late = wrong && supply.given != LRD_SUPPLY_NONE;
  lrd_supply_drop(&supply);
  if (tidied && !theirs && wrong) return SLICE_MOVING;
  return theirs || late || making.made_page ? SLICE_LEFT : SLICE_DONE;
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
  slice slice = tidy(cache, shard, &scan);
  bool held = scan_waiting(cache, shard, &scan);
  progress destroyed = destroy_scanned(cache, shard);
  bool moves = slice == SLICE_MOVING;
  for (int i = 1; slice == SLICE_MOVING && i < slices_per_visit; i++) {
    if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return DONE;
    slice = tidy(cache, shard, NULL);
  }
  if (slice == SLICE_BUSY) return LATER;
  // A table that has moved to its end is in the limbo by now.
  if (moves || slice == SLICE_LEFT || destroyed == MORE_TO_DO) return MORE_TO_DO;
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
    if (tidy_pool(cache)) left = MORE_TO_DO;
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
