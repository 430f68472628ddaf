// SPDX-License-Identifier: Apache-2.0
#include "lrd_lane.h"

#include "lrd_alloc.h"
#include "lrd_matches.h"

#include <string.h>

_Thread_local lrd_near_lane lrd_near[LRD_NEAR_LANES];
_Thread_local lrd_near_lane lrd_near_detours[LRD_NEAR_LANES];

static lrd_lanes no_lanes = {.capacity = 0};

static size_t lanes_bytes(uint32_t capacity) {
  return sizeof(lrd_lanes) + capacity * sizeof(lrd_lane *);
}

void lrd_lanes_open(lrd_cache *cache) {
  LRD_STORE(&cache->lanes, &no_lanes);
}

void lrd_lanes_close(lrd_cache *cache) {
  lrd_lanes *lanes = LRD_LOAD(&cache->lanes);
  for (uint32_t i = 0; i < lanes->capacity; i++)
    lrd_free(LRD_LOAD(&lanes->lane[i]), sizeof(lrd_lane), _Alignof(lrd_lane));
  while (lanes && lanes != &no_lanes) {
    lrd_lanes *smaller = lanes->smaller;
    lrd_free(lanes, lanes_bytes(lanes->capacity), _Alignof(lrd_lanes));
    lanes = smaller;
  }
}

void lrd_lanes_reset(lrd_cache *cache) {
  lrd_lanes *lanes = LRD_LOAD(&cache->lanes);
  for (uint32_t i = 0; i < lanes->capacity; i++) {
    lrd_lane *lane = LRD_LOAD(&lanes->lane[i]);
    if (!lane || (lrd_self && lane->thread == lrd_self)) continue;
    lane->touches = 0;
    lane->flush_at = LRD_BATCH;
    lane->free_count = 0;
    lane->destroying = 0;
    lane->left_over = false;
  }
}

/// Makes the array of lanes at least `capacity` long. False without memory.
static bool grow_lanes(lrd_cache *cache, uint32_t capacity) LRD_EXCLUDES(cache->admin) {
  uint32_t rounded = 8;
  while (rounded < capacity) rounded *= 2;
  lrd_lanes *grown = lrd_alloc_zeroed(lanes_bytes(rounded), _Alignof(lrd_lanes));
  if (!grown) return false;
  grown->capacity = rounded;
  lrd_lock_acquire(&cache->admin);
  lrd_lanes *lanes = LRD_LOAD(&cache->lanes);
  bool used = lanes->capacity < capacity;
  if (used) {
    for (uint32_t i = 0; i < lanes->capacity; i++) {
      lrd_lane *lane = LRD_LOAD(&lanes->lane[i]);
      LRD_STORE(&grown->lane[i], lane);
    }
    grown->smaller = lanes->capacity ? lanes : NULL;
    atomic_store_explicit(&cache->lanes, grown, memory_order_release);
  }
  lrd_lock_release(&cache->admin);
  if (!used) lrd_free(grown, lanes_bytes(rounded), _Alignof(lrd_lanes));
  return true;
}

/// Makes the calling thread's lane and stores it in the cache's array.
static lrd_lane *make_lane(lrd_cache *cache, uint32_t index) LRD_EXCLUDES(cache->admin) {
  lrd_lane *lane = lrd_alloc_zeroed(sizeof *lane, _Alignof(lrd_lane));
  if (!lane) return NULL;
  lane->thread = lrd_self;
  lane->flush_at = LRD_BATCH;
  lrd_lock_acquire(&cache->admin);
  // Under the lock, because the array may have grown meanwhile.
  lrd_lanes *lanes = LRD_LOAD(&cache->lanes);
  atomic_store_explicit(&lanes->lane[index], lane, memory_order_release);
  lrd_lock_release(&cache->admin);
  return lane;
}

/// Asks for the visit that the parent of this process was owed.
static LRD_COLD void ask_for_owed(lrd_cache *cache) {
  LRD_STORE(&cache->owed, false);
  // A closed cache may be at its end, and have no reference to give.
  if (!LRD_LOAD(&cache->closed)) lrd_request_visit(&cache->request);
}

lrd_lane *lrd_lane_attach(lrd_cache *cache) {
  if (!lrd_self && !lrd_thread_register()) return NULL;
  uint32_t index = lrd_self->index;
  lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
  if (index >= lanes->capacity && !grow_lanes(cache, index + 1)) return NULL;
  lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
  // Relaxed: only this thread, or an earlier one with the same record, has stored it.
  lrd_lane *lane = LRD_LOAD(&lanes->lane[index]);
  if (!lane) lane = make_lane(cache, index);
#if defined(__linux__)
  bool hit_path = lrd_platform_asymmetric;
#else
  bool hit_path = true;
#endif
  if (lane && hit_path) {
    // A number from before the cache was given lifetimes will match nothing.
    uint64_t number = atomic_load_explicit(&cache->number, memory_order_acquire);
    lrd_near_lane *near = number & LRD_NUMBER_DETOURS ? lrd_near_detours : lrd_near;
    near[number % LRD_NEAR_LANES] = (lrd_near_lane){number, lane};
  }
  if (LRD_UNLIKELY(LRD_LOAD(&cache->owed))) ask_for_owed(cache);
  return lane;
}

// The system's clock is read without entering the kernel, or at worst by a system call that does
// not wait.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
uint64_t lrd_lane_read_clock(lrd_cache *cache, lrd_lane *lane, uint64_t cycles) LRD_NONBLOCKING {
  lane->limit = lrd_limit_at(lrd_tick_at(lrd_now(cache->clock)));
  lane->limit_read = cycles;
  lane->limit_lasts = cache->clock ? 0 : lrd_platform_cycles;
  return lane->limit;
}
#pragma clang diagnostic pop

lrd_lane *lrd_lane_if_any(lrd_cache *cache) {
  if (!lrd_self) return NULL;
  uint32_t index = lrd_self->index;
  lrd_lanes *lanes = atomic_load_explicit(&cache->lanes, memory_order_acquire);
  return index < lanes->capacity ? LRD_LOAD(&lanes->lane[index]) : NULL;
}

/// Moves what waits at one place to an earlier one.
static void keep(lrd_lane *lane, uint32_t from, uint32_t to) {
  lane->touched[to] = lane->touched[from];
  lane->touched_hash[to] = lane->touched_hash[from];
}

/// Drops the oldest of what waits.
static void drop(lrd_lane *lane, uint32_t dropped) LRD_NONBLOCKING {
  lane->touches -= dropped;
  memmove(lane->touched, lane->touched + dropped, lane->touches * sizeof *lane->touched);
  memmove(lane->touched_hash, lane->touched_hash + dropped,
          lane->touches * sizeof *lane->touched_hash);
}

/// Hands the misses of `shard` to the policy, in their order, and keeps the others.
static void hand_misses_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < lane->touches; i++) {
    uint64_t hash = lane->touched_hash[i];
    if (lrd_cache_shard(cache, hash) == shard) {
      shard->order_changes++;
      cache->policy->missed(&shard->order, lrd_hash48(hash));
    } else {
      keep(lane, i, kept++);
    }
  }
  lane->touches = kept;
}

void lrd_lane_apply_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard) {
  if (cache->policy->missed) {
    hand_misses_locked(cache, lane, shard);
    return;
  }
  lrd_entry *linked[LRD_BATCH_MOST];
  uint32_t hits = 0, kept = 0;
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_slots slots = lrd_pool_slots(&cache->pool);
  bool sound = !cache->shard_mask && lane->sound_at == shard->unlinked;
  for (uint32_t i = 0; i < lane->touches; i++) {
    lrd_entry *entry = lane->touched[i];
    uint64_t hash = lane->touched_hash[i];
    if (LRD_UNLIKELY(lrd_cache_shard(cache, hash) != shard)) {
      keep(lane, i, kept++);
    } else if (sound || lrd_table_holds_locked(root, slots, entry, hash) ||
               (entry = lrd_shard_find_hash_locked(shard, hash))) {
      linked[hits++] = entry;
    }
  }
  shard->order_changes += hits;
  cache->policy->access(&shard->order, &cache->pool, linked, hits);
  lane->touches = kept;
  lane->applied++;
  lane->flush_at = LRD_BATCH;
  lane->sound_at = shard->unlinked;
}

// On the hit path. The compiler cannot see the policies' functions, which are called through
// pointers. By the contract of lrd_policy.h they neither allocate nor wait.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
/// Applies the batch to every shard that it concerns and whose lock is free.
static void try_shards(lrd_cache *cache, lrd_lane *lane) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  uint64_t shards = 0;
  for (uint32_t i = 0; i < lane->touches; i++) {
    shards |= (uint64_t)1 << ((uint32_t)(lane->touched_hash[i] >> 16) & cache->shard_mask);
  }
  for (; shards; shards &= shards - 1) {
    lrd_shard *shard = &cache->shards[__builtin_ctzll(shards)];
    if (!lrd_lock_try(&shard->lock)) continue;
    lrd_lane_apply_locked(cache, lane, shard);
    // A mark left meanwhile is put back: the next holder will be told of it.
    if (lrd_lock_release(&shard->lock)) lrd_lock_mark(&shard->lock);
  }
}

void lrd_lane_note_miss(lrd_cache *cache, lrd_lane *lane,
                        uint64_t hash) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  lane->touched[lane->touches] = NULL;
  lane->touched_hash[lane->touches++] = hash;
  if (lane->touches < LRD_MISSES) return;
  try_shards(cache, lane);
  if (lane->touches >= LRD_MISSES_MOST) drop(lane, LRD_MISSES);
}

void lrd_lane_flush(lrd_cache *cache, lrd_lane *lane) LRD_NONBLOCKING LRD_UNCHECKED_LOCKS {
  try_shards(cache, lane);
  lane->flush_at = lane->touches < LRD_BATCH ? LRD_BATCH : lane->touches + LRD_BATCH / 4;
  if (lane->touches + LRD_BATCH / 4 <= LRD_BATCH_MOST) return;
  uint32_t dropped = lane->touches / 2;
  drop(lane, dropped);
  lane->flush_at = LRD_BATCH_MOST;
  LRD_STORE(&lane->dropped, LRD_LOAD(&lane->dropped) + dropped);
}
#pragma clang diagnostic pop
