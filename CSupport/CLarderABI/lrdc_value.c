// SPDX-License-Identifier: Apache-2.0
#include "lrdc_value.h"

#include "lrd_alloc.h"

static size_t value_bytes(const larder_cache *cache, uint32_t key_size, uint32_t value_size) {
  if (cache->objects) return sizeof(larder_value) + sizeof(lrdc_objects);
  return sizeof(larder_value) + lrd_round_up(key_size, 16) + value_size;
}

size_t lrdc_value_head(const larder_cache *cache) {
  return value_bytes(cache, 0, 0);
}

static void free_memory(larder_cache *cache, larder_value *value) {
  lrd_free(value, value_bytes(cache, value->key_size, value->value_size), _Alignof(larder_value));
}

static void copy_bytes(larder_value *value, const lrdc_key *key, const void *data) {
  memcpy(value->pair, key->data, key->size);
  if (value->value_size) memcpy(value->pair + lrd_round_up(key->size, 16), data, value->value_size);
}

static bool retain_objects(larder_cache *cache, larder_value *value, const lrdc_key *key,
                           const void *data) {
  const larder_config *config = &cache->config;
  lrdc_objects *objects = lrdc_objects_of(value);
  *objects = (lrdc_objects){.key = key->data, .value = data};
  if (config->key_retain &&
      config->key_retain(config->context, key->data, key->size, &objects->key) != 0) {
    return false;
  }
  if (config->value_retain) config->value_retain(config->context, data, value->value_size);
  return true;
}

larder_status lrdc_value_make(larder_cache *cache, const lrdc_key *key, const void *data,
                              uint64_t size, uint64_t cost, larder_value **value) {
  *value = NULL;
  uint32_t value_size = (uint32_t)size;
  larder_value *made = lrd_alloc(value_bytes(cache, key->size, value_size), _Alignof(larder_value));
  if (!made) return LARDER_OUT_OF_MEMORY;
  atomic_store_explicit(&made->pins, 1, memory_order_relaxed);
  made->cache = cache;
  made->cost = cost;
  made->key_size = key->size;
  made->value_size = value_size;
  if (!cache->objects) {
    copy_bytes(made, key, data);
  } else if (!retain_objects(cache, made, key, data)) {
    free_memory(cache, made);
    return LARDER_CALLBACK_FAILED;
  }
  *value = made;
  return LARDER_OK;
}

/// Releases the key, and the value if `owned`, and frees the memory.
static void destroy(larder_value *value, bool owned) {
  larder_cache *cache = value->cache;
  const larder_config *config = &cache->config;
  if (cache->objects) {
    lrdc_objects objects = *lrdc_objects_of(value);
    if (config->value_release && owned) {
      config->value_release(config->context, objects.value, value->value_size);
    }
    if (config->key_release) config->key_release(config->context, objects.key, value->key_size);
  }
  free_memory(cache, value);
}

void lrdc_value_undo(larder_value *value) {
  destroy(value, value->cache->config.value_retain != NULL);
}

void lrdc_value_unpin(larder_value *value) {
  uint64_t pins = atomic_fetch_sub_explicit(&value->pins, 1, memory_order_acq_rel);
  if (pins % LRDC_REFERS != 1) return;
  // The cache's pin ended before this one. So the value is an orphan, which holds a reference.
  larder_cache *cache = value->cache;
  destroy(value, true);
  lrdc_cache_unreference(cache);
}

static bool is_held(uint64_t pins) {
  uint64_t entries = pins % LRDC_REFERS / LRDC_SHARE + 1;
  return pins % LRDC_SHARE > entries;
}

/// Ends the pin of an entry if another one has the value, and takes a share with it. False, and
/// nothing has changed, if none has. `*pins`: what they were last.
static bool leave_another(larder_value *value, uint64_t *pins) {
  _Atomic(uint64_t) *references = &value->cache->references;
  while (*pins % LRDC_REFERS >= LRDC_SHARE) {
    bool refers = *pins < LRDC_REFERS && is_held(*pins);
    if (refers) atomic_fetch_add_explicit(references, 1, memory_order_relaxed);
    uint64_t left = (*pins - LRDC_SHARE - 1) | (refers ? LRDC_REFERS : 0);
    if (atomic_compare_exchange_weak_explicit(&value->pins, pins, left, memory_order_acq_rel,
                                              memory_order_acquire)) {
      return true;
    }
    // The core has another one.
    if (refers) atomic_fetch_sub_explicit(references, 1, memory_order_relaxed);
  }
  return false;
}

void lrdc_value_leave(larder_value *value) {
  larder_cache *cache = value->cache;
  // Acquire, partner: lrdc_value_unpin() and the swap below. If the only pin is that of this entry,
  // nobody can add another.
  uint64_t pins = atomic_load_explicit(&value->pins, memory_order_acquire);
  if (LRD_LIKELY(pins == 1)) {
    destroy(value, true);
    return;
  }
  if (LRD_UNLIKELY(pins >= LRDC_SHARE) && leave_another(value, &pins)) return;
  // Counts the orphan before the cache's pin ends: right afterwards a caller may end the last one.
  if (pins < LRDC_REFERS) atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
  lrdc_value_unpin(value);
}

void lrdc_value_share(larder_value *value) {
  atomic_fetch_add_explicit(&value->pins, LRDC_SHARE + 1, memory_order_relaxed);
}

bool lrdc_value_is_held(const larder_value *value) {
  return is_held(LRD_LOAD(&value->pins));
}

void lrdc_cache_unreference(larder_cache *cache) {
  if (atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1) return;
  void (*release)(void *context) = cache->config.context_release;
  void *context = cache->config.context;
  lrd_free(cache, sizeof *cache, _Alignof(larder_cache));
  if (release) release(context);
}

larder_status larder_value_retain(larder_value *value) {
  if (!value) return LARDER_BAD_ARGUMENT;
  lrdc_value_pin(value);
  return LARDER_OK;
}

larder_status larder_value_release(larder_value *value) {
  if (!value) return LARDER_BAD_ARGUMENT;
  lrdc_value_unpin(value);
  return LARDER_OK;
}

larder_status larder_value_data(const larder_value *value, const void **data, uint64_t *size) {
  if (!value) return LARDER_BAD_ARGUMENT;
  if (data) *data = lrdc_data_of(value);
  if (size) *size = value->value_size;
  return LARDER_OK;
}

larder_status larder_value_key(const larder_value *value, const void **key, uint64_t *size) {
  if (!value) return LARDER_BAD_ARGUMENT;
  if (key) *key = lrdc_key_of(value);
  if (size) *size = value->key_size;
  return LARDER_OK;
}

larder_status larder_value_cost(const larder_value *value, uint64_t *cost) {
  if (!value || !cost) return LARDER_BAD_ARGUMENT;
  *cost = value->cost;
  return LARDER_OK;
}
