// SPDX-License-Identifier: Apache-2.0
#include "lrdc_lookup.h"

#include "lrdc_change.h"

/// The lookup for keys that share a hash, for loans that nest too deep, and for threads without
/// memory for a lane.
static larder_value *find_under_lock(larder_cache *cache, lrd_lane *lane, const lrdc_key *key,
                                     bool use, lrdc_loan *loan) {
  lrd_shard *shard = lrd_cache_shard(cache->core, key->hash);
  lrd_shard_enter(cache->core, use ? lane : NULL, shard);
  lrd_entry *entry = lrdc_find_living_locked(cache, shard, key);
  if (entry) {
    loan->pinned = lrdc_value_of(entry);
    lrdc_value_pin(loan->pinned);
  }
  if (use) lrd_note_locked(cache->core, lane, shard, entry, key->hash);
  lrd_shard_leave(cache->core, shard);
  return loan->pinned;
}

/// False when an entry that was just found has expired. With `use`, the lookup may give it more
/// time.
/// `timed` says whether the cache had lifetimes before the search began.
static bool lives(lrd_cache *core, lrd_lane *lane, lrd_entry *entry, bool use, bool timed) {
  if (!timed) return true;
  return use ? lrd_entry_prolong(core, lane, entry) : lrd_entry_is_alive(core, lane, entry);
}

larder_value *lrdc_find_slowly(larder_cache *cache, const lrdc_key *key, bool use,
                               lrdc_loan *loan) {
  *loan = (lrdc_loan){0};
  bool timed = lrd_cache_is_timed(cache->core);
  lrd_lane *lane = lrd_lane_timed(cache->core);
  if (!lane) lane = lrd_lane_attach(cache->core);
  if (!lane) return find_under_lock(cache, NULL, key, use, loan);
  lrd_entry *entry = lrd_find_slow(cache->core, lane, key->hash);
  if (!entry) {
    lrdc_note_missing(cache->core, lane, key->hash, use);
    return NULL;
  }
  if (!lrdc_matches(cache, lane, entry, key)) {
    lrd_loan_end(lane);
    return find_under_lock(cache, lane, key, use, loan);
  }
  if (!lives(cache->core, lane, entry, use, timed)) {
    lrd_loan_end(lane);
    lrdc_note_missing(cache->core, lane, key->hash, use);
    return NULL;
  }
  if (use) lrd_hit(cache->core, lane, entry, key->hash);
  loan->lane = lane;
  return lrdc_value_of(entry);
}

LRD_INLINE larder_status pin(larder_cache *cache, const void *data, uint64_t size, bool use,
                             larder_value **value) {
  if (LRD_UNLIKELY(!value)) return LARDER_BAD_ARGUMENT;
  lrdc_key key;
  larder_status status = lrdc_key_read(cache, data, size, &key);
  if (LRD_UNLIKELY(status != LARDER_OK)) return status;
  lrdc_loan loan;
  *value = lrdc_find(cache, &key, use, &loan);
  if (!*value) return LARDER_NOT_FOUND;
  lrdc_value_pin(*value);
  lrdc_let_go(&loan);
  return LARDER_OK;
}

larder_status larder_get(larder_cache *cache, const void *key, uint64_t key_size,
                         larder_value **value) {
  return pin(cache, key, key_size, true, value);
}

larder_status larder_peek(larder_cache *cache, const void *key, uint64_t key_size,
                          larder_value **value) {
  return pin(cache, key, key_size, false, value);
}

larder_status larder_contains(larder_cache *cache, const void *data, uint64_t size) {
  lrdc_key key;
  larder_status status = lrdc_key_read(cache, data, size, &key);
  if (LRD_UNLIKELY(status != LARDER_OK)) return status;
  lrdc_loan loan;
  if (!lrdc_find(cache, &key, false, &loan)) return LARDER_NOT_FOUND;
  lrdc_let_go(&loan);
  return LARDER_OK;
}

larder_status larder_read(larder_cache *cache, const void *data, uint64_t size, void *buffer,
                          uint64_t room, uint64_t *value_size) {
  lrdc_key key;
  larder_status status = lrdc_check(cache);
  if (LRD_UNLIKELY(status != LARDER_OK)) return status;
  if (LRD_UNLIKELY(cache->objects)) return LARDER_WRONG_MODE;
  if (LRD_UNLIKELY(!buffer && room)) return LARDER_BAD_ARGUMENT;
  status = lrdc_key_read(cache, data, size, &key);
  if (LRD_UNLIKELY(status != LARDER_OK)) return status;
  lrdc_loan loan;
  const larder_value *value = lrdc_find(cache, &key, true, &loan);
  if (!value) return LARDER_NOT_FOUND;
  uint64_t found = value->value_size;
  if (value_size) *value_size = found;
  status = found <= room ? LARDER_OK : LARDER_TOO_SMALL;
  if (status == LARDER_OK && found) memcpy(buffer, lrdc_data_of(value), found);
  lrdc_let_go(&loan);
  return status;
}
