// SPDX-License-Identifier: Apache-2.0
#include "lrd_policy.h"

static void lru_open(lrd_order *order) { lrd_list_open(&order->recency); }

static void lru_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_list_add_hottest(&order->recency, pool, entry, id);
}

static uint32_t lru_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  return lrd_list_remove(&order->recency, pool, entry);
}

static void lru_access(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  if (entry->prev == LRD_NIL) return;
  uint32_t id = lrd_list_remove(&order->recency, pool, entry);
  lrd_list_add_hottest(&order->recency, pool, entry, id);
}

static uint32_t lru_victim(const lrd_order *order) { return order->recency.tail; }

static uint32_t lru_hottest(const lrd_order *order) { return order->recency.head; }

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

const lrd_policy *lrd_policy_lru(void) { return &lru; }
