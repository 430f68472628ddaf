// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_clock.c — CLOCK: first in, first out, with a second chance. An entry that was hit goes
 * to the hot end instead of being evicted, and its hits are forgotten. */
#include "lrd_policies.h"
#include "lrd_queues.h"

static uint32_t clock_victim(lrd_order *order, lrd_pool *pool) {
  lrd_slots slots = lrd_pool_slots(pool);
  const lrd_list *list = &order->queue[0].list;
  for (int steps = 1; list->tail != LRD_NIL; steps++) {
    lrd_entry *entry = lrd_slots_entry(slots, list->tail);
    order->steps++;
    if (!lrd_entry_bits(entry) || steps == LRD_VICTIM_STEPS) break;
    lrd_entry_set_bits(entry, 0);
    lrd_order_move(order, 0, slots, entry);
  }
  return list->tail;
}

const lrd_policy lrd_policy_clock = {
    .hits_most = 1,
    .steps_most = LRD_VICTIM_STEPS,
    .victim = clock_victim,
    LRD_POLICY_OF_ONE_QUEUE,
};
