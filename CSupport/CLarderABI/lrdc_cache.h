// SPDX-License-Identifier: Apache-2.0
/* lrdc_cache.h — the C library's own structures: keys, values, and the pins that keep values.
 *
 *   slot of the core's pool   [ lrd_entry | value ─┐ ]
 *   larder_value, allocated   [ pins cache cost sizes | key bytes | value bytes ]    LARDER_BYTES
 *                             [ pins cache cost sizes | key and value pointers ]     LARDER_OBJECTS
 *
 * Values are allocated apart from their slots, so that a value that a caller holds needs neither
 * its slot nor its cache. `pins` counts the callers that hold the value, and one for the cache.
 *
 * WHO KEEPS A larder_cache ALIVE. `references` counts its owner, the core (until it releases its
 * hooks), and every orphan: a value that left the cache while a caller held it. The core outlives
 * the values in the cache, so these are not counted: storing and reading never write to this line.
 *
 * FIELDS
 *   magic        &lrdc_here while open: tells handles of this copy of the library from all others
 *   references   acq_rel; whoever gives up the last one frees
 *   copies       relaxed; read when no entry is left
 *   pins         relaxed to add, by a thread that has a pin, a hazard on the slot, or the shard's
 *                lock; acq_rel to subtract
 *   respond      set by larder_set_pressure_response() (release), read when pressure asks (acquire)
 *   all others   constant after creation */
#pragma once

// System headers first: their declarations must not become hidden.
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)
#include "CLarder.h"
#pragma GCC visibility pop
#include "larder.h"

#pragma clang assume_nonnull begin

typedef double lrdc_respond(void *_Nullable context, int32_t level);

struct larder_cache {
  const void *magic;
  lrd_cache *core;
  uint64_t seed0;
  uint64_t seed1;
  bool objects;
  larder_config config;
  _Atomic(lrdc_respond *_Nullable) respond;
  _Atomic(uint64_t) copies; // of entries, ever made (lrdc_value_share())
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) references;
};

struct larder_value {
  _Atomic(uint64_t) pins;
  larder_cache *cache;
  uint64_t cost;
  uint32_t key_size;
  uint32_t value_size;
  _Alignas(16) char pair[];
};

typedef struct lrdc_objects {
  const void *_Nullable key;
  const void *_Nullable value;
} lrdc_objects;

/// References of an entry: the one to its value, which has the key.
#define LRDC_REFERENCES 1

typedef struct lrdc_slot {
  lrd_entry entry;
  larder_value *value;
} lrdc_slot;

/// No structure of any version is larger: what claims to be was not initialised.
enum { LRDC_STRUCTURE_MOST = 4096 };

/// Its address is this copy of the library.
__attribute__((visibility("hidden"))) extern const char lrdc_here;

/// LARDER_OK when `cache` is one this copy of the library has open.
LRD_INLINE larder_status lrdc_check(const larder_cache *_Nullable cache) {
  if (LRD_UNLIKELY(!cache)) return LARDER_BAD_ARGUMENT;
  return LRD_LIKELY(cache->magic == &lrdc_here) ? LARDER_OK : LARDER_FOREIGN;
}

LRD_INLINE larder_value *lrdc_value_of(const lrd_entry *entry) {
  return ((const lrdc_slot *)(const void *)entry)->value;
}

/// The core's hooks for memory pressure (lrd_cache.h).
__attribute__((visibility("hidden"))) lrd_action lrdc_ask(void *_Nullable context, int level);
__attribute__((visibility("hidden"))) bool lrdc_is_held(void *_Nullable context,
                                                        const lrd_entry *entry);

LRD_INLINE lrdc_objects *lrdc_objects_of(const larder_value *value) {
  return (lrdc_objects *)(uintptr_t)value->pair;
}

LRD_INLINE const void *_Nullable lrdc_key_of(const larder_value *value) {
  return value->cache->objects ? lrdc_objects_of(value)->key : value->pair;
}

LRD_INLINE const void *_Nullable lrdc_data_of(const larder_value *value) {
  if (value->cache->objects) return lrdc_objects_of(value)->value;
  return value->pair + lrd_round_up(value->key_size, 16);
}

#pragma clang assume_nonnull end
