// SPDX-License-Identifier: Apache-2.0
#include "lrd_timing.h"

#include "lrd_alloc.h"
#include "lrd_change.h"
#include "lrd_sweep.h"

lrd_entry *lrd_slot_take_timed(lrd_cache *cache, lrd_lane *lane, uint64_t cost) {
  bool wide = (cache->pool.odd & LRD_IS_TIMED) || LRD_LOAD(&cache->wide);
  return wide ? lrd_slot_take_wide(cache) : lrd_slot_take(cache, lane, cost);
}

/// Describes an entry but for its time.
static void describe(lrd_entry *entry, uint64_t hash, uint64_t cost) {
  lrd_entry_describe(entry, hash, 0);
  entry->fields = LRD_IS_TIMED | (cost ? LRD_HAS_COST : 0);
  if (cost) *lrd_entry_cost_field(entry, entry->fields) = cost;
}

void lrd_entry_describe_timed(lrd_entry *entry, uint64_t hash, uint64_t cost, uint64_t lifetime) {
  describe(entry, hash, cost);
  lrd_entry_time_open(entry, LRD_LIFETIME_OWN, lrd_ticks_of(lifetime));
}

void lrd_entry_describe_until(lrd_entry *entry, uint64_t hash, uint64_t cost, uint64_t deadline) {
  describe(entry, hash, cost);
  lrd_entry_time_open(entry, LRD_LIFETIME_UNTIL, deadline);
}

void lrd_entry_describe_again(lrd_entry *moved, const lrd_entry *entry, uint64_t hash) {
  uint64_t cost = lrd_entry_cost(entry);
  if (!(entry->fields & LRD_IS_TIMED)) {
    lrd_entry_describe(moved, hash, cost);
    return;
  }
  const lrd_time *time = lrd_entry_time(entry);
  describe(moved, hash, cost);
  lrd_entry_time_open(moved, (enum lrd_lifetime_kind)time->next, LRD_LOAD(&time->word));
}

lrd_timing lrd_entry_timing(lrd_cache *cache, const lrd_entry *entry) {
  if (!(entry->fields & LRD_IS_TIMED)) return (lrd_timing){0};
  uint64_t word = LRD_LOAD(&lrd_entry_time(entry)->word);
  return (lrd_timing){word, lrd_entry_hard(&cache->pool, entry, word)};
}

void lrd_entry_describe_as(lrd_cache *cache, lrd_entry *entry, uint64_t hash, uint64_t cost,
                           lrd_timing timing) {
  lrd_pool *pool = &cache->pool;
  describe(entry, hash, cost);
  uint64_t word = timing.word;
  if (lrd_word_is_soft(word)) {
    if (pool->hard > 0 || lrd_pool_is_wide(pool, entry->prev)) {
      LRD_STORE(lrd_entry_hard_field(pool, entry), timing.hard);
    } else {
      // The slot was taken before the cache was given room for both. The entry is UNFIT, then.
      // Where it moves to it gets a soft word again: to be stored counts as a use.
      word = timing.hard;
    }
  }
  lrd_entry_time_open(entry, LRD_LIFETIME_KEPT, word);
}

bool lrd_timing_is_expired(lrd_cache *cache, lrd_timing timing) {
  uint64_t limit = lrd_limit_at(lrd_tick_at(lrd_now(cache->clock)));
  return timing.word < limit;
}

bool lrd_entry_is_in_grace_locked(lrd_shard *shard, const lrd_entry *entry) {
  if (!(entry->fields & LRD_IS_TIMED)) return true;
  uint64_t deadline = lrd_word_deadline(LRD_LOAD(&lrd_entry_time(entry)->word));
  return deadline + shard->timer->wheel.grace > lrd_timer_tick(shard->timer);
}

/// The time until the deadline of a word, LRD_NEVER if it has none.
static uint64_t until(const lrd_cache *cache, uint64_t word) {
  if (lrd_word_is_endless(word)) return LRD_NEVER;
  uint64_t deadline = lrd_word_deadline(word) << LRD_TICK_SHIFT, now = lrd_now(cache->clock);
  return deadline > now ? deadline - now : 0;
}

uint64_t lrd_entry_remaining_locked(lrd_cache *cache, const lrd_entry *entry) {
  if (!(entry->fields & LRD_IS_TIMED)) return LRD_NEVER;
  return until(cache, LRD_LOAD(&lrd_entry_time(entry)->word));
}

uint64_t lrd_entry_remaining_used_locked(lrd_cache *cache, const lrd_entry *entry) {
  if (!(entry->fields & LRD_IS_TIMED)) return LRD_NEVER;
  return until(cache, lrd_entry_timing(cache, entry).hard);
}

uint64_t lrd_entry_age_locked(lrd_cache *cache, lrd_shard *shard, const lrd_entry *entry) {
  if (!(entry->fields & LRD_IS_TIMED)) return 0;
  // It was written before this tick ended.
  uint64_t written = (lrd_timer_written(shard->timer, &cache->pool, entry) + 1) << LRD_TICK_SHIFT;
  uint64_t now = lrd_now(cache->clock);
  return now > written ? now - written : 0;
}

bool lrd_entry_own_deadline_locked(lrd_cache *cache, const lrd_entry *entry, uint64_t *deadline) {
  uint64_t hard = lrd_entry_timing(cache, entry).hard;
  if (!(entry->fields & LRD_IS_TIMED) || !lrd_word_life(hard)) return false;
  *deadline = lrd_word_is_endless(hard) ? LRD_FOREVER : lrd_word_deadline(hard);
  return true;
}

bool lrd_entry_set_lifetime_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                   uint64_t lifetime, bool *asks) {
  if (!(entry->fields & LRD_IS_TIMED)) return false;
  lrd_change_note(entry);
  lrd_timer_renew(shard->timer, &cache->pool, entry, lrd_ticks_of(lifetime));
  *asks = lrd_timer_asks(shard->timer);
  return true;
}

bool lrd_cache_is_torn(lrd_cache *cache) {
  return LRD_LOAD(&cache->torn);
}

lrd_expiration lrd_cache_expiration(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  lrd_expiration expiration = cache->expiration;
  lrd_lock_release(&cache->admin);
  return expiration;
}

/// Where a slice of a walk is listed.
typedef struct slice {
  lrd_entry **entries;
  size_t room;
} slice;

static bool make_room(slice *slice, size_t room) {
  lrd_free(slice->entries, slice->room * sizeof *slice->entries, _Alignof(lrd_entry *));
  slice->entries = lrd_alloc(room * sizeof *slice->entries, _Alignof(lrd_entry *));
  slice->room = slice->entries ? room : 0;
  return slice->entries;
}

/// Lets the entries of a shard follow the cache's rule, a slice at a time. False without memory.
static bool follow(lrd_cache *cache, lrd_shard *shard, slice *slice) {
  lrd_sweep sweep = {.room = slice->room};
  while (!sweep.done) {
    if (sweep.room > slice->room && !make_room(slice, sweep.room)) return false;
    lrd_shard_enter(cache, NULL, shard);
    shard->timer->rule = cache->rule;
    shard->timer->former = cache->former;
    size_t count = lrd_sweep_next_locked(shard, &sweep, slice->entries, slice->room);
    for (size_t i = 0; i < count; i++) {
      lrd_timer_follow(shard->timer, &cache->pool, slice->entries[i]);
    }
    lrd_shard_leave(cache, shard);
  }
  return true;
}

/// The same for all shards. Notes whether some entries are left.
static void follow_all(lrd_cache *cache, slice *slice) {
  LRD_STORE(&cache->torn, false);
  lrd_cache_begin_idle(cache, &cache->rule);
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    if (!follow(cache, shard, slice)) LRD_STORE(&cache->torn, true);
  }
  lrd_cache_end_idle(cache, &cache->rule);
}

/// The parts of a rule that are to change, with the others of the present one.
static lrd_expiration mix(lrd_expiration new, lrd_expiration present, uint32_t parts) {
  return (lrd_expiration){
      .after_write = (parts & LRD_AFTER_WRITE ? new : present).after_write,
      .after_access = (parts & LRD_AFTER_ACCESS ? new : present).after_access,
      .jitter = (parts & LRD_JITTER ? new : present).jitter,
  };
}

bool lrd_cache_set_expiration(lrd_cache *cache, lrd_expiration expiration, uint32_t parts) {
  slice slice = {0};
  // What stays has its room already.
  bool idles = parts & LRD_AFTER_ACCESS && lrd_rule_of(expiration).after_access < LRD_FOREVER;
  if (!lrd_cache_has_room(cache, idles)) return false;
  if (!make_room(&slice, LRD_SWEEP_ROOM)) return false;
  // One change at a time, and each to its end: there are only two parities.
  while (atomic_exchange_explicit(&cache->rule_changes, true, memory_order_acquire)) lrd_yield();
  expiration = mix(expiration, cache->expiration, parts);
  lrd_rule rule = lrd_rule_of(expiration);
  if (LRD_LOAD(&cache->torn)) follow_all(cache, &slice);
  // Without memory for that, the rule stays.
  if (!LRD_LOAD(&cache->torn)) {
    lrd_lock_acquire(&cache->admin);
    rule.parity = cache->rule.parity ^ LRD_WORD_PARITY;
    cache->expiration = expiration;
    cache->former = cache->rule;
    cache->rule = rule;
    lrd_lock_release(&cache->admin);
    follow_all(cache, &slice);
  }
  bool followed = !LRD_LOAD(&cache->torn);
  LRD_STORE(&cache->barren, 0);
  atomic_store_explicit(&cache->rule_changes, false, memory_order_release);
  lrd_free(slice.entries, slice.room * sizeof *slice.entries, _Alignof(lrd_entry *));
  // This thread's next lookup reads the clock.
  lrd_lane *lane = lrd_lane_if_any(cache);
  if (lane) lane->limit_lasts = 0;
  lrd_request_visit(&cache->request);
  return followed;
}
