// SPDX-License-Identifier: Apache-2.0
/* lrdc_create.c — larder_create() and larder_destroy(): the configuration, checked and copied. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrdc_change.h"
#include "lrdc_policy.h"

#include "lrd_alloc.h"

#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

const char lrdc_here = 0;

/// The size of the first version of the structure.
static const uint64_t config_bytes_least =
    offsetof(larder_config, context_release) + sizeof(((larder_config *)NULL)->context_release);

/// Copies the members that this version knows. Members that an earlier version lacks become zero. A
/// later version may have more: while these are zero, they ask for nothing.
static larder_status read_config(const larder_config *config, larder_config *read) {
  uint64_t size = config->size, known = size < sizeof *read ? size : sizeof *read;
  bool past = size == config_bytes_least; // the one earlier version
  if ((size < sizeof *read && !past) || size > LRDC_STRUCTURE_MOST) return LARDER_BAD_SIZE;
  memset(read, 0, sizeof *read);
  memcpy(read, config, known);
  for (uint64_t i = known; i < size; i++) {
    if (((const char *)config)[i]) return LARDER_UNSUPPORTED;
  }
  return LARDER_OK;
}

/// Whether the callbacks that the mode needs are given, and none that it has no use for.
static larder_status check_callbacks(const larder_config *config) {
  if (config->mode == LARDER_OBJECTS) {
    return config->hash && config->equal ? LARDER_OK : LARDER_BAD_ARGUMENT;
  }
  bool any = config->hash || config->equal || config->key_retain || config->key_release ||
             config->value_retain || config->value_release;
  return any ? LARDER_WRONG_MODE : LARDER_OK;
}

static larder_status check_config(const larder_config *config) {
  if (config->reserved || config->reserved2 || config->expires > 1) return LARDER_UNSUPPORTED;
  if (!lrdc_jitter_is_good(config->jitter)) return LARDER_BAD_ARGUMENT;
  if (config->mode != LARDER_BYTES && config->mode != LARDER_OBJECTS) return LARDER_UNSUPPORTED;
  const lrd_policy *policy = lrdc_policy(config->policy);
  if (!policy) return LARDER_UNSUPPORTED;
  if (config->count_limit > LARDER_LIMIT_MOST || config->cost_limit > LARDER_LIMIT_MOST) {
    return LARDER_OUT_OF_RANGE;
  }
  if (config->shards > LARDER_SHARDS_MOST) return LARDER_OUT_OF_RANGE;
  if (policy->by_cost && !config->cost_limit) return LARDER_BAD_ARGUMENT;
  return check_callbacks(config);
}

static void destroy_entry(void *context, lrd_entry *entry, void **batch) {
  (void)context;
  (void)batch;
  lrdc_value_leave(lrdc_value_of(entry));
}

static void copy_entry(void *context, lrd_entry *copy, lrd_entry *entry) {
  (void)context;
  larder_value *value = lrdc_value_of(entry);
  ((lrdc_slot *)(void *)copy)->value = value;
  lrdc_value_share(value);
}

static void release_cache(void *context) {
  lrdc_cache_unreference(context);
}

static lrd_cache *create_core(larder_cache *cache) {
  const larder_config *config = &cache->config;
  lrd_options options = {
      .count_limit = config->count_limit,
      .cost_limit = config->cost_limit,
      .policy = lrdc_policy(config->policy),
      .shards = config->shards,
      .entry_bytes = sizeof(lrdc_slot),
      .entry_alignment = _Alignof(lrdc_slot),
      .references = {.count = LRDC_REFERENCES, .at = {{.offset = offsetof(lrdc_slot, value)}}},
      .observed = config->removed != NULL,
      .timed = config->expires || config->after_write || config->after_access,
      .expiration = lrdc_expiration(config->after_write, config->after_access, config->jitter),
      .clock = (lrd_manual_clock *)(void *)config->clock,
      .hooks = {.context = cache,
                .destroy = destroy_entry,
                .show = lrdc_show,
                .release = release_cache,
                .ask = lrdc_ask,
                .is_held = lrdc_is_held,
                .copy = copy_entry},
  };
  return lrd_cache_create(&options);
}

larder_status larder_create(const larder_config *config, larder_cache **cache) {
  _Static_assert(LARDER_SHARDS_MOST == LRD_SHARDS_MOST, "as documented");
  if (!cache) return LARDER_BAD_ARGUMENT;
  *cache = NULL;
  if (!config) return LARDER_BAD_ARGUMENT;
  larder_config read;
  larder_status status = read_config(config, &read);
  if (status == LARDER_OK) status = check_config(&read);
  if (status != LARDER_OK) return status;
  larder_cache *made = lrd_alloc_zeroed(sizeof *made, _Alignof(larder_cache));
  if (!made) return LARDER_OUT_OF_MEMORY;
  uint64_t random[2];
  made->config = read;
  made->objects = read.mode == LARDER_OBJECTS;
  atomic_store_explicit(&made->references, 2, memory_order_relaxed); // the owner's and the core's
  bool seeded = getentropy(random, sizeof random) == 0;
  if (seeded) made->core = create_core(made);
  if (!seeded || !made->core) {
    lrd_free(made, sizeof *made, _Alignof(larder_cache));
    return LARDER_OUT_OF_MEMORY;
  }
  made->seed0 = lrd_hash_seed0(random[0]);
  made->seed1 = lrd_hash_seed1(random[1]);
  LRD_STORE(&made->magic, &lrdc_here);
  *cache = made;
  return LARDER_OK;
}

larder_status larder_destroy(larder_cache *cache) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  // From here on the cache is closed: callbacks that use it get LARDER_FOREIGN.
  LRD_STORE(&cache->magic, NULL);
  lrd_cache_close(cache->core);
  lrdc_cache_unreference(cache);
  return LARDER_OK;
}
