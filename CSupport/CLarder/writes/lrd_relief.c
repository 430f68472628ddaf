// SPDX-License-Identifier: Apache-2.0
#include "lrd_relief.h"

#include "lrd_alloc.h"
#include "lrd_evict.h"
#include "lrd_expire.h"
#include "lrd_garbage.h"
#include "lrd_growth.h"
#include "lrd_reserve.h"
#include "lrd_sweep.h"

enum {
  looks_per_lock = 128, // at entries, passed over or not
  gathered_most = 8192, // evicted, before they are destroyed
  gathered_part = 64,   // of the cache
};

/// What was unlinked and nobody has to be shown. The limbo would take a fence for some hundreds of
/// entries, and each fence interrupts all readers.
typedef struct gathered {
  lrd_chain entries;
  lrd_amount most; // more than this is destroyed at once
} gathered;

static void destroy(lrd_cache *cache, gathered *gathered) {
  if (gathered->entries.head) lrd_garbage_destroy_unlinked(cache, &gathered->entries);
}

/// Tries a shard; naps when `*busy` were busy in a row. On success notes the caller's hits there.
static bool try_shard(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, uint32_t *busy,
                      gathered *gathered) LRD_TRY_ACQUIRE(true, shard->lock) {
  if (lrd_lock_try(&shard->lock)) {
    if (lane && lane->touches) lrd_lane_apply_locked(cache, lane, shard);
    *busy = 0;
    return true;
  }
  if (++*busy > cache->shard_mask) {
    destroy(cache, gathered);
    lrd_nap();
    *busy = 0;
  }
  return false;
}

static bool is_held(lrd_cache *cache, const lrd_entry *entry) {
  return cache->hooks.is_held && cache->hooks.is_held(cache->hooks.context, entry);
}

/// What one shard gives up under one lock. What had expired is no eviction.
typedef struct yield {
  lrd_chain victims, expired;
} yield;

/// Unlinks an entry.
static void give_up_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry, yield *yield)
    LRD_REQUIRES(shard->lock) {
  lrd_budget_release(&cache->budget, 1, lrd_entry_cost(entry));
  if (lrd_entry_is_expired_locked(shard, entry)) {
    lrd_expire_locked(shard, entry, &yield->expired);
  } else {
    lrd_shard_unlink_locked(shard, entry, LRD_REMOVED_PRESSURE, &yield->victims);
    lrd_shard_note_eviction_locked(shard, LRD_EVICTED_BY_PRESSURE);
  }
}

/// Unlinks entries that have expired, some of them. They go before any other. True when there may
/// be more.
static bool expire_locked(lrd_cache *cache, lrd_shard *shard, yield *yield)
    LRD_REQUIRES(shard->lock) {
  if (!shard->timer) return false;
  lrd_timer_look(shard->timer);
  bool more = lrd_expire_any_locked(shard, LRD_EVICTIONS_PER_LOCK, NULL, &yield->expired);
  while (yield->expired.count < LRD_EVICTIONS_PER_LOCK &&
         lrd_expire_one_locked(shard, NULL, &yield->expired)) {
  }
  lrd_budget_release_chain(&cache->budget, &cache->pool, &yield->expired);
  return more || yield->expired.count;
}

/// The rounds in which a policy has named every entry: one for each number of hits that it counts.
static uint64_t rounds_of(const lrd_policy *policy) {
  return policy->hits_most <= LRD_HITS_MOST ? policy->hits_most + 2 : 2;
}

/// Passed over an entry that somebody holds. After so many without a victim all are held.
static void note_passed(lrd_cache *cache, lrd_relief *relief) {
  relief->may_pass_over--;
  uint64_t most = rounds_of(cache->policy) * lrd_cache_count(cache);
  if (++relief->passed_over > most) relief->may_pass_over = 0;
}

/// Evicts up to `wanted` entries of one shard.
static void evict_some_locked(lrd_cache *cache, lrd_shard *shard, lrd_relief *relief,
                              uint64_t wanted, yield *yield) LRD_REQUIRES(shard->lock) {
  const lrd_policy *policy = cache->policy;
  uint64_t most = shard->count < looks_per_lock ? shard->count : looks_per_lock;
  uint32_t number = (uint32_t)(shard - cache->shards);
  lrd_order_begin_trim(&shard->order, &relief->depth, number);
  int free = 0; // entries without a cost that were passed over in a row
  for (uint64_t look = 0; yield->victims.count < wanted && look < most; look++) {
    lrd_shortage shortage = lrd_budget_excess(&cache->budget, relief->bounds);
    if (shortage == LRD_ROOM) break;
    if (shortage == LRD_COST_SHORT && !shard->cost) break;
    uint32_t id = policy->victim(&shard->order, &cache->pool);
    if (id == LRD_NIL) break;
    lrd_entry *victim = lrd_pool_entry(&cache->pool, id);
    bool frees_nothing = policy->pass && relief->may_pass_over && is_held(cache, victim);
    bool costs_nothing = policy->pass && shortage == LRD_COST_SHORT && !lrd_entry_cost(victim) &&
                         free < LRD_PASSED_OVER_MOST;
    if (frees_nothing || costs_nothing) {
      if (frees_nothing) note_passed(cache, relief);
      free += !frees_nothing;
      policy->pass(&shard->order, &cache->pool, victim);
      // Whoever lists the order in slices must hear of it.
      shard->order_changes++;
      continue;
    }
    free = 0;
    relief->passed_over = 0;
    give_up_locked(cache, shard, victim, yield);
  }
  lrd_order_end_trim(&shard->order, &relief->depth, number);
}

static bool is_closed(lrd_cache *cache) {
  return atomic_load_explicit(&cache->closed, memory_order_acquire);
}

static uint64_t moment_of(lrd_cache *cache) {
  return cache->hooks.moment ? cache->hooks.moment(cache->hooks.context) : 0;
}

/// Unlocks, and ends what was given up.
static void leave(lrd_cache *cache, lrd_shard *shard, lrd_relief *relief, yield *yield,
                  gathered *gathered, uint64_t moment) LRD_RELEASE(shard->lock) {
  lrd_garbage garbage = {0};
  uint64_t gone = yield->victims.count + yield->expired.count;
  relief->allowance -= gone < relief->allowance ? gone : relief->allowance;
  lrd_chain_append(&yield->victims, &yield->expired);
  if (!cache->observed) lrd_chain_append(&gathered->entries, &yield->victims);
  lrd_garbage_add_locked(cache, shard, &garbage, &yield->victims);
  garbage.unsettled |= lrd_growth_is_oversized_locked(shard);
  lrd_shard_leave(cache, shard);
  lrd_garbage_finish(cache, &garbage, moment);
  const lrd_chain *entries = &gathered->entries;
  bool many = entries->count > gathered->most.count || entries->cost > gathered->most.cost;
  if (many) destroy(cache, gathered);
}

/// Removes everything that nobody else holds, a slice of the table under each lock.
static void remove_unheld(lrd_cache *cache, lrd_lane *lane, lrd_relief *relief, lrd_shard *shard,
                          gathered *gathered) {
  lrd_sweep sweep = {.room = LRD_SWEEP_ROOM};
  uint32_t busy = cache->shard_mask; // each shard is tried alone
  while (!sweep.done && relief->allowance && !is_closed(cache)) {
    lrd_entry *few[LRD_SWEEP_ROOM], **entries = few;
    size_t room = sweep.room;
    if (room > LRD_SWEEP_ROOM) entries = lrd_alloc(room * sizeof *entries, sizeof *entries);
    if (!entries) return; // many keys of one hash, and no memory: they stay
    uint64_t moment = moment_of(cache);
    if (try_shard(cache, lane, shard, &busy, gathered)) {
      yield yield = {0};
      size_t found = lrd_sweep_next_locked(shard, &sweep, entries, room);
      for (size_t i = 0, left = relief->allowance; i < found && left; i++) {
        if (is_held(cache, entries[i])) continue;
        give_up_locked(cache, shard, entries[i], &yield);
        left--;
      }
      leave(cache, shard, relief, &yield, gathered, moment);
    }
    busy = cache->shard_mask;
    if (entries != few) lrd_free(entries, room * sizeof *entries, sizeof *entries);
  }
}

uint64_t lrd_relief_pause(uint64_t took) {
  static const uint64_t least = 20000000; // 20 ms
  return took > least / 4 ? took * 4 : least;
}

/// Gives back what evictions have freed, if that is due.
static void give_back(lrd_cache *cache, gathered *gathered, uint64_t *due) {
  uint64_t before = lrd_clock();
  if (before < *due) return;
  destroy(cache, gathered);
  lrd_alloc_give_back();
  uint64_t after = lrd_clock();
  *due = after + lrd_relief_pause(after - before);
}

static void run(lrd_cache *cache, lrd_lane *lane, lrd_relief *relief, gathered *gathered) {
  if (relief->unheld) {
    for (uint32_t i = 0; i <= cache->shard_mask; i++) {
      remove_unheld(cache, lane, relief, &cache->shards[i], gathered);
    }
    return;
  }
  // Several shards take turns, so that they stay alike.
  uint64_t at_once = cache->shard_mask ? 4 : LRD_EVICTIONS_PER_LOCK;
  // One bit for each shard. `barren`: nothing found in it had expired. No shard gives what lives
  // before all are barren. `tired`: it gave nothing, and is not asked before all are tired. A new
  // round then begins; if the last one passed over nothing, or `may_pass_over` is used up, this one
  // passes over nothing either. A round that could not pass over anything is the last.
  uint64_t tired = 0, barren = 0, could_pass_over = relief->may_pass_over,
           all = UINT64_MAX >> (63 - cache->shard_mask);
  uint32_t busy = 0;
  uint64_t due = lrd_clock() + lrd_relief_pause(0);
  for (uint32_t hand = 0;; hand++) {
    if (tired == all) {
      if (!could_pass_over) return;
      if (relief->may_pass_over == could_pass_over) relief->may_pass_over = 0;
      could_pass_over = relief->may_pass_over;
      tired = 0;
    }
    uint32_t i = hand & cache->shard_mask;
    if (tired >> i & 1) continue;
    if (!relief->allowance || is_closed(cache)) return;
    if (lrd_budget_excess(&cache->budget, relief->bounds) == LRD_ROOM) return;
    lrd_shard *shard = &cache->shards[i];
    uint64_t moment = moment_of(cache);
    if (!try_shard(cache, lane, shard, &busy, gathered)) continue;
    yield yield = {0};
    bool more = expire_locked(cache, shard, &yield);
    // Otherwise the allowance may be used up.
    if (!more) barren |= (uint64_t)1 << i;
    bool gives = !more && barren == all;
    if (gives) {
      uint64_t wanted = at_once < relief->allowance ? at_once : relief->allowance;
      evict_some_locked(cache, shard, relief, wanted, &yield);
    }
    if (gives && !yield.victims.count) tired |= (uint64_t)1 << i;
    leave(cache, shard, relief, &yield, gathered, moment);
    give_back(cache, gathered, &due);
  }
}

void lrd_relief_run(lrd_cache *cache, lrd_lane *lane, lrd_relief *relief) {
  uint64_t count = lrd_cache_count(cache) / gathered_part;
  uint64_t cost = lrd_limbo_cost_bound(lrd_cache_cost_limit(cache));
  relief->depth.deep = lrd_budget_is_deep(&cache->budget, relief->bounds, relief->allowance);
  gathered gathered = {.most = {count < gathered_most ? count : gathered_most, cost}};
  run(cache, lane, relief, &gathered);
  destroy(cache, &gathered);
}

void lrd_relief_settle(lrd_cache *cache) {
  lrd_garbage garbage = {0};
  lrd_garbage_reclaim(cache, &garbage);
  lrd_garbage_finish(cache, &garbage, 0);
  lrd_reserve_drop(&cache->pool);
}
