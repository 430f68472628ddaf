// SPDX-License-Identifier: Apache-2.0
#include "lrd_order.h"

void lrd_order_add_after(lrd_order *order, unsigned number, lrd_slots slots, uint32_t colder,
                         lrd_entry *entry, uint32_t id) {
  lrd_queue *queue = &order->queue[number];
  entry->queue = number;
  lrd_amount_add(&queue->size, entry);
  lrd_list_add_after(&queue->list, slots, colder, entry, id);
}

uint64_t lrd_order_room_percent(const lrd_order *order, uint32_t percent) {
  uint64_t entries = order->share.count;
  if (order->share.cost != LRD_UNBOUNDED || entries == LRD_UNBOUNDED) {
    uint64_t held = lrd_order_size(order).count;
    if (held < entries) entries = held;
  }
  return lrd_bound_percent(entries, percent);
}

void lrd_order_check_queue(const lrd_order *order, int number, lrd_pool *pool) {
  const lrd_queue *queue = &order->queue[number];
  lrd_amount size = {0, 0};
  uint32_t before = LRD_NIL;
  for (uint32_t id = queue->list.head; id != LRD_NIL;) {
    const lrd_entry *entry = lrd_pool_entry(pool, id);
    LRD_CHECK(entry->queue == number);
    LRD_CHECK(entry->prev == before);
    size.count++;
    size.cost += lrd_entry_cost(entry);
    LRD_CHECK(size.count <= queue->size.count);
    before = id;
    id = entry->next;
  }
  LRD_CHECK(queue->list.tail == before);
  LRD_CHECK(size.count == queue->size.count);
  LRD_CHECK(size.cost == queue->size.cost);
}
