// SPDX-License-Identifier: Apache-2.0
#include "lrd_expire.h"

#include "lrd_growth.h"

/// Entries removed under one lock by a call that removes all, and steps of the wheel for each.
enum { expirations_per_lock = 32, steps_per_expiration = 8 };

void lrd_expire_locked(lrd_shard *shard, lrd_entry *entry, lrd_chain *removed) {
  lrd_shard_unlink_locked(shard, entry, LRD_REMOVED_EXPIRED, removed);
  shard->timer->expirations++;
}

bool lrd_expire_some_locked(lrd_shard *shard, uint32_t most, const lrd_entry *spared, bool exact,
                            lrd_chain *removed) {
  lrd_timer *timer = shard->timer;
  uint64_t tick = lrd_timer_tick(timer);
  bool any = false;
  for (uint32_t steps = most * steps_per_expiration; steps && most; steps--) {
    uint32_t id;
    lrd_turn turn = lrd_wheel_step(&timer->wheel, shard->pool, tick, exact, &id);
    if (turn == LRD_TURN_NONE) return any;
    any = true;
    if (turn == LRD_TURN_MOVED) continue;
    lrd_entry *entry = lrd_pool_entry(shard->pool, id);
    if (entry == spared) return false;
    lrd_expire_locked(shard, entry, removed);
    most--;
  }
  return any;
}

bool lrd_expire_some(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage, uint64_t *removed) {
  if (!lrd_cache_is_timed(cache)) return true;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_chain expired = {0};
    lrd_shard_enter(cache, lane, shard);
    bool more = lrd_expire_some_locked(shard, expirations_per_lock, NULL, true, &expired);
    *removed += expired.count;
    lrd_budget_release_chain(&cache->budget, &cache->pool, &expired);
    lrd_garbage_add_locked(cache, shard, garbage, &expired);
    garbage->unsettled |= lrd_growth_is_oversized_locked(shard);
    lrd_shard_leave(cache, shard);
    if (more) return false;
  }
  return true;
}
