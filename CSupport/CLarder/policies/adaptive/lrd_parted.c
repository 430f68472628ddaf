// SPDX-License-Identifier: Apache-2.0
#include "lrd_parted.h"

#include "../lrd_queues.h"

uint32_t lrd_parted_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id) {
  lrd_list *list = lrd_parted_list(order, old->queue);
  uint32_t old_id = lrd_order_replace_in(order, list, lrd_pool_slots(pool), old, entry, id);
  if (order->front == old_id) order->front = id;
  return old_id;
}

uint32_t lrd_parted_drain(lrd_order *order, lrd_pool *pool) {
  uint32_t id = lrd_queues_coldest(order, pool);
  if (id == LRD_NIL) return LRD_NIL;
  lrd_slots slots = lrd_pool_slots(pool);
  return lrd_parted_remove(order, slots, lrd_slots_entry(slots, id));
}

uint32_t lrd_parted_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  (void)pool;
  if (entry->next != LRD_NIL) return entry->next;
  return entry->queue == LRD_MAIN ? order->queue[LRD_OLD].list.head : LRD_NIL;
}

void lrd_parted_check(const lrd_order *order, lrd_pool *pool) {
  bool young = true;
  uint32_t before = LRD_NIL, oldest = LRD_NIL;
  lrd_amount size[2] = {{0, 0}, {0, 0}};
  const lrd_list *list = &order->queue[LRD_OLD].list;
  for (uint32_t id = list->head; id != LRD_NIL;) {
    const lrd_entry *entry = lrd_pool_entry(pool, id);
    LRD_CHECK(entry->queue == LRD_OLD || (entry->queue == LRD_YOUNG && young));
    LRD_CHECK(entry->prev == before);
    young = entry->queue == LRD_YOUNG;
    if (young) oldest = id;
    size[entry->queue].count++;
    size[entry->queue].cost += lrd_entry_cost(entry);
    LRD_CHECK(size[entry->queue].count <= order->queue[entry->queue].size.count);
    before = id;
    id = entry->next;
  }
  LRD_CHECK(list->tail == before);
  LRD_CHECK(order->hand == oldest);
  LRD_CHECK(order->queue[LRD_YOUNG].list.head == LRD_NIL &&
            order->queue[LRD_YOUNG].list.tail == LRD_NIL);
  for (int i = LRD_OLD; i <= LRD_YOUNG; i++) {
    LRD_CHECK(size[i].count == order->queue[i].size.count);
    LRD_CHECK(size[i].cost == order->queue[i].size.cost);
  }
  lrd_order_check_queue(order, LRD_MAIN, pool);
  bool found = order->front == LRD_NIL;
  for (uint32_t id = order->queue[LRD_MAIN].list.head; !found && id != LRD_NIL;) {
    found = id == order->front;
    id = lrd_pool_entry(pool, id)->next;
  }
  LRD_CHECK(found);
}
