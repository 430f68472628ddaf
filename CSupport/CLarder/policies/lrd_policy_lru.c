// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_lru.c — least recently used. A hit moves its entry to the hot end of the queue. */
#include "lrd_policies.h"
#include "lrd_queues.h"

static void lru_access(lrd_order *order, lrd_pool *pool, lrd_entry *const *hits, uint32_t count) {
  lrd_slots slots = lrd_pool_slots(pool);
  lrd_list *list = &order->queue[0].list;
  // Each move touches two neighbours. Loading all of them first overlaps the cache misses.
  for (uint32_t i = 0; count > 1 && i < count; i++) {
    const lrd_entry *entry = hits[i];
    if (entry->prev != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, entry->prev));
    if (entry->next != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, entry->next));
  }
  for (uint32_t i = 0; i < count; i++) {
    if (hits[i]->prev == LRD_NIL) continue;
    uint32_t id = lrd_list_remove(list, slots, hits[i]);
    lrd_list_add_hottest(list, slots, hits[i], id);
  }
}

const lrd_policy lrd_policy_lru = {
    .hits_most = LRD_HITS_BATCHED,
    .steps_most = 1,
    .access = lru_access,
    .victim = lrd_queues_victim,
    .exchange = lrd_queues_exchange,
    .renew = lrd_queues_pass,
    LRD_POLICY_OF_ONE_QUEUE,
};
