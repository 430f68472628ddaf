// SPDX-License-Identifier: Apache-2.0
#include "lrd_slot.h"

bool lrd_lane_take_spares(lrd_cache *cache, lrd_lane *lane) {
  lane->first_spare = 0;
  lane->spares = lrd_pool_take(&cache->pool, lane->spare, LRD_SPARES / 2);
  if (!lane->spares) return false;
  bool wants = lrd_pool_wants_spare(&cache->pool);
  if (LRD_UNLIKELY(wants) && !lrd_request_is_unheard()) lrd_request_visit(&cache->request);
  return true;
}

void lrd_lane_give_spares(lrd_cache *cache, lrd_lane *lane) {
  uint32_t given[LRD_SPARES / 2];
  for (uint32_t i = 0; i < LRD_SPARES / 2; i++) {
    given[i] = lane->spare[(lane->first_spare + --lane->spares) % LRD_SPARES];
  }
  lrd_pool_give(&cache->pool, given, LRD_SPARES / 2);
}
