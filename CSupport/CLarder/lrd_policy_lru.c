// SPDX-License-Identifier: Apache-2.0
#include "lrd_policy.h"

static void lru_open(lrd_order *order) {
  lrd_list_open(&order->recency);
}

static void lru_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_list_add_hottest(&order->recency, lrd_pool_slots(pool), entry, id);
}

static uint32_t lru_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  return lrd_list_remove(&order->recency, lrd_pool_slots(pool), entry);
}

static void lru_access(lrd_order *order, lrd_pool *pool, lrd_entry *const *entries,
                       uint32_t count) {
  lrd_slots slots = lrd_pool_slots(pool);
  // Each move touches two neighbours: loading all of them first overlaps the cache misses.
  for (uint32_t i = 0; count > 1 && i < count; i++) {
    const lrd_entry *entry = entries[i];
    if (entry->prev != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, entry->prev));
    if (entry->next != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, entry->next));
  }
  for (uint32_t i = 0; i < count; i++) {
    if (entries[i]->prev == LRD_NIL) continue;
    uint32_t id = lrd_list_remove(&order->recency, slots, entries[i]);
    lrd_list_add_hottest(&order->recency, slots, entries[i], id);
  }
}

static uint32_t lru_victim(const lrd_order *order) {
  return order->recency.tail;
}

static uint32_t lru_hottest(const lrd_order *order) {
  return order->recency.head;
}

static uint32_t lru_colder(const lrd_order *order, const lrd_entry *entry) {
  (void)order;
  return entry->next;
}

static uint32_t lru_hotter(const lrd_order *order, const lrd_entry *entry) {
  (void)order;
  return entry->prev;
}

static const lrd_policy lru = {
    .open = lru_open,
    .insert = lru_insert,
    .remove = lru_remove,
    .access = lru_access,
    .victim = lru_victim,
    .hottest = lru_hottest,
    .coldest = lru_victim,
    .colder = lru_colder,
    .hotter = lru_hotter,
};

const lrd_policy *lrd_policy_lru(void) {
  return &lru;
}
