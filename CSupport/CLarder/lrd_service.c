// SPDX-License-Identifier: Apache-2.0
/* lrd_service.c — one slice of the maintenance thread's work on a shard. The contract is in
 * lrd_change.h. */
#include "lrd_retire.h"

/// Buckets moved under one lock.
enum { buckets_per_slice = 32 };
/// Tries to bring in what was allocated.
enum { supply_tries = 1000 };

/// Slots in use besides those of entries, and a 64th more: spares of threads, and what waits for
/// its destruction.
enum { slots_besides = 4096 };

bool lrd_cache_prepare_pool(lrd_cache *cache) {
  uint64_t limit = atomic_load_explicit(&cache->budget.count_limit, memory_order_relaxed);
  return lrd_pool_prepare(&cache->pool, limit ? limit + limit / 64 + slots_besides : UINT64_MAX);
}

/// Insertions into any shard want pages while a table is being made for one.
typedef struct making {
  lrd_cache *cache;
  bool made_page;
} making;

static void prepare_pool(void *context) {
  making *making = context;
  making->made_page |= lrd_cache_prepare_pool(making->cache);
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
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  bool grows = next && next->buckets > root->buckets && !lrd_shard_oversized_locked(shard);
  return grows && root->moved != shard->moved_seen;
}

static void note_moved_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  shard->moved_seen = lrd_shard_root_locked(shard)->moved;
}

bool lrd_shard_service(lrd_cache *cache, lrd_shard *shard, lrd_change *change, bool collect) {
  lrd_need need = {0};
  if (!lrd_lock_try_or_mark(&shard->lock)) return false;
  bool theirs = writers_move_locked(shard);
  bool tidied = theirs || lrd_shard_tidy_locked(shard, buckets_per_slice, &need);
  if (!tidied) {
    lrd_change_cancel(cache, shard);
    bool supplied = lrd_need_supply(&need);
    making making = {.cache = cache};
    if (need.supplied == LRD_NEED_TABLE) lrd_table_prefault(need.memory, prepare_pool, &making);
    change->soon |= making.made_page;
    if (!try_for_supply(shard)) {
      lrd_need_drop(&need);
      return false;
    }
    if (supplied) lrd_shard_tidy_locked(shard, buckets_per_slice, &need);
    // What was not used came too late or will never do: no reason to go on at once.
    tidied = supplied && need.supplied == LRD_NEED_NOTHING;
  }
  note_moved_locked(shard);
  bool moves = lrd_shard_moves_locked(shard);
  bool wrong = moves || lrd_shard_oversized_locked(shard);
  // Memory that came too late: writers have moved on with some of theirs, and may stop.
  change->soon |= theirs || (wrong && need.supplied != LRD_NEED_NOTHING);
  change->moving = tidied && !theirs && wrong;
  if (collect) lrd_retire_collect_passed_locked(shard, change);
  lrd_change_cancel(cache, shard);
  lrd_need_drop(&need);
  return true;
}
