// SPDX-License-Identifier: Apache-2.0
/* lrd_change.h — writes: insert, remove, trim, empty; and what becomes of the entries they unlink.
 *
 *   lrd_change_begin()   locks the shard, applies this thread's hits; or lrd_change_begin_insert()
 *     the caller looks for its key with lrd_shard_matches_locked()
 *   lrd_change_insert() or lrd_change_remove() or lrd_change_cancel()   unlock
 *   the caller shows `removed` to its observer, then lrd_change_retire()   (observed caches only)
 *   the caller destroys what lrd_change_garbage() gives it
 *
 * An insertion is told AGAIN when it had to leave the lock: to allocate, or to take room from
 * another shard. The caller starts over from lrd_change_begin(); nothing is inserted by then.
 *
 * WHO DESTROYS. An entry whose thread is the only one registered, and that no loan of its own
 * holds, is ready at once. Otherwise it is retired; once a quarter of what may wait has gathered it
 * awaits a heavy fence that some other thread or shard needs. When half as many again as that have
 * come without one, a writer runs the fence itself; the next one finds it done and scans the hazard
 * slots. What no slot holds becomes ready, as many entries with each change as it removes. Past the
 * bound, or half of the retire cost, one writer does both. Destruction runs without a lock and may
 * call the cache: such inner calls destroy what they removed themselves, so that a value that
 * inserts others leaves none of them waiting. From LRD_NESTED_MOST calls inside each other on they
 * leave it to the innermost loop, newest first, so that destructions which change the cache cannot
 * nest without end. */
#pragma once

#include "lrd_slot.h"

#pragma clang assume_nonnull begin

/// A handful: proven entries a change destroys, when too many wait, beyond as many as it has
/// removed, and that the maintenance thread takes under one lock.
#define LRD_DESTROY_STEP 4

/// Destruction loops of one cache inside each other on one thread.
#define LRD_NESTED_MOST 32

typedef struct lrd_change {
  lrd_chain removed; // for the observer
  lrd_chain ready;   // for destruction
  lrd_chain suspect; // to be scanned
  bool fenced;       // behind a grace period that all of these, and no tables, have had
  bool fence;        // to be run: entries of `shard` await one
  lrd_table *_Nullable tables;
  lrd_shard *_Nullable shard; // where what a scan cannot free goes back to
  lrd_need need;
  uint32_t rounds; // entries taken over from inner calls
  uint32_t owed;   // entries of `shard` this change has to destroy while it holds too many
  bool moving;     // the shard's table has more buckets for the maintenance thread to move
  bool soon;       // it is left to writers, memory for it came too late, or pages are wanted: that
                   // thread looks again
  bool destroys;   // this change's destruction loop is running
  bool replaced;   // an earlier round took the key's old entry out
  bool noted;      // the replacement counts as a hit already
  bool unsettled;  // something stayed retired: the maintenance thread will look after it
} lrd_change;

typedef enum lrd_result {
  LRD_INSERTED,
  LRD_REPLACED,
  LRD_TOO_COSTLY,
  LRD_OUT_OF_MEMORY,
  LRD_AGAIN,
} lrd_result;

/// Locks the shard and applies this thread's hits on it.
static inline void lrd_change_begin(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard)
    LRD_ACQUIRE(shard->lock) {
  lrd_lock_acquire(&shard->lock);
  if (lane && lane->touches) lrd_lane_apply_locked(cache, lane, shard);
}

/// Begins to load what evicting the next victim will touch: what surrounds it in the order, its
/// slot in the table, and what its destruction begins with. The entry itself is on its way since
/// the insertion before, as the neighbour of the victim then. `hash` is that of the insertion.
void lrd_evict_foresee_locked(lrd_cache *cache, lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock);

/// As lrd_change_begin(), for an insertion of this hash. Where the shard is full, what the
/// insertion and the eviction will touch is on its way from memory when this returns.
static inline void lrd_change_begin_insert(lrd_cache *cache, lrd_lane *_Nullable lane,
                                           lrd_shard *shard, uint64_t hash)
    LRD_ACQUIRE(shard->lock) {
  lrd_change_begin(cache, lane, shard);
  if (shard->full) lrd_evict_foresee_locked(cache, shard, hash);
}

/// Notes a lookup made under the lock: a hit on `entry`, or a miss when it is NULL.
void lrd_note_locked(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                     lrd_entry *_Nullable entry) LRD_REQUIRES(shard->lock);

/// The hottest or coldest entry of a shard, and the one after `entry` going away from that end.
lrd_entry *_Nullable lrd_order_first_locked(lrd_cache *cache, lrd_shard *shard, bool hottest)
    LRD_REQUIRES(shard->lock);
lrd_entry *_Nullable lrd_order_next_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                           bool hottest) LRD_REQUIRES(shard->lock);

/// Lends an entry found under the lock, as lrd_find() does. False when the thread has all its loans
/// out.
bool lrd_lend_locked(lrd_lane *_Nullable lane, lrd_shard *shard, lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// Publishes `entry`, replacing `old`, within the limits; unlocks. Except after INSERTED and
/// REPLACED the entry remains the caller's.
lrd_result lrd_change_insert(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_shard *shard,
                             lrd_change *change, lrd_entry *entry, lrd_entry *_Nullable old,
                             uint64_t hash) LRD_RELEASE(shard->lock);

/// Unlinks `entry` by the caller's wish; unlocks.
void lrd_change_remove(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_entry *entry)
    LRD_RELEASE(shard->lock);

/// Changes nothing; unlocks.
void lrd_change_cancel(lrd_cache *cache, lrd_shard *shard) LRD_RELEASE(shard->lock);

/// Evicts until the limits and both bounds hold (UINT64_MAX: none), a few entries under each lock,
/// and `*allowance` entries at most, which it counts down: insertions meanwhile cannot keep it
/// forever. False when it stopped after a few: retire, destroy, call again.
bool lrd_change_trim(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_change *change,
                     uint64_t count_bound, uint64_t cost_bound, uint64_t *allowance);

/// Takes everything out: all shards are locked at once, so no insertion falls between.
void lrd_change_empty(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_change *change);

/// Sets a limit, 0 for none. Insertions that begin afterwards keep it, and none that read the
/// earlier one is still running; the caller trims what these have left.
void lrd_cache_set_count_limit(lrd_cache *cache, uint64_t limit);
void lrd_cache_set_cost_limit(lrd_cache *cache, uint64_t limit);

/// The entry after `entry` in `removed`.
static inline lrd_entry *_Nullable lrd_change_next(lrd_cache *cache, const lrd_entry *entry) {
  return lrd_chain_next(&cache->pool, entry);
}

/// Retires what the observer has seen.
void lrd_change_retire(lrd_cache *cache, lrd_change *change);

/// Everything retired, of all shards, as far as no reader holds it, becomes ready.
void lrd_change_reclaim(lrd_cache *cache, lrd_change *change);

/// lrd_change_garbage() where there is more to look after than what is ready.
lrd_entry *_Nullable lrd_change_garbage_slow(lrd_cache *cache, lrd_lane *_Nullable lane,
                                             lrd_change *change);

/// The next entry to destroy, NULL at the end. Give its slot back with lrd_slot_give().
/// Scans and frees tables first where that is due.
static inline lrd_entry *_Nullable lrd_change_garbage(lrd_cache *cache, lrd_lane *_Nullable lane,
                                                      lrd_change *change) {
  // What is unsettled asks for nothing while a visit is still to begin.
  bool more = change->fence || change->suspect.head || change->tables || change->owed ||
              (change->unsettled && !lrd_cache_is_queued(cache)) ||
              (lane && (lane->deferred || lane->destroying == LRD_NESTED_MOST));
  if (LRD_UNLIKELY(more)) return lrd_change_garbage_slow(cache, lane, change);
  lrd_entry *entry = lrd_chain_take(&change->ready, &cache->pool);
  bool destroys = entry != NULL;
  if (lane) lane->destroying += (uint32_t)(destroys - change->destroys);
  change->destroys = destroys;
  return entry;
}

/// Makes the pool's spare page, if it wants one and the cache may need it: true when it has. For
/// the maintenance thread.
bool lrd_cache_prepare_pool(lrd_cache *cache);

/// One bounded slice of background work on a shard, by trylock: moves and shrinks tables, makes the
/// successor of a large one, and with `collect`, once for each visit, takes retired tables and, of
/// a shard that is not attended, the retired entries that have had their fence. What is ready is in
/// `change`. False when the lock was busy: its holder knows of the request.
bool lrd_shard_service(lrd_cache *cache, lrd_shard *shard, lrd_change *change, bool collect);

#pragma clang assume_nonnull end
