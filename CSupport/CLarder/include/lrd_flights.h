// SPDX-License-Identifier: Apache-2.0
/* lrd_flights.h — counts the loads that the layer above has under way for keys of a shard.
 *
 * While there are some, a write tells the layer above before it takes effect. So every write looks
 * whether there are. The short way of an insertion (lrd_shortway.h) looks only where the shard is
 * not at ease, as a shard with flights never is: they cost no other insertion anything. */
#pragma once

#include "lrd_shard.h"

#pragma clang assume_nonnull begin

/// Whether a value is being loaded for a key of this shard.
static inline bool lrd_shard_is_flying_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return LRD_UNLIKELY(shard->flying);
}

/// Notes that such a load begins, and that it has ended.
void lrd_flight_begin_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);
void lrd_flight_end_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// The number of such loads.
static inline uint64_t lrd_flights_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->flights;
}

/// Changes whenever such a load begins.
static inline uint64_t lrd_flights_begun_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->flights_begun;
}

#pragma clang assume_nonnull end
