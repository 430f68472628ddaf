// SPDX-License-Identifier: Apache-2.0
#include "lrdt_use.h"

#include "lrdt_stepping.h"

#include <string.h>

enum { pair_bytes = 16 };

static void destroy_nothing(void *context, lrd_entry *entry, void **batch) {
  (void)context, (void)entry, (void)batch;
}

static void release_nothing(void *context) {
  (void)context;
}

static void copy_pair(void *context, lrd_entry *copy, lrd_entry *entry) {
  (void)context;
  memcpy(copy + 1, entry + 1, pair_bytes);
}

lrd_cache *lrdt_cache_create_timed(lrd_manual_clock *clock, bool timed, lrd_expiration expiration) {
  lrd_options options = {
      .policy = lrd_policy_of(LRD_POLICY_LRU),
      .shards = 1,
      .entry_bytes = sizeof(lrd_entry) + pair_bytes,
      .entry_alignment = 8,
      .timed = timed,
      .expiration = expiration,
      .clock = clock,
      .hooks = {.destroy = destroy_nothing, .release = release_nothing, .copy = copy_pair}};
  return lrd_cache_create(&options);
}

void lrdt_lane_set_time(lrd_lane *lane, uint64_t now) {
  lane->limit = lrd_limit_at(lrd_tick_at(now));
  lane->limit_read = lrd_cycles();
  lane->limit_lasts = UINT64_MAX;
}

void lrdt_lane_unset_time(lrd_lane *lane) {
  lane->limit_lasts = 0;
}

bool lrdt_use_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now) {
  lrdt_lane_set_time(lane, now);
  bool lives = lrd_entry_prolong(cache, lane, entry);
  lrdt_lane_unset_time(lane);
  return lives;
}

bool lrdt_use_is_short_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now) {
  lrdt_lane_set_time(lane, now);
  bool is_short = lrd_entry_has_plenty(cache, lane, entry);
  lrdt_lane_unset_time(lane);
  return is_short;
}

void lrdt_begin_rule(lrd_cache *cache, lrd_expiration expiration) {
  lrd_timer *timer = cache->shards->timer;
  timer->former = timer->rule;
  timer->rule = lrd_rule_of(expiration);
  timer->rule.parity = timer->former.parity ^ LRD_WORD_PARITY;
}

void lrdt_announce_idle(lrd_cache *cache, uint64_t idle) {
  lrd_rule rule = {.after_write = LRD_FOREVER,
                   .after_access = lrd_ticks_of(idle),
                   .parity = cache->rule.parity ^ LRD_WORD_PARITY};
  lrd_cache_begin_idle(cache, &rule);
}

void lrdt_leave_rule(lrd_cache *cache, lrd_expiration expiration) {
  LRD_STORE(&cache->rule_changes, true);
  lrd_rule rule = lrd_rule_of(expiration);
  rule.parity = cache->rule.parity ^ LRD_WORD_PARITY;
  lrd_lock_acquire(&cache->admin);
  cache->expiration = expiration;
  cache->former = cache->rule;
  cache->rule = rule;
  lrd_lock_release(&cache->admin);
}

/// A use that is stopped once.
typedef struct interruption {
  lrd_cache *cache;
  lrd_lane *lane;
  lrd_entry *entry;
  uint64_t lifetime;
  uint64_t stop;
  bool stopped;
} interruption;

static void use(void *context) {
  interruption *this = context;
  lrd_entry_prolong(this->cache, this->lane, this->entry);
}

static bool give_lifetime_at_stop(void *context, uint64_t step) {
  interruption *this = context;
  if (step < this->stop) return true;
  lrd_shard *shard = lrd_cache_shard_at(this->cache, 0);
  bool asks;
  lrd_shard_enter(this->cache, NULL, shard);
  lrd_entry_set_lifetime_locked(this->cache, shard, this->entry, this->lifetime, &asks);
  lrd_shard_leave(this->cache, shard);
  this->stopped = true;
  return false;
}

bool lrdt_use_interrupted(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t lifetime,
                          uint64_t stop) {
  interruption this = {cache, lane, entry, lifetime, stop, false};
  lrdt_step(use, give_lifetime_at_stop, &this);
  return this.stopped;
}

/// A retrofit that is looked at.
typedef struct retrofit {
  lrd_cache *cache;
  bool by_use;
  const char *fault;
} retrofit;

static void run_retrofit(void *context) {
  retrofit *this = context;
  if (!lrd_cache_retrofit(this->cache, this->by_use)) this->fault = "there was no memory";
}

/// Who is told that there is room gives lifetimes at once. So lookups must look at them by then,
/// and those that look must find them.
static bool look_at_retrofit(void *context, uint64_t step) {
  (void)step;
  retrofit *this = context;
  lrd_cache *cache = this->cache;
  const lrd_timer *timer = cache->shards->timer;
  bool told = lrd_cache_has_room(cache, false) || lrd_cache_has_room(cache, true);
  bool looks = LRD_LOAD(&cache->plain) & LRD_NUMBER_DETOURS;
  if (told && !looks) this->fault = "lifetimes are given before lookups look at them";
  if (told && !(LRD_LOAD(&cache->number) & LRD_NUMBER_DETOURS)) this->fault = "lanes are found";
  if (looks && !(timer && timer->hard)) this->fault = "lookups look where there is nothing yet";
  return !this->fault;
}

const char *lrdt_retrofit_in_steps(lrd_cache *cache, bool by_use, uint64_t *steps) {
  retrofit this = {cache, by_use, NULL};
  *steps = lrdt_step(run_retrofit, look_at_retrofit, &this);
  return this.fault;
}
