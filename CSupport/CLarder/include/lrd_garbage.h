// SPDX-License-Identifier: Apache-2.0
/* lrd_garbage.h — what a change has removed, from the moment it leaves the lock to its destruction.
 *
 *   under the lock     lrd_garbage_add_locked()   to the observer, to the limbo, or free at once
 *   observed caches    the caller shows `removed`, then calls lrd_garbage_retire()
 *   then               the caller destroys what lrd_garbage_next() gives it, until that is NULL
 *
 * WHO DESTROYS. While its thread is the only one registered, a change destroys what it has removed
 * before it returns, except entries that its own loans hold. Otherwise what it has removed goes to
 * the shard's limbo (lrd_limbo.h), and it destroys as many entries that have come out of there; past
 * the limbo's bound, as many as it takes to get below it.
 *
 * NESTING. Destruction runs without a lock and may call the cache. Such inner calls destroy what
 * they removed themselves, so that a value that inserts others leaves none of them waiting. From
 * LRD_NESTED_MOST calls inside each other on they leave it to the innermost loop that runs, newest
 * first: destructions that change the cache cannot nest without end. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Destruction loops of one cache inside each other on one thread.
enum { LRD_NESTED_MOST = 32 };

typedef struct lrd_garbage {
  lrd_chain removed;         // to be shown to the observer
  lrd_chain free;            // to be destroyed: no reader holds it
  lrd_scan scan;             // to be run
  lrd_shard *_Nullable home; // where what the scan cannot free goes back to
  uint32_t deferred;         // entries taken over from inner calls
  bool owes;                 // to destroy what is above the bound in that shard's limbo
  bool fence;                // to be run
  bool destroys;             // this garbage's destruction loop is running
  bool unsettled;            // something stays in a limbo: ask the background thread for a visit
} lrd_garbage;

/// lrd_garbage_add_locked() where something was unlinked, now or before.
void lrd_garbage_add_slow_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                 lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Hands on what was unlinked: to the observer if there is one, otherwise to the limbo. Takes out of
/// the limbo what is due.
static inline void lrd_garbage_add_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                          lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  if (!removed->head && !lrd_limbo_waits_locked(&shard->limbo)) return;
  lrd_garbage_add_slow_locked(cache, shard, garbage, removed);
}

/// Hands on to the limbo what the observer has seen.
void lrd_garbage_retire(lrd_cache *cache, lrd_garbage *garbage);

/// Takes out of the limbos of all shards what no reader holds.
void lrd_garbage_reclaim(lrd_cache *cache, lrd_garbage *garbage);

/// The entry after `entry` in `removed`.
static inline lrd_entry *_Nullable lrd_garbage_after(lrd_cache *cache, const lrd_entry *entry) {
  return lrd_chain_next(&cache->pool, entry);
}

/// True when the entry handed out last was the last one at hand: what follows needs a lock.
static inline bool lrd_garbage_is_out(const lrd_garbage *garbage) {
  return !garbage->free.head;
}

/// True when there is something to show, to scan or to destroy.
static inline bool lrd_garbage_is_due(const lrd_garbage *garbage) {
  return garbage->removed.head || garbage->free.head || garbage->scan.entries.head;
}

/// lrd_garbage_next() where there is more to do than to hand out what is free.
lrd_entry *_Nullable lrd_garbage_next_slow(lrd_cache *cache, lrd_lane *_Nullable lane,
                                           lrd_garbage *garbage);

/// The next entry to destroy, NULL at the end. Give its slot back with lrd_slot_give(). Runs a
/// fence or a scan first where one is due.
static inline lrd_entry *_Nullable lrd_garbage_next(lrd_cache *cache, lrd_lane *_Nullable lane,
                                                    lrd_garbage *garbage) {
  // While a visit is still to begin, nobody need ask for another.
  bool more = garbage->fence || garbage->scan.entries.head || garbage->scan.tables ||
              garbage->owes || (garbage->unsettled && !lrd_request_is_queued(&cache->request)) ||
              (lane && (lane->deferred || lane->destroying == LRD_NESTED_MOST));
  if (LRD_UNLIKELY(more)) return lrd_garbage_next_slow(cache, lane, garbage);
  lrd_entry *entry = lrd_chain_take(&garbage->free, &cache->pool);
  bool destroys = entry != NULL;
  if (lane) lane->destroying += (uint32_t)(destroys - garbage->destroys);
  garbage->destroys = destroys;
  return entry;
}

/// Destroys what is free, by the hooks: where no call of the layer above is on the stack.
void lrd_garbage_destroy_free(lrd_cache *cache, lrd_garbage *garbage);

/// What may be in the shard's limbo.
static inline lrd_amount lrd_garbage_bound_locked(lrd_cache *cache, const lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  return lrd_limbo_bound(shard->count, lrd_cache_cost_limit(cache));
}

#pragma clang assume_nonnull end
