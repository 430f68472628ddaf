// SPDX-License-Identifier: Apache-2.0
#include "lrd_front.h"

#include "lrd_sampling.h"

/// In a main queue of fewer entries the hand stays: its entries are near the processor, and more
/// than a 64th of them would have their second chances earlier.
enum { least = 64 * LRD_FRONT_MOST };

/// Moves the entry in slot `id` to the hot end, with fewer hits. It stays in its queue.
static void send_round(lrd_order *order, lrd_slots slots, lrd_entry *entry, uint32_t id) {
  const lrd_adaptive *state = order->state;
  uint32_t hits = lrd_entry_bits(entry);
  uint32_t kept = lrd_expert_round(state->expert, lrd_credit(hits));
  lrd_sampling_set_hits(order, order->state, entry, id, hits, kept);
  lrd_list *list = lrd_parted_list(order, LRD_MAIN);
  lrd_list_remove(list, slots, entry);
  lrd_list_add_hottest(list, slots, entry, id);
}

void lrd_front_advance(lrd_order *order, lrd_slots slots, bool from_main) {
  lrd_adaptive *state = order->state;
  const lrd_queue *main = &order->queue[LRD_MAIN];
  uint32_t most = main->size.count < least ? 0 : LRD_FRONT_MOST;
  if (from_main) {
    if (state->known) state->known--;
    state->reach = LRD_FRONT_REACH;
  }
  if (order->front == LRD_NIL) order->front = main->list.tail;
  if (order->front == main->list.tail) state->known = 0;
  for (int left = LRD_FRONT_STEPS; left && state->reach && state->known < most; left--) {
    uint32_t id = order->front;
    // Evictions of entries beyond the hand have led it to the hot end.
    if (id == LRD_NIL) break;
    state->reach--;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    if (order->ahead) lrd_order_prefetch(slots, entry, LRD_AHEAD);
    order->steps++;
    order->front = entry->prev;
    if (lrd_entry_bits(entry)) {
      send_round(order, slots, entry, id);
    } else {
      state->known++;
    }
  }
  state->goes = state->reach && state->known < most;
}
