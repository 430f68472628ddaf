// SPDX-License-Identifier: Apache-2.0
#include "lrd_queues.h"

void lrd_queues_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_order_add(order, 0, lrd_pool_slots(pool), entry, id);
}

uint32_t lrd_queues_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  (void)evicted;
  return lrd_order_remove(order, lrd_pool_slots(pool), entry);
}

uint32_t lrd_queues_victim(lrd_order *order, lrd_pool *pool) {
  order->steps++;
  return lrd_queues_coldest(order, pool);
}

uint32_t lrd_queues_exchange(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_slots slots = lrd_pool_slots(pool);
  uint32_t victim = order->queue[0].list.tail;
  if (victim == LRD_NIL) return LRD_NIL;
  order->steps++;
  lrd_order_remove_coldest(order, 0, slots, lrd_slots_entry(slots, victim));
  lrd_order_add(order, 0, slots, entry, id);
  return victim;
}

void lrd_queues_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_order_move(order, entry->queue, lrd_pool_slots(pool), entry);
}

uint32_t lrd_queues_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id) {
  lrd_list *list = &order->queue[old->queue].list;
  return lrd_order_replace_in(order, list, lrd_pool_slots(pool), old, entry, id);
}

uint32_t lrd_queues_drain(lrd_order *order, lrd_pool *pool) {
  uint32_t id = lrd_queues_coldest(order, pool);
  if (id == LRD_NIL) return LRD_NIL;
  lrd_slots slots = lrd_pool_slots(pool);
  return lrd_order_remove(order, slots, lrd_slots_entry(slots, id));
}

uint32_t lrd_queues_hottest(const lrd_order *order, lrd_pool *pool) {
  (void)pool;
  for (int i = LRD_QUEUES; i--;) {
    if (order->queue[i].list.head != LRD_NIL) return order->queue[i].list.head;
  }
  return LRD_NIL;
}

uint32_t lrd_queues_coldest(const lrd_order *order, lrd_pool *pool) {
  (void)pool;
  for (int i = 0; i < LRD_QUEUES; i++) {
    if (order->queue[i].list.tail != LRD_NIL) return order->queue[i].list.tail;
  }
  return LRD_NIL;
}

uint32_t lrd_queues_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  (void)pool;
  if (entry->next != LRD_NIL) return entry->next;
  for (int i = entry->queue; i--;) {
    if (order->queue[i].list.head != LRD_NIL) return order->queue[i].list.head;
  }
  return LRD_NIL;
}

uint32_t lrd_queues_hotter(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  (void)pool;
  if (entry->prev != LRD_NIL) return entry->prev;
  for (int i = entry->queue + 1; i < LRD_QUEUES; i++) {
    if (order->queue[i].list.tail != LRD_NIL) return order->queue[i].list.tail;
  }
  return LRD_NIL;
}

void lrd_queues_check(const lrd_order *order, lrd_pool *pool) {
  for (int i = 0; i < LRD_QUEUES; i++) lrd_order_check_queue(order, i, pool);
}
