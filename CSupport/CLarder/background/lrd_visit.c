// SPDX-License-Identifier: Apache-2.0
#include "lrd_visit.h"

#include "lrd_alloc.h"
#include "lrd_dense.h"
#include "lrd_due.h"
#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_grace.h"
#include "lrd_growth.h"
#include "lrd_hazards.h"
#include "lrd_reserve.h"

enum {
  buckets_per_slice = 32, // moved under one lock
  slices_per_visit = 256, // of one shard's table
  supply_tries = 1000,    // of the lock, to bring in a supply
};

/// What a slice of work on a table has come to.
typedef enum slice {
  SLICE_DONE,   // the table has the right size and does not move
  SLICE_MOVING, // more buckets must move: take the next slice
  SLICE_LEFT,   // left to writers, or a supply came too late: visit again soon
  SLICE_BUSY,   // the lock was busy: its holder will ask for a visit
  SLICE_FAILED, // there was no memory
} slice;

/// Draws tickets for fresh entries in all shards that are not busy, and runs one fence for all.
static void fence_all(lrd_cache *cache) {
  bool waits = false;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    if (!lrd_lock_try_or_mark(&shard->lock)) continue;
    lrd_amount bound = lrd_garbage_bound_locked(cache, shard);
    bool busy = lrd_limbo_note_visit_locked(&shard->limbo, shard->unlinked, bound);
    if (!busy) waits |= lrd_limbo_draw_locked(&shard->limbo);
    lrd_shard_leave(cache, shard);
  }
  if (waits) lrd_grace_fence();
}

/// One visit to a cache.
typedef struct visit {
  lrd_cache *cache;
  bool made_page; // a pool that wanted this page will want the next one soon: visit again soon
} visit;

/// Insertions may want a page while a table is made, or a shard is visited.
static void make_page(void *context) {
  visit *visit = context;
  visit->made_page |= lrd_reserve_prepare(&visit->cache->pool);
}

/// Fetches a supply, has the system provide its memory, and takes the lock to bring it in. It is
/// too expensive to drop because the lock was busy for a moment: tries for no longer than some
/// thousand insertions take.
static bool bring(visit *visit, lrd_shard *shard, lrd_supply *supply)
    LRD_TRY_ACQUIRE(true, shard->lock) {
  lrd_supply_fetch(supply, &visit->cache->entry_references);
  if (supply->given == LRD_SUPPLY_TABLE) lrd_table_prefault(supply->memory, make_page, visit);
  if (supply->given == LRD_SUPPLY_OVERFLOW) lrd_prefault(supply->memory, supply->given_size);
  for (int i = 0; i < supply_tries; i++) {
    if (lrd_lock_try(&shard->lock)) return true;
    lrd_yield();
  }
  return lrd_lock_try_or_mark(&shard->lock);
}

/// Goes on with a slice for which a supply was brought, if there was memory.
static slice use_locked(lrd_shard *shard, lrd_supply *supply) LRD_REQUIRES(shard->lock) {
  // A table that can have no more overflow buckets wants none.
  if (supply->given == LRD_SUPPLY_NONE) return supply->size ? SLICE_FAILED : SLICE_DONE;
  lrd_growth_tidy_locked(shard, buckets_per_slice, false, supply);
  // What was not used came too late, or does not fit: no reason to go on at once. Writers have
  // brought a supply of their own, but may stop before the table has moved.
  return supply->given == LRD_SUPPLY_NONE ? SLICE_MOVING : SLICE_LEFT;
}

/// What is left of a table's work after a slice that came to this.
static slice left_locked(lrd_shard *shard, slice slice) LRD_REQUIRES(shard->lock) {
  shard->moved_seen = lrd_shard_root_locked(shard)->moved;
  if (!lrd_growth_is_untidy_locked(shard, false)) return SLICE_DONE;
  // A writer that sleeps would find the lock taken again whenever it wakes: leave the rest to it.
  return lrd_lock_is_awaited(&shard->lock) ? SLICE_LEFT : slice;
}

/// Takes one slice of work on a shard's tables: moves and shrinks them, and makes the successor of
/// a large one. The first slice of a visit has a `scan`, which gets what
/// lrd_limbo_hand_passed_locked() gives it.
static slice tidy(visit *visit, lrd_shard *shard, lrd_scan *scan) {
  lrd_cache *cache = visit->cache;
  lrd_supply supply = {0};
  slice slice = SLICE_MOVING;
  if (!lrd_lock_try_or_mark(&shard->lock)) return SLICE_BUSY;
  if (lrd_growth_advances_locked(shard)) {
    slice = SLICE_LEFT;
  } else if (!lrd_growth_tidy_locked(shard, buckets_per_slice, false, &supply)) {
    lrd_shard_leave(cache, shard);
    if (!bring(visit, shard, &supply)) {
      lrd_supply_drop(&supply);
      return SLICE_BUSY;
    }
    slice = use_locked(shard, &supply);
  }
  slice = left_locked(shard, slice);
  if (scan) lrd_limbo_hand_passed_locked(&shard->limbo, scan);
  lrd_shard_leave(cache, shard);
  lrd_supply_drop(&supply);
  return slice;
}

/// Runs a scan and returns it to the shard's limbo. True when a reader holds an entry or a table.
static bool scan_waiting(lrd_cache *cache, lrd_shard *shard, lrd_scan *scan) {
  if (!lrd_scan_is_due(scan)) return false;
  lrd_hazards hazards;
  lrd_scan_run(scan, &hazards);
  lrd_scan_sort(scan, &hazards, &cache->pool);
  bool held = scan->held.head || scan->tables;
  if (!lrd_lock_try_or_mark(&shard->lock)) {
    // Free entries can be destroyed here. Those that readers hold must go back, however long it
    // takes.
    lrd_garbage_destroy_free(cache, &scan->entries);
    if (!held) {
      lrd_hazards_discard(&hazards);
      return false;
    }
    do lrd_sleep(lrd_request_pause);
    while (!lrd_lock_try_or_mark(&shard->lock));
  }
  lrd_amount bound = lrd_garbage_bound_locked(cache, shard);
  lrd_chain surplus = {0};
  // Writers may have removed so many meanwhile that all together would be past the bound.
  uint64_t others = lrd_limbo_count_locked(&shard->limbo);
  while (scan->entries.head && others + scan->entries.count > bound.count) {
    lrd_chain_add(&surplus, lrd_chain_take(&scan->entries, &cache->pool));
  }
  bool behind = lrd_limbo_is_behind_locked(&shard->limbo, bound);
  lrd_limbo_return_locked(&shard->limbo, scan, &hazards, behind);
  lrd_shard_leave(cache, shard);
  lrd_garbage_destroy_free(cache, &surplus);
  lrd_hazards_discard(&hazards);
  return held;
}

/// Destroys scanned entries, LRD_DESTROY_STEP at a time: reclaim() and the end of the cache find
/// the others in the limbo. LRD_LATER: the lock was busy, or entries are not scanned yet. LRD_BUSY:
/// writers clean up themselves, but may stop.
static lrd_progress destroy_scanned(lrd_cache *cache, lrd_shard *shard) {
  for (;;) {
    lrd_garbage garbage = {0};
    if (!lrd_lock_try_or_mark(&shard->lock)) return LRD_LATER;
    bool busy = shard->limbo.busy;
    lrd_garbage_take_locked(cache, shard, &garbage, busy ? 0 : LRD_DESTROY_STEP);
    lrd_shard_leave(cache, shard);
    if (!garbage.free.head) return !garbage.unsettled ? LRD_DONE : busy ? LRD_BUSY : LRD_LATER;
    lrd_garbage_destroy_free(cache, &garbage.free);
  }
}

/// Visits one shard. The lock is free between the slices.
static lrd_progress visit_shard(visit *visit, lrd_shard *shard) {
  lrd_cache *cache = visit->cache;
  lrd_scan scan = {0};
  slice slice = tidy(visit, shard, &scan);
  bool held = scan_waiting(cache, shard, &scan);
  lrd_progress destroyed = destroy_scanned(cache, shard);
  bool moved = slice == SLICE_MOVING;
  for (int i = 1; slice == SLICE_MOVING && i < slices_per_visit; i++) {
    if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return LRD_DONE;
    slice = tidy(visit, shard, NULL);
  }
  // Whoever holds the lock asks for the next visit. Otherwise a table that has moved completely is
  // in the limbo by now.
  bool soon = slice != SLICE_BUSY && (moved || slice == SLICE_LEFT);
  bool later = held || slice == SLICE_BUSY || slice == SLICE_FAILED;
  return lrd_progress_sooner(destroyed, soon ? LRD_SOON : later ? LRD_LATER : LRD_DONE);
}

/// Visits a cache. `*wait`: see lrd_request_end().
static lrd_progress visit_cache(lrd_cache *cache, uint64_t *wait) {
  visit visit = {.cache = cache};
  lrd_progress left = LRD_DONE;
  *wait = 0;
  if (lrd_cache_is_timed(cache) && !cache->clock) left = lrd_due_expire(cache, wait);
  fence_all(cache);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    make_page(&visit);
    left = lrd_progress_sooner(left, visit_shard(&visit, shard));
  }
  uint64_t dense_wait;
  left = lrd_progress_sooner(left, lrd_dense_tend(cache, &dense_wait));
  if (dense_wait && (!*wait || dense_wait < *wait)) *wait = dense_wait;
  return visit.made_page ? LRD_SOON : left;
}

/// Lets a burst of writes come to an end, unless a rest has just ended for all.
static void pause_for(const lrd_request *request) {
  for (; request; request = request->next) {
    if (!request->rests) {
      lrd_sleep(lrd_request_pause);
      return;
    }
  }
}

void lrd_visit_run(void) {
  for (;;) {
    lrd_request *request = lrd_request_take_all(), *next;
    if (!request) continue;
    pause_for(request);
    for (; request; request = next) {
      next = request->next;
      lrd_request_begin(request);
      uint64_t wait;
      lrd_progress left = visit_cache(lrd_cache_of(request), &wait);
      if (!lrd_request_end(request, left, wait)) break;
    }
    // Destroying a value may have used a cache and registered this thread. A single other thread
    // must count as alone.
    lrd_thread_unregister();
  }
}
