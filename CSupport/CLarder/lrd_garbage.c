// SPDX-License-Identifier: Apache-2.0
/* lrd_garbage.c — the handing out of what is proven, to be destroyed. The contract is in
 * lrd_change.h. */
#include "lrd_grace.h"
#include "lrd_maintenance.h"
#include "lrd_retire.h"

/// Entries one loop of destructions takes over from inner calls.
enum { rounds_most = 256 };

/// Leaves to the loops that run what this change was to destroy.
static void defer_garbage(lrd_cache *cache, lrd_lane *lane, lrd_change *change) {
  lane->deferred = true;
  change->owed = 0;
  if (!change->ready.head) return;
  lrd_shard *shard = &cache->shards[0];
  lrd_lock_acquire(&shard->lock);
  lrd_retire_leave_ready_locked(shard, &change->ready);
  lrd_change_cancel(cache, shard);
}

/// One entry of what inner calls left; after many rounds the rest goes to the maintenance thread.
static void take_deferred(lrd_cache *cache, lrd_lane *lane, lrd_change *change) {
  if (++change->rounds > rounds_most) {
    lane->deferred = false;
    lrd_maintenance_request(cache);
    return;
  }
  lrd_shard *shard = &cache->shards[0];
  lrd_lock_acquire(&shard->lock);
  lrd_retire_take_proven_locked(cache, shard, change, 1);
  lane->deferred = shard->proven.head != NULL;
  lrd_change_cancel(cache, shard);
}

/// A handful of the entries that wait above the bound, while they do: the calls that destructions
/// make take from the same list.
static void take_owed(lrd_cache *cache, lrd_change *change) {
  lrd_shard *shard = lrd_retire_home(cache, change);
  uint32_t most = change->owed < LRD_DESTROY_STEP ? change->owed : LRD_DESTROY_STEP;
  lrd_lock_acquire(&shard->lock);
  bool owes = lrd_retire_is_behind_locked(cache, shard);
  if (owes) lrd_retire_take_proven_locked(cache, shard, change, most);
  lrd_change_cancel(cache, shard);
  change->owed = owes ? change->owed - most : 0;
}

void lrd_retire_destroy_ready(lrd_cache *cache, lrd_change *change) {
  void *batch = NULL;
  for (lrd_entry *entry; (entry = lrd_chain_take(&change->ready, &cache->pool));) {
    cache->hooks.destroy(cache->hooks.context, entry, &batch);
    lrd_slot_give(cache, NULL, entry);
  }
  if (batch) cache->hooks.finish(cache->hooks.context, batch);
}

/// Leaves what stays retired to the maintenance thread.
static void request_rest(lrd_cache *cache, lrd_change *change) {
  if (change->unsettled) lrd_maintenance_request(cache);
  change->unsettled = false;
}

static lrd_entry *find_garbage(lrd_cache *cache, lrd_lane *lane, lrd_change *change) {
  bool scans = change->suspect.head || change->tables;
  // A scan of what is not fenced runs one, too.
  if (change->fence && (!scans || change->fenced)) lrd_grace_fence();
  change->fence = false;
  if (scans) lrd_retire_settle(cache, change);
  if (!change->ready.head && !change->owed && !change->destroys) return NULL;
  if (lane && !change->destroys) {
    if (lane->destroying == LRD_NESTED_MOST) {
      defer_garbage(cache, lane, change);
      return NULL;
    }
    lane->destroying++;
  }
  if (!change->ready.head && change->owed) take_owed(cache, change);
  if (!change->ready.head && lane && lane->deferred) take_deferred(cache, lane, change);
  lrd_entry *entry = lrd_chain_take(&change->ready, &cache->pool);
  change->destroys = entry != NULL;
  if (lane && !entry) lane->destroying--;
  return entry;
}

lrd_entry *lrd_change_garbage_slow(lrd_cache *cache, lrd_lane *lane, lrd_change *change) {
  lrd_entry *entry = find_garbage(cache, lane, change);
  request_rest(cache, change);
  return entry;
}

void lrd_change_retire(lrd_cache *cache, lrd_change *change) {
  if (!change->removed.head) return;
  lrd_shard *shard = lrd_retire_home(cache, change);
  lrd_lock_acquire(&shard->lock);
  lrd_retire_locked(cache, shard, change, &change->removed);
  lrd_change_cancel(cache, shard);
}

void lrd_change_reclaim(lrd_cache *cache, lrd_change *change) {
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[i];
    lrd_lock_acquire(&shard->lock);
    lrd_retire_collect_locked(shard, change);
    lrd_chain_append(&change->suspect, &shard->proven);
    shard->held_count = 0;
    lrd_change_cancel(cache, shard);
  }
  if (change->suspect.head || change->tables) lrd_retire_settle_at_once(cache, change);
  request_rest(cache, change);
}
