// SPDX-License-Identifier: Apache-2.0
#include "lrd_flights.h"

#include "lrd_growth.h"

/// After `flights` has changed.
static void look_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  shard->flying = shard->flights != 0;
  lrd_growth_settle_locked(shard);
}

void lrd_flight_begin_locked(lrd_shard *shard) {
  shard->flights_begun++;
  if (shard->flights++ == 0) look_locked(shard);
}

void lrd_flight_end_locked(lrd_shard *shard) {
  LRD_ASSERT(shard->flights);
  if (--shard->flights == 0) look_locked(shard);
}
