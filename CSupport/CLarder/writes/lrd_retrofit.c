// SPDX-License-Identifier: Apache-2.0
#include "lrd_retrofit.h"

#include "lrd_alloc.h"
#include "lrd_copy.h"
#include "lrd_growth.h"
#include "lrd_sweep.h"

/// Step 1. Notes the calling thread's batch as well: its entries will be other ones. False without
/// memory.
static bool tell_shards(lrd_cache *cache) {
  lrd_lane *lane = lrd_lane_attach(cache);
  lrd_rule rule =
      lrd_rule_of((lrd_expiration){.after_write = LRD_NEVER, .after_access = LRD_NEVER});
  LRD_STORE(&cache->wide, true);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_timer *timer = lrd_timer_create(cache->clock, &rule);
    if (!timer) return false;
    lrd_shard_enter(cache, lane, shard);
    bool lacked = !shard->timer;
    if (lacked) {
      shard->timer = timer;
      lrd_growth_settle_locked(shard);
    }
    shard->timer->wide = true;
    lrd_shard_leave(cache, shard);
    if (!lacked) lrd_timer_destroy(timer);
  }
  return true;
}

/// Where the entries of a slice are listed, and the slots for their copies.
typedef struct slice {
  lrd_entry **entries;
  lrd_entry **slots;
  size_t room;
  size_t taken; // of `slots`
} slice;

static void give_slots(lrd_cache *cache, slice *slice) {
  while (slice->taken) lrd_slot_give(cache, NULL, slice->slots[--slice->taken]);
}

static void drop(lrd_cache *cache, slice *slice) {
  give_slots(cache, slice);
  lrd_free(slice->entries, 2 * slice->room * sizeof *slice->entries, _Alignof(lrd_entry *));
}

/// Gets room for so many entries, with a slot for each. False without memory.
static bool prepare(lrd_cache *cache, slice *slice, size_t room) {
  if (slice->room < room) {
    drop(cache, slice);
    *slice = (struct slice){
        .entries = lrd_alloc(2 * room * sizeof *slice->entries, _Alignof(lrd_entry *))};
    if (!slice->entries) return false;
    slice->room = room;
    slice->slots = slice->entries + room;
  }
  for (lrd_entry *slot; slice->taken < slice->room; slice->slots[slice->taken++] = slot) {
    slot = lrd_slot_take_timed(cache, NULL, 0);
    if (!slot) return false;
    lrd_entry_describe(slot, 0, 0);
  }
  return true;
}

/// True when an entry has room for two deadlines.
static bool has_room_locked(lrd_cache *cache, lrd_shard *shard, const lrd_entry *entry)
    LRD_REQUIRES(shard->lock) {
  if (!(entry->fields & LRD_IS_TIMED)) return false;
  return lrd_pool_is_wide(&cache->pool, lrd_wheel_id(&shard->timer->wheel, &cache->pool, entry));
}

/// Step 2 for one slice of a shard. The slice has a slot for each of its entries.
static void copy_some(lrd_cache *cache, lrd_shard *shard, lrd_sweep *sweep, slice *slice) {
  lrd_garbage garbage = {0};
  lrd_chain replaced = {0};
  lrd_shard_enter(cache, NULL, shard);
  lrd_timer_look(shard->timer);
  size_t count = lrd_sweep_next_locked(shard, sweep, slice->entries, slice->room);
  for (size_t i = 0; i < count; i++) {
    lrd_entry *entry = slice->entries[i];
    if (has_room_locked(cache, shard, entry)) continue;
    lrd_entry *copy = slice->slots[--slice->taken];
    lrd_copy_in_place_locked(cache, shard, entry, copy, true, &replaced);
  }
  if (sweep->done) shard->timer->hard = true;
  if (replaced.head) lrd_garbage_add_unseen_locked(cache, shard, &garbage, &replaced);
  lrd_shard_leave(cache, shard);
  // Code of users may run here, and may come to the same place.
  lrd_garbage_finish(cache, &garbage, 0);
}

/// Step 2. False without memory.
static bool copy_all(lrd_cache *cache) {
  slice slice = {0};
  bool prepared = true;
  for (lrd_shard *shard = cache->shards; prepared && shard < lrd_cache_end(cache); shard++) {
    lrd_sweep sweep = {.room = LRD_SWEEP_ROOM};
    while (prepared && !sweep.done) {
      prepared = prepare(cache, &slice, sweep.room);
      if (prepared) copy_some(cache, shard, &sweep, &slice);
    }
  }
  drop(cache, &slice);
  return prepared;
}

bool lrd_cache_retrofit(lrd_cache *cache, bool by_use) {
  if (lrd_cache_has_room(cache, by_use)) return true;
  if (!cache->hooks.copy || !tell_shards(cache) || !copy_all(cache)) return false;
  // In this order: who has seen one of them has seen those before it. Another thread that gives a
  // lifetime asks for `number` or `hard`, and gives none before lookups look at deadlines. Release,
  // partner: the acquire loads of lrd_cache_has_room() and of whoever looks for a lane.
  if (!cache->timed) {
    atomic_fetch_or_explicit(&cache->plain, LRD_NUMBER_DETOURS, memory_order_release);
    atomic_fetch_or_explicit(&cache->number, LRD_NUMBER_DETOURS, memory_order_release);
  }
  atomic_store_explicit(&cache->hard, true, memory_order_release);
  return true;
}
