// SPDX-License-Identifier: Apache-2.0
/* lrdc_value.h — the life of a value: made, pinned, let go by hands and by the cache. */
#pragma once

#include "lrdc_key.h"

#pragma clang assume_nonnull begin
#pragma GCC visibility push(hidden)

/// Makes a value with one pin, the cache's. Copies or retains key and value. Writes NULL on
/// failure.
larder_status lrdc_value_make(larder_cache *cache, const lrdc_key *key, const void *_Nullable data,
                              uint64_t size, uint64_t cost,
                              larder_value *_Nullable *_Nonnull value);

/// The bytes each value takes besides those of its key and itself.
size_t lrdc_value_head(const larder_cache *cache);

/// Adds a pin. The caller has a pin, a hazard on the value's slot, or the lock of its shard.
LRD_INLINE void lrdc_value_pin(larder_value *value) {
  atomic_fetch_add_explicit(&value->pins, 1, memory_order_relaxed);
}

/// Ends the pin of a caller.
void lrdc_value_unpin(larder_value *value);

/// Ends the pin of an entry. If no other entry has the value, nobody but those who have pins can
/// reach it any more.
void lrdc_value_leave(larder_value *value);

/// Adds a pin for another entry of the cache that has the value, a share. The entries may leave in
/// any order, and each but the last one takes a share with it. One may never leave, since its
/// thread is lost by fork(). So a value that a caller holds when the first one leaves refers to the
/// cache from then on, like an orphan.
void lrdc_value_share(larder_value *value);

/// True when a caller holds the value.
bool lrdc_value_is_held(const larder_value *value);

/// Takes lrdc_value_make() back. Without value_retain the value is still the caller's, so it is not
/// released.
void lrdc_value_undo(larder_value *value);

/// Gives up one reference to a cache, and frees the cache after the last one.
void lrdc_cache_unreference(larder_cache *cache);

#pragma GCC visibility pop
#pragma clang assume_nonnull end
