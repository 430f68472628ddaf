// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_trim.h"

#include "lrd_adaptive_sampling.h"

/// The largest part of what is left that the small queue keeps, in per cent.
enum { small_most = 50 };

/// True when the next victim is sought in the small queue.
static bool is_small_next(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  lrd_amount all = lrd_order_size(order), main = order->queue[LRD_MAIN].size;
  lrd_amount small = {all.count - main.count, all.cost - main.cost};
  if (!small.count || !main.count) return small.count;
  lrd_amount most =
      lrd_order_held_percent(order, (uint32_t)lrd_least(state->expert->small, small_most));
  return small.count >= most.count || small.cost >= most.cost;
}

/// True if an entry of the main queue goes in a deep trim, or is the coldest of a whole round.
static bool is_cold(lrd_order *order, uint32_t hits) {
  lrd_trim_level *level = &((lrd_adaptive *)order->state)->level;
  if (order->begins) *level = (lrd_trim_level){.fewest = LRD_HITS_MOST};
  order->begins = false;
  if (hits < level->fewest) level->fewest = hits;
  if (hits > level->hits && ++level->looked >= order->queue[LRD_MAIN].size.count) {
    level->hits = level->fewest;
  }
  if (hits > level->hits) return false;
  *level = (lrd_trim_level){.hits = hits, .fewest = LRD_HITS_MOST};
  return true;
}

/// The hits that an entry of the main queue keeps when it stays.
static uint32_t kept(const lrd_order *order, uint32_t hits) {
  const lrd_adaptive *state = order->state;
  return order->trim == LRD_TRIM_DEEP ? hits : lrd_expert_round(state->expert, lrd_credit(hits));
}

/// True if the entry is the victim.
static bool goes(lrd_order *order, const lrd_entry *entry, bool small) {
  uint32_t hits = lrd_entry_bits(entry);
  if (small) return !lrd_expert_promotes(entry->queue == LRD_YOUNG, hits);
  return order->trim == LRD_TRIM_DEEP ? is_cold(order, hits) : !hits;
}

uint32_t lrd_adaptive_trim(lrd_order *order, lrd_slots slots) {
  uint32_t fewest = LRD_HITS_MOST + 1, coldest = LRD_NIL;
  for (int left = LRD_EXPERT_STEPS; left; left--) {
    bool small = is_small_next(order);
    uint32_t id = small ? lrd_parted_tail(order) : order->queue[LRD_MAIN].list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    order->steps++;
    if (goes(order, entry, small)) return id;
    uint32_t hits = lrd_entry_bits(entry), left_hits = small ? hits : kept(order, hits);
    if (!small && hits < fewest) {
      fewest = hits;
      coldest = id;
    }
    if (left_hits != hits) lrd_adaptive_set_hits(order, entry, id, hits, left_hits);
    lrd_parted_promote(order, small ? LRD_OLD : LRD_MAIN, slots, entry, id);
  }
  return coldest == LRD_NIL ? order->queue[LRD_MAIN].list.tail : coldest;
}
