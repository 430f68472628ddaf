// SPDX-License-Identifier: Apache-2.0
#include "lrd_tidy.h"

#include "lrd_enter.h"
#include "lrd_growth.h"

/// Buckets moved under one lock.
enum { buckets_per_slice = 32 };
/// Tries to bring in what was allocated.
enum { supply_tries = 1000 };
/// Slots in use besides those of entries, and a 64th more: free slots of threads, and the limbo's.
enum { slots_besides = 4096 };

bool lrd_tidy_pool(lrd_cache *cache) {
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
  making->made_page |= lrd_tidy_pool(making->cache);
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

lrd_slice lrd_tidy_slice(lrd_cache *cache, lrd_shard *shard, lrd_scan *scan) {
  lrd_supply supply = {0};
  making making = {.cache = cache};
  if (!lrd_lock_try_or_mark(&shard->lock)) return LRD_SLICE_BUSY;
  bool theirs = writers_move_locked(shard);
  bool tidied = theirs || lrd_growth_tidy_locked(shard, buckets_per_slice, &supply);
  if (!tidied) {
    lrd_shard_leave(cache, shard);
    bool fetched = lrd_supply_fetch(&supply, &cache->entry_references);
    if (supply.given == LRD_SUPPLY_TABLE) lrd_table_prefault(supply.memory, make_page, &making);
    if (!try_for_supply(shard)) {
      lrd_supply_drop(&supply);
      return making.made_page ? LRD_SLICE_LEFT : LRD_SLICE_BUSY;
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
  if (tidied && !theirs && wrong) return LRD_SLICE_MOVING;
  return theirs || late || making.made_page ? LRD_SLICE_LEFT : LRD_SLICE_DONE;
}
