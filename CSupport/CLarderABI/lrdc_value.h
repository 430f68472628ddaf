// SPDX-License-Identifier: Apache-2.0
/* lrdc_value.h — the life of a value: made, pinned, let go by hands and by the cache. */
#pragma once

#include "lrdc_key.h"

#pragma clang assume_nonnull begin
#pragma GCC visibility push(hidden)

/// A value with one pin, the cache's; copies or retains key and value. Writes NULL on failure.
larder_status lrdc_value_make(larder_cache *cache, const lrdc_key *key, const void *_Nullable data,
                              uint64_t size, uint64_t cost,
                              larder_value *_Nullable *_Nonnull value);

/// The bytes each value takes besides those of its key and itself.
size_t lrdc_value_head(const larder_cache *cache);

/// One more pin. The caller has one, a hazard on the value's slot, or its shard's lock.
LRD_INLINE void lrdc_value_pin(larder_value *value) {
  atomic_fetch_add_explicit(&value->pins, 1, memory_order_relaxed);
}

/// Ends a hand's pin.
void lrdc_value_unpin(larder_value *value);

/// Ends the cache's pin: nobody but those who have pins can reach the value any more.
void lrdc_value_leave(larder_value *value);

/// Another entry of the cache has the value as well: the cache has one more pin, and each entry ends
/// one. Whichever entry comes first finds the other's pin, and counts an orphan that is none. So
/// there is a reference too much for each copy, which lrdc_value_end_shares() gives up.
void lrdc_value_share(larder_value *value);

/// To be called once no entry is left.
void lrdc_value_end_shares(larder_cache *cache);

/// Takes lrdc_value_make() back: without value_retain the caller still owns what was handed over.
void lrdc_value_undo(larder_value *value);

/// Gives up one reference to a cache; the last one frees.
void lrdc_cache_unreference(larder_cache *cache);

#pragma GCC visibility pop
#pragma clang assume_nonnull end
