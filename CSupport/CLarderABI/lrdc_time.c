// SPDX-License-Identifier: Apache-2.0
/* lrdc_time.c — lifetimes of single values, the rule of a whole cache, and clocks for tests. */
#include "lrdc_change.h"

/// What a call asks of a value: to set its lifetime, or to tell it.
typedef struct wish {
  const uint64_t *set; // or NULL
  uint64_t *told;      // or NULL
} wish;

/// Sets or tells the lifetime of an entry. Unlocks the shard.
static larder_status grant(larder_cache *cache, lrd_lane *lane, lrd_shard *shard, lrd_entry *entry,
                           wish wish) LRD_RELEASE(shard->lock) {
  lrd_cache *core = cache->core;
  if (wish.set && !*wish.set) {
    lrd_garbage garbage = {0};
    lrd_chain removed = {0};
    lrd_removal_unlink_locked(core, shard, entry, LRD_REMOVED_EXPIRED, &removed);
    lrd_removal_finish(core, shard, &garbage, &removed);
    lrdc_finish(cache, lane, &garbage);
    return LARDER_EXPIRED;
  }
  bool asks = false;
  if (wish.set) lrd_entry_set_lifetime_locked(core, shard, entry, *wish.set, &asks);
  if (wish.told) *wish.told = lrd_entry_remaining_locked(core, entry);
  lrd_shard_leave(core, shard);
  if (asks) lrd_request_visit(&core->request);
  return LARDER_OK;
}

static larder_status find_and_grant(larder_cache *cache, const void *data, uint64_t size,
                                    wish wish) {
  lrdc_key key;
  larder_status status = lrdc_key_read(cache, data, size, &key);
  if (status != LARDER_OK) return status;
  if (wish.set && !lrd_cache_retrofit(cache->core, false)) return LARDER_OUT_OF_MEMORY;
  lrd_lane *lane = lrdc_lane(cache);
  lrd_shard *shard = lrd_cache_shard(cache->core, key.hash);
  lrd_shard_enter(cache->core, lane, shard);
  lrd_entry *entry = lrdc_find_locked(cache, shard, &key);
  bool lives = entry && !lrd_entry_is_expired_locked(shard, entry);
  if (lives) return grant(cache, lane, shard, entry, wish);
  // What has expired goes with a lifetime of 0 as well: a thread whose time is late would find it.
  if (entry && wish.set && !*wish.set) {
    grant(cache, lane, shard, entry, wish);
  } else {
    lrd_shard_leave(cache->core, shard);
  }
  return LARDER_NOT_FOUND;
}

larder_status larder_get_lifetime(larder_cache *cache, const void *key, uint64_t key_size,
                                  uint64_t *lifetime) {
  if (!lifetime) return LARDER_BAD_ARGUMENT;
  return find_and_grant(cache, key, key_size, (wish){.told = lifetime});
}

larder_status larder_set_lifetime(larder_cache *cache, const void *key, uint64_t key_size,
                                  uint64_t lifetime) {
  return find_and_grant(cache, key, key_size, (wish){.set = &lifetime});
}

larder_status larder_set_expiration(larder_cache *cache, uint64_t after_write,
                                    uint64_t after_access, double jitter) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!lrdc_jitter_is_good(jitter)) return LARDER_BAD_ARGUMENT;
  lrd_expiration expiration = lrdc_expiration(after_write, after_access, jitter);
  bool by_use = expiration.after_access != LRD_NEVER;
  if (!lrd_cache_retrofit(cache->core, by_use)) return LARDER_OUT_OF_MEMORY;
  bool set = lrd_cache_set_expiration(cache->core, expiration, LRD_WHOLE_RULE);
  return set ? LARDER_OK : LARDER_OUT_OF_MEMORY;
}

larder_status larder_remove_expired(larder_cache *cache, uint64_t *removed) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  lrd_lane *lane = lrdc_lane(cache);
  lrd_clearance clearance = lrd_clearance_begin(cache->core);
  for (bool done = false; !done;) {
    lrd_garbage garbage = {0};
    done = lrd_clearance_go_on(&clearance, cache->core, lane, &garbage);
    lrdc_finish(cache, lane, &garbage);
  }
  if (removed) *removed = clearance.removed;
  return LARDER_OK;
}

larder_status larder_clock_create(larder_clock **clock) {
  if (!clock) return LARDER_BAD_ARGUMENT;
  *clock = (larder_clock *)(void *)lrd_manual_clock_create();
  return *clock ? LARDER_OK : LARDER_OUT_OF_MEMORY;
}

larder_status larder_clock_advance(larder_clock *clock, uint64_t nanoseconds) {
  if (!clock) return LARDER_BAD_ARGUMENT;
  lrd_manual_clock_advance((lrd_manual_clock *)(void *)clock, nanoseconds);
  return LARDER_OK;
}

larder_status larder_clock_release(larder_clock *clock) {
  if (!clock) return LARDER_BAD_ARGUMENT;
  lrd_manual_clock_release((lrd_manual_clock *)(void *)clock);
  return LARDER_OK;
}
