// SPDX-License-Identifier: Apache-2.0
#include "lrdt_advisor.h"

const lrd_expert *lrdt_expert(uint32_t number) {
  return &lrd_experts[number];
}

void lrdt_pin_expert(lrd_cache *cache, uint32_t number) LRD_UNCHECKED_LOCKS {
  lrd_advisor *advisor = cache->shared;
  lrd_lock_acquire(&advisor->lock);
  atomic_store_explicit(&advisor->current, number, memory_order_relaxed);
}

uint32_t lrdt_current_expert(lrd_cache *cache) {
  return lrd_advisor_current(cache->shared);
}
