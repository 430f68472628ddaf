// SPDX-License-Identifier: Apache-2.0
#include "lrd_slot.h"

lrd_entry *lrd_slot_take_slow(lrd_cache *cache, bool odd) {
  uint32_t id;
  bool taken = odd ? lrd_pool_take_pair(&cache->pool, &id) : lrd_pool_take(&cache->pool, &id, 1);
  return taken ? lrd_slot_open(cache, id) : NULL;
}

lrd_entry *lrd_slot_take_wide(lrd_cache *cache) {
  uint32_t id;
  return lrd_pool_take_wide(&cache->pool, &id) ? lrd_slot_open(cache, id) : NULL;
}

bool lrd_slot_refill(lrd_cache *cache, lrd_lane *lane) {
  lane->first_free = 0;
  lane->free_count = lrd_pool_take(&cache->pool, lane->free, LRD_FREE_SLOTS / 2);
  if (!lane->free_count) return false;
  bool wants = lrd_pool_wants_reserve(&cache->pool);
  if (LRD_UNLIKELY(wants) && !lrd_request_is_unheard()) lrd_request_visit(&cache->request);
  return true;
}

void lrd_slot_ask(lrd_cache *cache) {
  if (LRD_LIKELY(LRD_LOAD(&cache->pool.sparse) != LRD_SPARSE)) return;
  if (!cache->hooks.copy || lrd_request_is_unheard()) return;
  // A cache that is closed may be at its end, and have no reference to give. Relaxed is enough: the
  // thread that takes it apart has closed it, or has got the last reference since.
  if (LRD_LOAD(&cache->closed)) return;
  lrd_request_visit(&cache->request);
}

static void give(lrd_cache *cache, const uint32_t *ids, uint32_t count) {
  lrd_pool_give(&cache->pool, ids, count);
  lrd_slot_ask(cache);
}

void lrd_slot_drain(lrd_cache *cache, lrd_lane *lane) {
  uint32_t given[LRD_FREE_SLOTS / 2];
  for (uint32_t i = 0; i < LRD_FREE_SLOTS / 2; i++)
    given[i] = lane->free[(lane->first_free + --lane->free_count) % LRD_FREE_SLOTS];
  give(cache, given, LRD_FREE_SLOTS / 2);
}

void lrd_slot_give_all(lrd_cache *cache, lrd_lane *lane) {
  uint32_t given[LRD_FREE_SLOTS], count = 0;
  for (; lane->free_count; lane->free_count--)
    given[count++] = lane->free[lane->first_free++ % LRD_FREE_SLOTS];
  if (count) lrd_pool_give(&cache->pool, given, count);
}

void lrd_slot_give_slow(lrd_cache *cache, uint32_t id) {
  give(cache, &id, 1);
}
