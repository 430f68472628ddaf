// SPDX-License-Identifier: Apache-2.0
#include "lrd_dense.h"

#include "lrd_compact.h"
#include "lrd_pass.h"
#include "lrd_reserve.h"

enum {
  slices_per_visit = 256,
  passes_most = 4,
};

/// How long a pool is sparse before entries are moved.
static const uint64_t sparse_pause = 500000000; // 0.5 s

/// True when a pool has been sparse for long enough. `*wait`: otherwise, what is left of that.
static bool is_due(lrd_cache *cache, uint64_t *wait) {
  lrd_pool *pool = &cache->pool;
  lrd_density *density = &cache->density;
  lrd_lock_acquire(&pool->lock);
  bool sparse = lrd_pool_is_sparse_locked(pool);
  uint64_t used = pool->slots - pool->idle;
  LRD_STORE(&pool->sparse, sparse ? LRD_SPARSE_HEEDED : LRD_DENSE);
  lrd_lock_release(&pool->lock);
  if (!sparse) {
    density->since = 0;
    return false;
  }
  uint64_t now = lrd_clock();
  bool less = used < density->used - density->used / 8;
  // What reclaim() has moved meanwhile was another sparse pool.
  if (!density->since || less || density->moved_ever != lrd_cache_moved(cache)) {
    density->since = now;
    density->used = used;
    density->moved_ever = lrd_cache_moved(cache);
  }
  uint64_t past = now - density->since;
  *wait = past < sparse_pause ? sparse_pause - past : 0;
  return !*wait;
}

/// Goes on with a pass, for some slices, and gives `compacting` back. LRD_DONE at its end; `*over`:
/// there is no room for another.
static lrd_progress move_some(lrd_cache *cache, bool *over) {
  lrd_density *density = &cache->density;
  lrd_pass pass;
  *over = !lrd_pass_begin(&pass, cache);
  if (*over) {
    lrd_pass_give(cache);
    return LRD_DONE;
  }
  lrd_progress left = LRD_SOON;
  for (int i = 0; left == LRD_SOON && i < slices_per_visit; i++) {
    lrd_shard *shard = &cache->shards[density->shard];
    lrd_pass_result result = lrd_pass_slice(&pass, shard, &density->sweep, true);
    *over = result == LRD_PASS_OVER;
    if (*over) left = LRD_DONE;
    if (result == LRD_PASS_BUSY) left = LRD_LATER;
    if (result != LRD_PASS_DONE) continue;
    density->sweep = (lrd_sweep){.room = LRD_MOVES_PER_LOCK};
    if (density->shard++ == cache->shard_mask) left = LRD_DONE;
  }
  density->moved += lrd_pass_end(&pass);
  return left;
}

static void begin(lrd_density *density) {
  density->moved = 0;
  density->shard = 0;
  density->sweep = (lrd_sweep){.room = LRD_MOVES_PER_LOCK};
}

/// Vacates pages. False if there is nothing to win: nobody looks again, unless somebody asks.
static bool make_vacancies(lrd_cache *cache) {
  lrd_density *density = &cache->density;
  lrd_reserve_drop(&cache->pool);
  density->moves = lrd_vacancy_make(&cache->pool, LRD_SPARSE_BYTES / 2);
  if (!density->moves) lrd_pool_forget_sparse(&cache->pool);
  density->since = 0;
  density->passes = 0;
  begin(density);
  return density->moves;
}

lrd_progress lrd_dense_tend(lrd_cache *cache, uint64_t *wait) {
  lrd_density *density = &cache->density;
  bool over = false;
  *wait = 0;
  if (!cache->hooks.copy) return LRD_DONE;
  bool closed = atomic_load_explicit(&cache->closed, memory_order_acquire);
  if (!density->moves && (closed || LRD_LOAD(&cache->pool.sparse) == LRD_DENSE)) {
    density->since = 0;
    return LRD_DONE;
  }
  if (!density->moves && !is_due(cache, wait)) return LRD_DONE;
  if (!lrd_pass_try(cache)) return LRD_LATER;
  if (!density->moves && !make_vacancies(cache)) {
    lrd_pass_give(cache);
    return LRD_DONE;
  }
  lrd_progress left = move_some(cache, &over);
  if (left != LRD_DONE) return left;
  density->passes++;
  if (!over && density->moved && density->passes < passes_most) {
    begin(density);
    return LRD_SOON;
  }
  lrd_pass_close(cache);
  density->moves = false;
  return LRD_SOON;
}
