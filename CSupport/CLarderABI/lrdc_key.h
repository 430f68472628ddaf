// SPDX-License-Identifier: Apache-2.0
/* lrdc_key.h — a caller's key: checked, hashed, and compared with stored ones, in either mode. */
#pragma once

#include "lrdc_cache.h"
#include "lrdc_hash.h"

#pragma clang assume_nonnull begin

typedef struct lrdc_key {
  const void *data;
  uint32_t size;
  uint64_t hash;
} lrdc_key;

/// Checks cache and key and takes the key's hash. May call the cache's `hash`.
LRD_INLINE larder_status lrdc_key_read(const larder_cache *_Nullable cache,
                                       const void *_Nullable data, uint64_t size, lrdc_key *key) {
  larder_status status = lrdc_check(cache);
  if (LRD_UNLIKELY(status != LARDER_OK)) return status;
  if (LRD_UNLIKELY(!data)) return LARDER_BAD_ARGUMENT;
  if (LRD_UNLIKELY(size > LARDER_KEY_MOST)) return LARDER_TOO_LONG;
  key->data = data;
  key->size = (uint32_t)size;
  if (LRD_UNLIKELY(cache->objects)) {
    uint64_t hash = cache->config.hash(cache->config.context, data, size);
    key->hash = lrd_hash_word(hash, cache->seed0, cache->seed1);
  } else {
    key->hash = lrdc_hash_bytes(data, size, cache->seed0, cache->seed1);
  }
  return LARDER_OK;
}

/// Whether `value` is stored under `key`. May call the cache's `equal`.
LRD_INLINE bool lrdc_key_matches(const larder_cache *cache, const lrdc_key *key,
                                 const larder_value *value) {
  if (LRD_UNLIKELY(cache->objects)) {
    return cache->config.equal(cache->config.context, key->data, key->size,
                               lrdc_objects_of(value)->key, value->key_size) != 0;
  }
  return key->size == value->key_size && lrd_same_bytes(key->data, value->pair, key->size);
}

#pragma clang assume_nonnull end
