// SPDX-License-Identifier: Apache-2.0
/* lrd_lane.h — lanes: what one thread writes when it uses one cache. They keep hits free of shared
 * writes.
 *
 * A lane is made at a thread's first use of a cache and freed with the cache. Only the thread that
 * owns the lane's index writes it. When the thread ends, its free slots go back to the pool, and
 * the next thread that gets the index goes on with the lane and its counters.
 *
 * THE BATCH (after Ding, Jiang, Zhang, "BP-Wrapper", ICDE 2009) holds hits that are not yet noted
 * in the policy's order, as (entry, hash). It is applied when it is full, if a trylock gets the
 * shard, and always before its thread changes that shard, so that a single thread sees an exact
 * order. Entries in a batch may be gone. They are followed only if the table confirms, under the
 * lock, that they are linked, or if the shard has unlinked nothing since the batch was empty. The
 * hit on one that is gone goes to an entry of the same hash: its copy, if it was moved
 * (lrd_compact.h), or what has replaced it.
 *
 * MISSES that a policy listens for (lrd_policy.h) wait in the batch as well. No policy takes both
 * hits and misses from it. Each shard gets its own when the thread locks it, or by a trylock when
 * LRD_MISSES are waiting. */
#pragma once

#include "lrd_cache.h"
#include "lrd_thread.h"

#pragma clang assume_nonnull begin

/// Hits that a thread gathers before it notes them, and those that it keeps while it cannot.
#define LRD_BATCH 64
#define LRD_BATCH_MOST 128
/// `sound_at` of a batch that is not sound.
#define LRD_NEVER_SOUND UINT64_MAX
/// Misses that wait before a thread tries a shard, and those that it keeps while all are busy.
#define LRD_MISSES 8
#define LRD_MISSES_MOST 32
/// Free slots in a lane, a power of two. First in, first out: if entries leave in the order in
/// which they came, neighbours in that order then share lines.
#define LRD_FREE_SLOTS 32

typedef struct lrd_lane {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) hits; // written by the owner, read by statistics
  _Atomic(uint64_t) misses;
  _Atomic(uint64_t) dropped; // hits that never reached the order: the shard was busy too long
  lrd_thread *thread;
  uint32_t touches;
  uint32_t flush_at;             // number of touches at which the next flush is tried
  uint32_t free_count;           // slots in `free`
  uint32_t first_free;           // modulo LRD_FREE_SLOTS
  uint32_t applied;              // times the batch was applied
  uint64_t sound_at;             // `unlinked` of the only shard when the batch was last empty
  uint64_t limit;                // what has expired when the clock was read last (lrd_deadline.h)
  uint64_t limit_read;           // the processor's cycles then
  uint64_t limit_lasts;          // cycles for which the limit is good
  uint32_t destroying;           // destructions that the owner is in (lrd_garbage.h)
  bool left_over;                // calls made by destructions left garbage in shard 0
  uint32_t free[LRD_FREE_SLOTS]; // a ring
  lrd_entry *_Nullable touched[LRD_BATCH_MOST]; // NULL for a miss
  uint64_t touched_hash[LRD_BATCH_MOST];
} lrd_lane;

/// The lanes that this thread used last, by the low bits of their caches' numbers: saves the hit
/// path the way through `lanes`. Numbers are never reused, so a lane of a closed cache matches
/// nothing.
enum { LRD_NEAR_LANES = 4 };

typedef struct lrd_near_lane {
  uint64_t cache_number;
  lrd_lane *_Nullable lane;
} lrd_near_lane;

extern _Thread_local lrd_near_lane lrd_near[LRD_NEAR_LANES] LRD_INITIAL_EXEC;

/// The same by numbers with the top bit, of which lookups know nothing on their shortest way.
extern _Thread_local lrd_near_lane lrd_near_detours[LRD_NEAR_LANES] LRD_INITIAL_EXEC;

// clang assumes that reading a thread-local variable may allocate. This one is LRD_INITIAL_EXEC.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
/// The lane that this thread uses for the cache of a number without the top bit, if it used it
/// lately.
LRD_INLINE lrd_lane *_Nullable lrd_lane_near(uint64_t number) LRD_NONBLOCKING {
  const lrd_near_lane *near = &lrd_near[number % LRD_NEAR_LANES];
  if (LRD_UNLIKELY(near->cache_number != number)) return NULL;
  lrd_lane *lane = near->lane;
  LRD_ASSUME(lane != NULL);
  return lane;
}

/// The calling thread's lane, if it used this cache lately and the hit path may be taken. What it
/// finds by this may have expired: lrd_use() tells.
LRD_INLINE lrd_lane *_Nullable lrd_lane_current(lrd_cache *cache) LRD_NONBLOCKING {
  return lrd_lane_near(LRD_LOAD(&cache->number));
}

/// lrd_lane_current(), but NULL if entries of the cache can expire.
LRD_INLINE lrd_lane *_Nullable lrd_lane_plain(lrd_cache *cache) LRD_NONBLOCKING {
  return lrd_lane_near(LRD_LOAD(&cache->plain));
}

/// lrd_lane_current() for a cache whose entries can expire, and NULL for others.
LRD_INLINE lrd_lane *_Nullable lrd_lane_timed(lrd_cache *cache) LRD_NONBLOCKING {
  uint64_t number = atomic_load_explicit(&cache->number, memory_order_acquire);
  const lrd_near_lane *near = &lrd_near_detours[number % LRD_NEAR_LANES];
  if (LRD_LIKELY(near->cache_number == number)) return near->lane;
  return cache->timed ? lrd_lane_near(number) : NULL;
}
#pragma clang diagnostic pop

typedef struct lrd_lanes {
  struct lrd_lanes *_Nullable smaller; // its predecessor
  uint32_t capacity;
  _Atomic(lrd_lane *_Nullable) lane[];
} lrd_lanes;

/// These make and free a cache's array of lanes. The third resets all lanes after fork(), except
/// that of the only thread left: fork() may have copied them half changed. Their free slots are
/// lost.
void lrd_lanes_open(lrd_cache *cache);
void lrd_lanes_close(lrd_cache *cache);
void lrd_lanes_reset(lrd_cache *cache);

/// Forgets the lanes that this thread used last.
static inline void lrd_lanes_forget_near(void) {
  for (int i = 0; i < LRD_NEAR_LANES; i++)
    lrd_near[i] = lrd_near_detours[i] = (lrd_near_lane){0, NULL};
}

/// The calling thread's lane, made if needed; NULL without memory. Stores it in `lrd_near` or
/// `lrd_near_detours` if the hit path may be taken. Asks for a visit that is `owed`. No lock is
/// held.
lrd_lane *_Nullable lrd_lane_attach(lrd_cache *cache) LRD_COLD;

/// The calling thread's lane if it has one.
lrd_lane *_Nullable lrd_lane_if_any(lrd_cache *cache);

/// How often the lane's batch was applied. If that changes between finding an entry and lrd_hit(),
/// call lrd_lane_found_at() before lrd_hit().
static inline uint32_t lrd_lane_applied(const lrd_lane *lane) LRD_NONBLOCKING {
  return lane->applied;
}

/// Call with lrd_lane_applied() from before the entry was found. If the batch was applied since,
/// the entry may have been unlinked: the batch is no longer sound, and the table must confirm its
/// hits.
static inline void lrd_lane_found_at(lrd_lane *lane, uint32_t applied) LRD_NONBLOCKING {
  if (LRD_UNLIKELY(lane->applied != applied)) lane->sound_at = LRD_NEVER_SOUND;
}

/// Notes this thread's hits on `shard` in its order, or hands its misses there to the policy.
void lrd_lane_apply_locked(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard)
    LRD_REQUIRES(shard->lock);

/// Reads the clock for lrd_lane_limit().
uint64_t lrd_lane_read_clock(lrd_cache *cache, lrd_lane *lane,
                             uint64_t cycles) LRD_COLD LRD_NONBLOCKING;

/// What has expired now, or had up to two milliseconds ago.
LRD_INLINE uint64_t lrd_lane_limit(lrd_cache *cache, lrd_lane *lane) LRD_NONBLOCKING {
  uint64_t cycles = lrd_cycles();
  if (LRD_LIKELY(cycles - lane->limit_read < lane->limit_lasts)) return lane->limit;
  return lrd_lane_read_clock(cache, lane, cycles);
}

/// The tick that it is now, or was up to two milliseconds ago.
LRD_INLINE uint64_t lrd_lane_tick(lrd_cache *cache, lrd_lane *lane) LRD_NONBLOCKING {
  return (lrd_lane_limit(cache, lane) >> LRD_WORD_SHIFT) - 1;
}

/// Adds a miss to the batch. Drops the oldest if it must.
void lrd_lane_note_miss(lrd_cache *cache, lrd_lane *lane, uint64_t hash) LRD_COLD LRD_NONBLOCKING;

/// Notes the hits of a full batch in every shard whose lock is free. Drops the oldest if it must.
void lrd_lane_flush(lrd_cache *cache, lrd_lane *lane) LRD_COLD LRD_NONBLOCKING;

#pragma clang assume_nonnull end
