// SPDX-License-Identifier: Apache-2.0
#include "lrd_expire.h"

#include "lrd_growth.h"

/// Entries removed under one lock by a call that removes all, and steps of the wheel for each.
enum { expirations_per_lock = 8, steps_per_expiration = 8 };
/// Entries removed from one shard to make room, and tries to find one in the shard that needs it.
enum { expirations_per_seek = 4, tries_for_one = 16 };

void lrd_expire_locked(lrd_shard *shard, lrd_entry *entry, lrd_chain *removed) {
  lrd_shard_unlink_locked(shard, entry, LRD_REMOVED_EXPIRED, removed);
  shard->counters.expirations++;
}

/// Begins to load what removing the next entry of the wheel's spoke will touch, and the one after
/// it, so that their cache misses overlap. Their lines were asked for when the entries before them
/// left.
static void prefetch_locked(lrd_shard *shard, const lrd_entry *entry) LRD_REQUIRES(shard->lock) {
  lrd_slots slots = lrd_pool_slots(shard->pool);
  uint32_t next = lrd_entry_time(entry)->next;
  if (next == LRD_NIL) return;
  const lrd_entry *second = lrd_slots_entry(slots, next);
  lrd_shard_prefetch(shard, lrd_entry_hash48_locked(second), 0);
  if (second->prev != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, second->prev));
  if (second->next != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, second->next));
  uint32_t after = lrd_entry_time(second)->next;
  if (after != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, after));
}

/// What is due.
typedef enum extent {
  PAST_TURNS, // what belongs to turns that are over
  PART,       // what has expired; a part of the current turn is searched under one lock
  ALL,        // the same, but all of the turn
} extent;

/// lrd_expire_any_locked(), for a tick. True also when it has not seen all that may be due.
static bool take_due_locked(lrd_shard *shard, uint32_t most, const lrd_entry *spared, uint64_t tick,
                            extent extent, lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  lrd_timer *timer = shard->timer;
  bool any = false, exact = extent != PAST_TURNS;
  for (uint32_t steps = most * steps_per_expiration; steps && most; steps--) {
    uint32_t id;
    lrd_wheel_result result;
    do {
      result = lrd_wheel_step(&timer->wheel, shard->pool, tick, exact, &id);
    } while (result == LRD_WHEEL_SEARCHED && extent == ALL);
    if (result == LRD_WHEEL_NONE) {
      timer->first = lrd_wheel_next(&timer->wheel);
      return any;
    }
    any = true;
    if (result != LRD_WHEEL_DUE) continue;
    lrd_entry *entry = lrd_pool_entry(shard->pool, id);
    if (entry == spared) return false;
    if (most > 1 && lrd_shard_is_far_locked(shard)) prefetch_locked(shard, entry);
    lrd_expire_locked(shard, entry, removed);
    most--;
  }
  return any;
}

bool lrd_expire_any_locked(lrd_shard *shard, uint32_t most, const lrd_entry *spared,
                           lrd_chain *removed) {
  lrd_timer *timer = shard->timer;
  if (timer->now < timer->first) return false;
  return take_due_locked(shard, most, spared, timer->now, PAST_TURNS, removed);
}

bool lrd_expire_one_locked(lrd_shard *shard, const lrd_entry *spared, lrd_chain *removed) {
  uint32_t before = removed->count;
  // A bounded number of tries, although the wheel may have a lot to move.
  extent extent = shard->timer->clock ? ALL : PAST_TURNS;
  uint64_t now = shard->timer->now;
  if (extent == PAST_TURNS && now < shard->timer->first) return false;
  for (int i = 0; i < tries_for_one; i++) {
    if (!take_due_locked(shard, 1, spared, now, extent, removed)) return false;
    if (removed->count != before) return true;
  }
  return false;
}

bool lrd_expire_may_find(const lrd_cache *cache, uint64_t tick) {
  return tick >= LRD_LOAD(&cache->barren);
}

/// Removes up to `most` entries from a shard. True when there may be more.
static bool take_due(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard, uint32_t most,
                     uint64_t tick, extent extent, lrd_garbage *garbage, uint64_t *removed) {
  lrd_chain expired = {0};
  lrd_shard_enter(cache, lane, shard);
  // The cache is being given its first lifetime, and this shard has not been told of it, or could
  // not be for want of memory.
  if (!shard->timer) {
    lrd_shard_leave(cache, shard);
    return false;
  }
  lrd_timer_look(shard->timer);
  bool more = extent == PAST_TURNS ? lrd_expire_any_locked(shard, most, NULL, &expired)
                                   : take_due_locked(shard, most, NULL, tick, extent, &expired);
  *removed += expired.count;
  lrd_garbage_give_up_locked(cache, shard, garbage, &expired);
  garbage->unsettled |= lrd_growth_is_oversized_locked(shard);
  lrd_shard_leave(cache, shard);
  return more;
}

bool lrd_expire_seek(lrd_cache *cache, lrd_lane *lane, lrd_garbage *garbage, uint64_t *removed) {
  bool more = false;
  extent extent = cache->clock ? ALL : PAST_TURNS;
  uint64_t tick = lrd_tick_at(lrd_now(cache->clock)), before = *removed;
  // Where the last one found something there may be more.
  uint32_t hand = LRD_LOAD(&cache->steal_hand);
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    lrd_shard *shard = &cache->shards[(hand + i) & cache->shard_mask];
    more |= take_due(cache, lane, shard, expirations_per_seek, tick, extent, garbage, removed);
    if (*removed == before) continue;
    LRD_STORE(&cache->steal_hand, hand + i);
    return true;
  }
  uint64_t turn = (tick >> LRD_TURN_SHIFT) << LRD_TURN_SHIFT;
  uint64_t next = extent == ALL ? tick + 1 : turn + (1 << LRD_TURN_SHIFT);
  if (!more) LRD_STORE(&cache->barren, next);
  return more;
}

bool lrd_clearance_go_on(lrd_clearance *clearance, lrd_cache *cache, lrd_lane *lane,
                         lrd_garbage *garbage) {
  if (!lrd_cache_is_timed(cache)) return true;
  for (; clearance->shard <= cache->shard_mask; clearance->shard++) {
    lrd_shard *shard = &cache->shards[clearance->shard];
    if (take_due(cache, lane, shard, expirations_per_lock, clearance->tick, PART, garbage,
                 &clearance->removed)) {
      return false;
    }
  }
  return true;
}
