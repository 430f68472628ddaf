// SPDX-License-Identifier: Apache-2.0
/* lrd_garbage.h — the entries that one change has removed, until they are destroyed.
 *
 * The short way of an insertion, which keeps none (lrd_shortway.c):
 *   under the lock     evicts one entry; that or an older one is free to be destroyed, or none is
 *   then               the caller destroys that, and calls lrd_garbage_end()
 * All other changes:
 *   under the lock     lrd_garbage_add_locked()   to the observer, to the limbo, or free at once
 *   observed caches    the caller shows `removed`, then calls lrd_garbage_retire()
 *   then               the caller destroys the entries that lrd_garbage_next() returns, until NULL
 *
 * WHO DESTROYS. If no other thread is registered, a change destroys its entries before it returns,
 * except those that its own loans hold. Otherwise they go to the shard's limbo (lrd_limbo.h), and
 * the change destroys as many from there; more if too many are scanned, down to half the bound if
 * it was past that. Beside the changes, these destroy what they find in limbos: the background
 * thread (lrd_visit.h), reclaim(), an answer to memory pressure (lrd_relief_settle()), and the end
 * of the cache.
 *
 * WHERE IT WAITS until then
 *   `removed` of a garbage       until the observer has seen it
 *   the limbo of its shard       until a scan finds no reader, and then until somebody takes it
 *                                out. If an insertion takes room in other shards, the limbo of the
 *                                last shard added (`home`) gets all that an observer has seen, and
 *                                all that was scanned
 *   the limbo of shard 0         what removeAll() has taken out of any shard; what destructions
 *                                inside each other have left (NESTING); what readers held of
 *                                `moved_out` or `gathered`, or of any limbo when reclaim() scanned
 *                                it
 *   `moved_out` of the cache,    what was moved, until it is scanned and then until it is destroyed
 *   and `moved_free`             (lrd_pass.h)
 *   `gathered` of lrd_relief.c   what pressure has evicted and nobody has to be shown
 *   batches of the layer above   values only, until the program releases them (hooks.finish)
 *
 * NESTING. Destructions run without a lock and may call the cache. Such inner calls destroy their
 * own garbage, so that nothing waits. When LRD_NESTED_MOST calls are inside each other, further
 * ones leave it to the innermost loop that runs, newest first, so that the stack cannot grow
 * without end.
 *
 * `destroying` of a lane counts the destructions that its thread is in: one for each garbage that
 * `destroys`, and one for the entry that a short way has freed, until lrd_garbage_end(). */
#pragma once

#include "lrd_slot.h"

#pragma clang assume_nonnull begin

/// Destruction loops of one cache inside each other on one thread.
enum { LRD_NESTED_MOST = 32 };

typedef struct lrd_garbage {
  lrd_chain removed;         // to be shown to the observer
  lrd_chain free;            // to be destroyed: no reader holds them
  lrd_scan scan;             // to be run
  lrd_shard *_Nullable home; // the last one added: its limbo gets what was shown or scanned
  uint32_t taken_over;       // entries that inner calls had left
  bool owes;                 // the limbo of that shard was past its bound: destroy down to half
  bool fence;                // to be run
  bool destroys;             // the loop over this garbage runs, and counts in `destroying`
  bool unsettled;            // entries or tables stay behind: ask the background thread for a visit
} lrd_garbage;

/// lrd_garbage_add_locked() if entries were unlinked, now or before.
void lrd_garbage_add_slow_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                 lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Hands unlinked entries on: to the observer if there is one, otherwise to the limbo. Takes due
/// entries out of the limbo.
static inline void lrd_garbage_add_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                          lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  if (!removed->head && !lrd_limbo_waits_locked(&shard->limbo)) return;
  lrd_garbage_add_slow_locked(cache, shard, garbage, removed);
}

/// The same for unlinked entries whose room nothing takes: gives that back.
static inline void lrd_garbage_give_up_locked(lrd_cache *cache, lrd_shard *shard,
                                              lrd_garbage *garbage, lrd_chain *unlinked)
    LRD_REQUIRES(shard->lock) {
  lrd_budget_release_chain(&cache->budget, &cache->pool, unlinked);
  lrd_garbage_add_locked(cache, shard, garbage, unlinked);
}

/// lrd_garbage_add_locked() for entries that the observer is not to see.
void lrd_garbage_add_unseen_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                                   lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// The bound on the shard's limbo.
static inline lrd_amount lrd_garbage_bound_locked(lrd_cache *cache, const lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  const lrd_limbo *limbo = &shard->limbo;
  uint64_t count = shard->count + lrd_limbo_count_locked(limbo);
  uint64_t cost = shard->cost + limbo->fresh.cost + limbo->waiting.cost + limbo->scanned.cost;
  uint64_t limit = lrd_cache_cost_limit(cache), mean = limit && count ? cost / count : UINT64_MAX;
  return lrd_limbo_bound(shard->count, mean, limit, cache->shard_mask + 1);
}

/// Ends the destruction of an entry that lrd_shortway_try() has freed. False when inner calls have
/// left some: the caller goes on with lrd_garbage_next() and what lrd_garbage_resume() returns.
static inline bool lrd_garbage_end(lrd_lane *lane) {
  if (LRD_UNLIKELY(lane->left_over)) return false;
  lane->destroying--;
  return true;
}

/// The garbage for the loop with lrd_garbage_next() that goes on after lrd_garbage_end().
static inline lrd_garbage lrd_garbage_resume(void) {
  return (lrd_garbage){.destroys = true};
}

/// Takes up to `most` scanned entries out of the shard's limbo, to be destroyed. `unsettled` says
/// whether something stays there.
void lrd_garbage_take_locked(lrd_cache *cache, lrd_shard *shard, lrd_garbage *garbage,
                             uint32_t most) LRD_REQUIRES(shard->lock);

/// Hands the entries that the observer has seen on to the limbo.
void lrd_garbage_retire(lrd_cache *cache, lrd_garbage *garbage);

/// Takes all entries that no reader holds out of the limbos of all shards.
void lrd_garbage_reclaim(lrd_cache *cache, lrd_garbage *garbage);

/// Gives the memory that nothing lies in back to the system, after lrd_garbage_reclaim(): pages
/// without entries, and what the allocator keeps.
void lrd_garbage_give_back(lrd_cache *cache);

/// The entry after `entry` in `removed`.
static inline lrd_entry *_Nullable lrd_garbage_after(lrd_cache *cache, const lrd_entry *entry) {
  return lrd_chain_next(&cache->pool, entry);
}

/// True when no free entry is left: the next one needs a lock.
static inline bool lrd_garbage_is_out(const lrd_garbage *garbage) {
  return !garbage->free.head;
}

/// True when there are entries to show, to scan or to destroy.
static inline bool lrd_garbage_is_due(const lrd_garbage *garbage) {
  return garbage->removed.head || garbage->free.head || garbage->scan.entries.head;
}

/// lrd_garbage_next() when there is more to do than to take a free entry.
lrd_entry *_Nullable lrd_garbage_next_slow(lrd_cache *cache, lrd_lane *_Nullable lane,
                                           lrd_garbage *garbage);

/// The next entry to destroy; NULL at the end. The caller gives its slot back with lrd_slot_give().
/// Runs a fence or a scan first if one is due.
static inline lrd_entry *_Nullable lrd_garbage_next(lrd_cache *cache, lrd_lane *_Nullable lane,
                                                    lrd_garbage *garbage) {
  // While a visit is still to begin, it need not be asked for again.
  bool asks = garbage->unsettled && !lrd_request_is_queued(&cache->request);
  bool more = garbage->fence || lrd_scan_is_due(&garbage->scan) || garbage->owes || asks ||
              (lane && (lane->left_over || lane->destroying == LRD_NESTED_MOST));
  if (LRD_UNLIKELY(more)) return lrd_garbage_next_slow(cache, lane, garbage);
  lrd_entry *entry = lrd_chain_take(&garbage->free, &cache->pool);
  bool destroys = entry != NULL;
  if (lane) lane->destroying += (uint32_t)(destroys - garbage->destroys);
  garbage->destroys = destroys;
  return entry;
}

/// Destroys unlinked entries that no reader holds. `batch`: that of hooks.destroy; NULL at first,
/// and the caller ends it.
void lrd_garbage_destroy_chain(lrd_cache *cache, lrd_chain *free, void *_Nullable *_Nonnull batch);

/// Destroys all entries of a chain, which no reader holds, by the hooks. No lock is held.
void lrd_garbage_destroy_free(lrd_cache *cache, lrd_chain *free);

/// Runs a fence and a scan for unlinked entries that are in no limbo: destroys what no reader
/// holds. What one holds goes to a limbo. No lock is held.
void lrd_garbage_destroy_unlinked(lrd_cache *cache, lrd_chain *unlinked);

/// Ends garbage, by the hooks as well: shows what was removed (lrd_outcall.h), and destroys what
/// no reader holds. `moment` is for hooks.show.
void lrd_garbage_finish(lrd_cache *cache, lrd_garbage *garbage, uint64_t moment);

#pragma clang assume_nonnull end
