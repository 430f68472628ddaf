// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_trim.h"

/// The largest part of what is left that the small queue keeps, in per cent.
enum { small_most = 50 };

/// True when the next victim is sought in the small queue.
static bool is_small_next(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  lrd_amount all = lrd_order_size(order), main = order->queue[LRD_MAIN].size;
  lrd_amount small = {all.count - main.count, all.cost - main.cost};
  if (!small.count || !main.count) return small.count;
  lrd_amount most = lrd_order_part(order, (uint32_t)lrd_least(state->expert->small, small_most));
  return small.count >= most.count || small.cost >= most.cost;
}

uint32_t lrd_adaptive_trim(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  uint32_t fewest = LRD_HITS_MOST + 1, coldest = LRD_NIL;
  for (int left = LRD_EXPERT_STEPS; left; left--) {
    bool small = is_small_next(order);
    uint32_t id = small ? lrd_parted_tail(order) : order->queue[LRD_MAIN].list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint32_t hits = lrd_entry_bits(entry);
    order->steps++;
    if (small && !lrd_expert_promotes(entry->queue == LRD_YOUNG, hits)) return id;
    if (!small && hits <= state->level) {
      state->level = hits;
      return id;
    }
    if (!small && hits < fewest) {
      fewest = hits;
      coldest = id;
    }
    lrd_parted_promote(order, small ? LRD_OLD : LRD_MAIN, slots, entry, id);
  }
  if (coldest == LRD_NIL) return order->queue[LRD_MAIN].list.tail;
  state->level = fewest;
  return coldest;
}
