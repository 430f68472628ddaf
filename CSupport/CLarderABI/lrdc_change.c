// SPDX-License-Identifier: Apache-2.0
#include "lrdc_change.h"

lrd_entry *lrdc_find_locked(larder_cache *cache, lrd_shard *shard, const lrdc_key *key) {
  lrd_matches matches = lrd_shard_matches_locked(shard, key->hash);
  lrd_entry *entry = lrd_matches_next_locked(&matches);
  while (entry && !lrdc_key_matches(cache, key, lrdc_value_of(entry))) {
    entry = lrd_matches_next_locked(&matches);
  }
  return entry;
}

lrd_entry *lrdc_find_living_locked(larder_cache *cache, lrd_shard *shard, const lrdc_key *key) {
  lrd_entry *entry = lrdc_find_locked(cache, shard, key);
  return entry && lrd_entry_is_expired_locked(shard, entry) ? NULL : entry;
}

lrd_expiration lrdc_expiration(uint64_t after_write, uint64_t after_access, double jitter) {
  return (lrd_expiration){.after_write = after_write ? after_write : LRD_NEVER,
                          .after_access = after_access ? after_access : LRD_NEVER,
                          .jitter = jitter};
}

static int32_t cause_of(const lrd_entry *entry) {
  switch (entry->state) {
  case LRD_REMOVED_LIMIT:
    return LARDER_CAUSE_LIMIT;
  case LRD_REMOVED_TRIM:
    return LARDER_CAUSE_TRIMMED;
  case LRD_REMOVED_REPLACED:
    return LARDER_CAUSE_REPLACED;
  case LRD_REMOVED_EXPIRED:
    return LARDER_CAUSE_EXPIRED;
  case LRD_REMOVED_PRESSURE:
    return LARDER_CAUSE_PRESSURE;
  default:
    return LARDER_CAUSE_REMOVED;
  }
}

void lrdc_show(void *context, lrd_entry *first, uint64_t moment) {
  (void)moment;
  larder_cache *cache = context;
  for (lrd_entry *entry = first; entry; entry = lrd_garbage_after(cache->core, entry)) {
    cache->config.removed(cache->config.context, lrdc_value_of(entry), cause_of(entry));
  }
}

void lrdc_finish(larder_cache *cache, lrd_lane *lane, lrd_garbage *garbage) {
  if (LRD_UNLIKELY(garbage->removed.head)) {
    lrdc_show(cache, garbage->removed.head, 0);
    lrd_garbage_retire(cache->core, garbage);
  }
  for (lrd_entry *entry; (entry = lrd_garbage_next(cache->core, lane, garbage));) {
    lrdc_destroy(cache, lane, entry);
  }
}
