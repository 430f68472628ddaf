// SPDX-License-Identifier: Apache-2.0
/* lrdc_change.h — what every write shares: the search under the lock, and the end of a change. */
#pragma once

#include "lrdc_value.h"

#pragma clang assume_nonnull begin
#pragma GCC visibility push(hidden)

/// The entry of `key`, which may have expired. May call `equal`.
lrd_entry *_Nullable lrdc_find_locked(larder_cache *cache, lrd_shard *shard, const lrdc_key *key)
    LRD_REQUIRES(shard->lock);

/// The same, but NULL if it has expired.
lrd_entry *_Nullable lrdc_find_living_locked(larder_cache *cache, lrd_shard *shard,
                                             const lrdc_key *key) LRD_REQUIRES(shard->lock);

/// Destroys an unlinked entry that no reader holds, and gives its slot back. The value is released,
/// unless a caller holds it.
LRD_INLINE void lrdc_destroy(larder_cache *cache, lrd_lane *_Nullable lane, lrd_entry *entry) {
  lrdc_value_leave(lrdc_value_of(entry));
  lrd_slot_give(cache->core, lane, entry);
}

/// Shows removed values to the observer, retires them, and releases what is due. No lock is held.
void lrdc_finish(larder_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage);

/// Shows a chain of removed values to the observer.
void lrdc_show(void *_Nullable cache, lrd_entry *first, uint64_t moment);

/// The expiration that members of a configuration ask for. There 0 means never.
lrd_expiration lrdc_expiration(uint64_t after_write, uint64_t after_access, double jitter);

/// True for the jitters that larder.h allows.
LRD_INLINE bool lrdc_jitter_is_good(double jitter) {
  return jitter >= 0 && jitter <= 1;
}

/// The calling thread's lane; NULL without memory for one.
LRD_INLINE lrd_lane *_Nullable lrdc_lane(larder_cache *cache) {
  lrd_lane *lane = lrd_lane_current(cache->core);
  if (LRD_UNLIKELY(!lane)) lane = lrd_lane_timed(cache->core);
  return LRD_LIKELY(lane) ? lane : lrd_lane_attach(cache->core);
}

#pragma GCC visibility pop
#pragma clang assume_nonnull end
