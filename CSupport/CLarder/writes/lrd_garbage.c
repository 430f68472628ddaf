// SPDX-License-Identifier: Apache-2.0
#include "lrd_garbage.h"

#include "lrd_alloc.h"
#include "lrd_enter.h"
#include "lrd_grace.h"
#include "lrd_hazards.h"
#include "lrd_outcall.h"
#include "lrd_reserve.h"

/// Entries that one destruction loop takes over from inner calls.
enum { taken_over_most = 256 };

/// The most entries that a change takes out of a limbo for those that it has removed, since it
/// holds the lock. Many more wait where one removeAll() follows another.
enum { taken_most = 64 };

/// True for a large table: the system takes long to free it. The background thread will do that.
static bool leaves_tables_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  const lrd_table *table = shard->limbo.tables;
  return table && lrd_table_is_large(table->buckets) && !table->retired_next &&
         !lrd_request_is_unheard();
}

void lrd_garbage_take_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                             uint32_t most) {
  lrd_limbo *limbo = &shard->limbo;
  for (lrd_entry *entry; most; most--) {
    entry = lrd_limbo_take_locked(limbo, &cache->pool, &cache->entry_references);
    if (!entry) break;
    lrd_chain_add(&garbage->free, entry);
  }
  garbage->unsettled |= lrd_limbo_waits_locked(limbo);
}

void lrd_garbage_add_unseen_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                   lrd_chain *removed) {
  lrd_limbo *limbo = &shard->limbo;
  // Destroys as many entries as the change has removed, up to a bound. Allocators keep some freed
  // memory at hand and serve insertions from it; more at once would exceed what they keep.
  uint32_t due = (uint32_t)lrd_least(lrd_most(removed->count, 1), taken_most);
  garbage->home = shard;
  if (lrd_thread_is_solitary()) {
    lrd_limbo_add_alone_locked(limbo, &cache->pool, removed, &garbage->free);
    if (LRD_LIKELY(!lrd_limbo_waits_locked(limbo))) return;
  } else {
    lrd_amount bound = lrd_garbage_bound_locked(cache, shard);
    garbage->fence |= lrd_limbo_add_locked(limbo, removed, bound, &garbage->scan);
    if (lrd_limbo_is_behind_locked(limbo, bound)) due += LRD_DESTROY_STEP;
  }
  if (!leaves_tables_locked(shard)) lrd_limbo_hand_tables_locked(limbo, &garbage->scan);
  lrd_garbage_take_locked(cache, shard, garbage, due);
}

void lrd_garbage_add_slow_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                 lrd_chain *removed) {
  if (cache->observed && removed->head) {
    garbage->home = shard;
    lrd_chain_append(&garbage->removed, removed);
  } else {
    lrd_garbage_add_unseen_locked(cache, shard, garbage, removed);
  }
}

void lrd_garbage_retire(lrd_cache *cache, lrd_garbage *garbage) {
  if (!garbage->removed.head) return;
  lrd_shard *shard = garbage->home;
  lrd_shard_enter(cache, NULL, shard);
  lrd_garbage_add_unseen_locked(cache, shard, garbage, &garbage->removed);
  lrd_shard_leave(cache, shard);
}

/// Returns a scan to a limbo.
static void return_scan(lrd_cache *cache, lrd_garbage *garbage, lrd_scan *scan,
                        const lrd_hazards *hazards) {
  lrd_shard *shard = garbage->home;
  lrd_shard_enter(cache, NULL, shard);
  if (!lrd_limbo_return_locked(&shard->limbo, scan, hazards, scan->urgent)) {
    lrd_shard_leave(cache, shard);
    lrd_scan_sort(scan, hazards, &cache->pool);
    lrd_shard_enter(cache, NULL, shard);
    lrd_limbo_return_locked(&shard->limbo, scan, hazards, scan->urgent);
  }
  garbage->unsettled |= lrd_limbo_waits_locked(&shard->limbo);
  lrd_shard_leave(cache, shard);
}

/// Runs the scan and returns it to its limbo.
static void run_scan(lrd_cache *cache, lrd_garbage *garbage) {
  lrd_scan scan = garbage->scan;
  garbage->scan = (lrd_scan){0};
  lrd_hazards hazards;
  lrd_scan_run(&scan, &hazards);
  if (scan.urgent) lrd_scan_sort(&scan, &hazards, &cache->pool);
  garbage->owes |= scan.urgent;
  return_scan(cache, garbage, &scan, &hazards);
  lrd_hazards_discard(&hazards);
}

/// Leaves all free entries to the destruction loops that run.
static void leave_over(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage) {
  lane->left_over = true;
  garbage->owes = false;
  if (!garbage->free.head) return;
  lrd_shard *shard = &cache->shards[0];
  lrd_shard_enter(cache, NULL, shard);
  lrd_limbo_put_first_locked(&shard->limbo, &garbage->free);
  lrd_shard_leave(cache, shard);
}

/// Takes one entry that inner calls have left. After many, leaves the rest to the background
/// thread.
static void take_over(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage) {
  if (++garbage->taken_over > taken_over_most) {
    lane->left_over = false;
    lrd_request_visit(&cache->request);
    return;
  }
  lrd_shard *shard = &cache->shards[0];
  lrd_shard_enter(cache, NULL, shard);
  lrd_garbage_take_locked(cache, shard, garbage, 1);
  lane->left_over = shard->limbo.scanned.head != NULL;
  lrd_shard_leave(cache, shard);
}

/// Takes LRD_DESTROY_STEP entries while more than half the bound is scanned. Inner calls take from
/// the same chain.
static void take_owed(lrd_cache *cache, lrd_garbage *garbage) {
  lrd_shard *shard = garbage->home;
  lrd_shard_enter(cache, NULL, shard);
  lrd_amount bound = lrd_garbage_bound_locked(cache, shard);
  garbage->owes = lrd_limbo_is_behind_locked(&shard->limbo, bound);
  if (garbage->owes) lrd_garbage_take_locked(cache, shard, garbage, LRD_DESTROY_STEP);
  lrd_shard_leave(cache, shard);
}

static lrd_entry *find_next(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage) {
  bool scans = lrd_scan_is_due(&garbage->scan);
  // A scan that needs a fence runs it itself.
  if (garbage->fence && !garbage->scan.unfenced) lrd_grace_fence();
  garbage->fence = false;
  if (scans) run_scan(cache, garbage);
  if (!garbage->free.head && !garbage->owes && !garbage->destroys) return NULL;
  if (lane && !garbage->destroys) {
    if (lane->destroying == LRD_NESTED_MOST) {
      leave_over(cache, lane, garbage);
      return NULL;
    }
    lane->destroying++;
  }
  if (!garbage->free.head && garbage->owes) take_owed(cache, garbage);
  if (!garbage->free.head && lane && lane->left_over) take_over(cache, lane, garbage);
  lrd_entry *entry = lrd_chain_take(&garbage->free, &cache->pool);
  garbage->destroys = entry != NULL;
  if (lane && !entry) lane->destroying--;
  return entry;
}

lrd_entry *lrd_garbage_next_slow(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage) {
  lrd_entry *entry = find_next(cache, lane, garbage);
  if (garbage->unsettled) lrd_request_visit(&cache->request);
  garbage->unsettled = false;
  return entry;
}

/// Runs a scan of what is in no limbo now. What no reader holds is free, and the rest goes to the
/// limbo of shard 0.
static void scan_apart(lrd_cache *cache, lrd_garbage *garbage, lrd_scan *scan) {
  lrd_hazards hazards;
  lrd_scan_run(scan, &hazards);
  lrd_scan_sort(scan, &hazards, &cache->pool);
  lrd_chain_append(&garbage->free, &scan->entries);
  garbage->home = cache->shards;
  if (scan->held.head || scan->tables) return_scan(cache, garbage, scan, &hazards);
  lrd_hazards_discard(&hazards);
}

void lrd_garbage_reclaim(lrd_cache *cache, lrd_garbage *garbage) {
  lrd_scan scan = {0};
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_shard_enter(cache, NULL, shard);
    lrd_limbo_hand_all_locked(&shard->limbo, &scan);
    lrd_shard_leave(cache, shard);
  }
  if (lrd_scan_is_due(&scan)) scan_apart(cache, garbage, &scan);
}

void lrd_garbage_finish(lrd_cache *cache, lrd_garbage *garbage, uint64_t moment) {
  lrd_outcall call;
  if (garbage->removed.head && cache->hooks.show && lrd_outcall_begin(cache, &call)) {
    cache->hooks.show(cache->hooks.context, garbage->removed.head, moment);
    lrd_outcall_end(cache, &call);
  }
  lrd_garbage_retire(cache, garbage);
  void *batch = NULL;
  for (lrd_entry *entry; (entry = lrd_garbage_next(cache, NULL, garbage));) {
    cache->hooks.destroy(cache->hooks.context, entry, &batch);
    lrd_slot_give(cache, NULL, entry);
  }
  if (batch) cache->hooks.finish(cache->hooks.context, batch);
}

void lrd_garbage_give_back(lrd_cache *cache) {
  lrd_reserve_drop(&cache->pool);
  lrd_alloc_give_back();
}

void lrd_garbage_destroy_chain(lrd_cache *cache, lrd_chain *free, void **batch) {
  for (lrd_entry *entry; (entry = lrd_chain_take(free, &cache->pool));) {
    cache->hooks.destroy(cache->hooks.context, entry, batch);
    lrd_slot_give(cache, NULL, entry);
  }
}

void lrd_garbage_destroy_free(lrd_cache *cache, lrd_chain *free) {
  void *batch = NULL;
  lrd_garbage_destroy_chain(cache, free, &batch);
  if (batch) cache->hooks.finish(cache->hooks.context, batch);
}

void lrd_garbage_destroy_unlinked(lrd_cache *cache, lrd_chain *unlinked) {
  lrd_scan scan = {.entries = *unlinked, .unfenced = true};
  *unlinked = (lrd_chain){0};
  lrd_garbage garbage = {0};
  scan_apart(cache, &garbage, &scan);
  if (garbage.unsettled) lrd_request_visit(&cache->request);
  lrd_garbage_destroy_free(cache, &garbage.free);
}
