// SPDX-License-Identifier: Apache-2.0
#include "lrd_life.h"

#include "lrd_alloc.h"
#include "lrd_growth.h"
#include "lrd_lane.h"
#include "lrd_outcall.h"
#include "lrd_pass.h"
#include "lrd_process.h"
#include "lrd_removal.h"
#include "lrd_visit.h"

#include <pthread.h>

static uint32_t shards_of(const lrd_options *options) {
  if (!options->shards) {
    return lrd_cache_choose_shards(options->policy, options->count_limit, lrd_processors());
  }
  uint32_t shards = 1;
  while (shards < options->shards && shards < LRD_SHARDS_MOST) shards *= 2;
  return shards;
}

/// Makes the shards and what the policy keeps in them. False without memory.
static bool open_shards(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  const lrd_policy *policy = cache->policy;
  uint32_t shards = cache->shard_mask + 1;
  if (policy->create && !policy->create(&cache->shared, shards)) return false;
  cache->shards = lrd_alloc_zeroed(shards * sizeof *cache->shards, _Alignof(lrd_shard));
  if (!cache->shards) return false;
  bool opened = true;
  lrd_amount share = lrd_budget_share(&cache->budget, shards);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    opened &= lrd_shard_open(shard, policy, cache->shared, &cache->pool, &cache->entry_references,
                             shards);
    if (opened) lrd_growth_resize_locked(shard, share);
  }
  return opened;
}

/// True when entries have room for two deadlines from the beginning.
static bool idles(const lrd_options *options) {
  return options->timed && options->expiration.after_access != LRD_NEVER;
}

/// Makes the shards' timers. False without memory.
static bool open_timers(lrd_cache *cache, const lrd_options *options) LRD_UNCHECKED_LOCKS {
  cache->clock = options->clock;
  if (cache->clock) lrd_manual_clock_retain(cache->clock);
  lrd_rule rule = lrd_rule_of(options->expiration);
  lrd_cache_begin_idle(cache, &rule);
  cache->expiration = options->expiration;
  cache->rule = cache->former = rule;
  for (lrd_shard *shard = cache->shards; options->timed && shard < lrd_cache_end(cache); shard++) {
    shard->timer = lrd_timer_create(cache->clock, &rule);
    if (!shard->timer) return false;
    shard->timer->wheel.grace = lrd_ticks_of(options->grace);
    shard->timer->hard = idles(options);
    lrd_growth_settle_locked(shard);
  }
  return true;
}

/// Frees what open_shards() has made, all of it or a part.
static void close_shards(lrd_cache *cache) {
  for (uint32_t i = 0; cache->shards && i <= cache->shard_mask; i++) {
    lrd_shard_close(&cache->shards[i]);
  }
  lrd_free(cache->shards, lrd_cache_shards(cache) * sizeof *cache->shards, _Alignof(lrd_shard));
  if (cache->policy->destroy && cache->shared) cache->policy->destroy(cache->shared);
  if (cache->clock) lrd_manual_clock_release(cache->clock);
}

/// Destroys the entries of `garbage` and of all limbos. There are no readers, so nothing is
/// scanned.
static void destroy_all(lrd_cache *cache, lrd_garbage *garbage) {
  lrd_scan *scan = &garbage->scan;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_lock_acquire(&shard->lock);
    lrd_limbo_hand_all_locked(&shard->limbo, scan);
    lrd_lock_release(&shard->lock);
  }
  lrd_chain_append(&garbage->free, &scan->entries);
  lrd_table_destroy_all(scan->tables);
  lrd_garbage_destroy_free(cache, &garbage->free);
}

void lrd_cache_release(lrd_cache *cache) {
  lrd_request *request = &cache->request;
  if (atomic_fetch_sub_explicit(&request->references, 1, memory_order_acq_rel) != 1) return;
  lrd_process_remove(cache);
  // The background thread may have returned entries to a limbo after the cache was closed.
  lrd_garbage garbage = {0};
  destroy_all(cache, &garbage);
  close_shards(cache);
  lrd_pool_close(&cache->pool);
  lrd_lanes_close(cache);
  lrd_hooks hooks = cache->hooks;
  lrd_free(cache, sizeof *cache, _Alignof(lrd_cache));
  hooks.release(hooks.context);
}

static void release(lrd_request *request) {
  lrd_cache_release(lrd_cache_of(request));
}

static void serve(void) {
  lrd_request_serve(lrd_visit_run, release);
}

lrd_cache *lrd_cache_create(const lrd_options *options) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!lrd_process_start()) return NULL;
  pthread_once(&once, serve);
  lrd_cache *cache = lrd_alloc_zeroed(sizeof *cache, _Alignof(lrd_cache));
  if (!cache) return NULL;
  LRD_STORE(&cache->budget.count_limit, options->count_limit);
  LRD_STORE(&cache->budget.cost_limit, options->cost_limit);
  lrd_answer_open(&cache->answer, options->count_limit, options->cost_limit);
  cache->shard_mask = shards_of(options) - 1;
  cache->policy = options->policy;
  cache->timed = options->timed;
  cache->hits_most = options->policy->hits_most;
  cache->use = options->timed ? LRD_HITS_TIMED : cache->hits_most;
  LRD_ASSERT(options->references.count <= LRD_REFERENCES_MOST);
  cache->entry_references = options->references;
  size_t extra = lrd_round_up(options->entry_bytes, 8);
  size_t hard = lrd_round_up(extra + options->policy->entry_bytes, 8);
  lrd_layout layout = {.bytes = hard + (idles(options) ? sizeof(uint64_t) : 0),
                       .hard = idles(options) ? (ptrdiff_t)hard : 0,
                       .alignment = options->entry_alignment,
                       .costed = options->costed || options->cost_limit,
                       .timed = options->timed};
  bool opened = open_shards(cache) && open_timers(cache, options);
  if (!opened || !lrd_pool_open(&cache->pool, layout)) {
    close_shards(cache);
    lrd_free(cache, sizeof *cache, _Alignof(lrd_cache));
    return NULL;
  }
  lrd_pool_expect(&cache->pool, options->count_limit);
  cache->pool.extra = extra;
  LRD_STORE(&cache->hard, idles(options));
  static const _Atomic(uint32_t) nothing = 0;
  cache->listens = cache->policy->listens ? cache->policy->listens(cache->shared) : &nothing;
  static _Atomic(uint64_t) caches = 0;
  uint64_t number = 1 + atomic_fetch_add_explicit(&caches, 1, memory_order_relaxed);
  LRD_STORE(&cache->number, number | (options->detours ? LRD_NUMBER_DETOURS : 0));
  LRD_STORE(&cache->plain, number | (options->timed ? LRD_NUMBER_DETOURS : 0));
  cache->observed = options->observed;
  cache->hooks = options->hooks;
  lrd_lanes_open(cache);
  LRD_STORE(&cache->request.references, 1);
  lrd_process_add(cache);
  return cache;
}

void lrd_cache_close(lrd_cache *cache) {
  atomic_store_explicit(&cache->closed, true, memory_order_release);
  lrd_answer_heed(&cache->answer, false);
  // The layer above is told of nothing after this, unless it closes the cache from there.
  lrd_outcall_close(cache);
  // Not without the locks: another thread may be removing what has expired, or what is given up.
  if (cache->observed) lrd_removal_observe(cache, false);
  lrd_garbage garbage = {0};
  lrd_removal_of_all(cache, NULL, &garbage);
  // What a pass has moved is not in a limbo. One that is under way ends: it sees `closed`.
  lrd_pass_take_settled(cache);
  lrd_pass_give(cache);
  destroy_all(cache, &garbage);
  // A request that waits, for a deadline or because the pool is sparse, has a reference.
  if (!lrd_request_is_idle(&cache->request)) lrd_request_visit(&cache->request);
  lrd_cache_release(cache);
}
