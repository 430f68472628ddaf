// SPDX-License-Identifier: Apache-2.0
/* lrdc_cache.h — the C library's own structures: caches, values, and the pins that keep values.
 *
 *   slot of the core's pool   [ lrd_entry | value ─┐ ]
 *   larder_value, allocated   [ pins cache cost sizes | key bytes | value bytes ]    LARDER_BYTES
 *                             [ pins cache cost sizes | key and value pointers ]     LARDER_OBJECTS
 *
 * A value is allocated apart from its slot: a caller may hold it longer than slot and cache exist.
 * `pins` counts the callers that hold it, and the entries that have it: one, or another one as well
 * while the core moves it to another slot. Those beyond the first are shares, which are counted in
 * the upper bits besides.
 *
 * WHO KEEPS A larder_cache ALIVE. `references` counts its owner, the core, and every orphan. The
 * core gives its reference up when it releases its hooks. An orphan is a value that left the cache
 * while a caller held it. A value that is held when the first of its two entries leaves counts
 * from then on. Other values in the cache are not counted, because the core outlives them. So
 * storing and reading never write to the line of `references`.
 *
 * FIELDS
 *   magic        &lrdc_here while the cache is open; tells caches of this copy of the library from
 *                all other pointers. Relaxed: callbacks may ask while larder_destroy() waits for
 *                them
 *   references   acq_rel; whoever gives up the last one frees the cache
 *   pins         relaxed to add, by a thread that has a pin, a hazard on the slot, or the shard's
 *                lock; acq_rel to subtract
 *   all others   constant after creation */
#pragma once

// System headers first: their declarations must not become hidden.
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)
#include "CLarder.h"
#pragma GCC visibility pop
#include "larder.h"

#pragma clang assume_nonnull begin

typedef double lrdc_respond(void *_Nullable context, int32_t level);

struct larder_cache {
  _Atomic(const void *) magic;
  lrd_cache *core;
  uint64_t seed0;
  uint64_t seed1;
  bool objects;
  larder_config config;
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) references;
};

/// What a share adds to `pins` beside its pin.
#define LRDC_SHARE ((uint64_t)1 << 48)
/// In `pins`: the value holds a reference to the cache, like an orphan.
#define LRDC_REFERS ((uint64_t)1 << 63)

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

/// The references of an entry: one, to its value, which has the key as well.
#define LRDC_REFERENCES 1

typedef struct lrdc_slot {
  lrd_entry entry;
  larder_value *value;
} lrdc_slot;

/// The structures of every version are smaller. One that claims more was not initialised.
enum { LRDC_STRUCTURE_MOST = 4096 };

/// Its address stands for this copy of the library.
__attribute__((visibility("hidden"))) extern const char lrdc_here;

/// LARDER_OK when this copy of the library created the cache, and nobody has destroyed it.
LRD_INLINE larder_status lrdc_check(const larder_cache *_Nullable cache) {
  if (LRD_UNLIKELY(!cache)) return LARDER_BAD_ARGUMENT;
  return LRD_LIKELY(LRD_LOAD(&cache->magic) == &lrdc_here) ? LARDER_OK : LARDER_FOREIGN;
}

LRD_INLINE larder_value *lrdc_value_of(const lrd_entry *entry) {
  return ((const lrdc_slot *)(const void *)entry)->value;
}

/// The core's hooks for memory pressure (lrd_cache.h).
__attribute__((visibility("hidden"))) lrd_action lrdc_ask(void *_Nullable context, int level,
                                                          uintptr_t asked);
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
