// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive_trim.h"

#include "lrd_sampling.h"

/// The largest part of what is left that the small queue keeps, in per cent.
enum { small_most = 50 };

/// True when the next victim is sought in the small queue.
static bool is_small_next(const lrd_order *order) {
  const lrd_adaptive *state = order->state;
  lrd_amount all = lrd_order_size(order), main = order->queue[LRD_MAIN].size;
  lrd_amount small = {all.count - main.count, all.cost - main.cost};
  if (!small.count || !main.count || state->round.barren) return small.count;
  lrd_amount most =
      lrd_order_held_percent(order, (uint32_t)lrd_least(state->expert->small, small_most));
  return small.count >= most.count || small.cost >= most.cost;
}

/// An entry of the main queue was looked at, and stays.
static void note_spared(lrd_order *order, uint32_t hits, bool passed) {
  lrd_trim_round *round = &((lrd_adaptive *)order->state)->round;
  if (!passed && hits > round->level && hits < round->fewest) round->fewest = hits;
  round->passed += passed;
  if (++round->looked < order->queue[LRD_MAIN].size.count) return;
  bool barren = round->passed == round->looked;
  uint32_t level = barren ? round->level : round->fewest;
  *round = (lrd_trim_round){.level = level, .fewest = LRD_HITS_MOST, .barren = barren};
}

void lrd_adaptive_trim_pass(lrd_order *order, lrd_slots slots, lrd_entry *entry) {
  if (entry->queue == LRD_MAIN) note_spared(order, 0, true);
  uint32_t id = lrd_parted_remove(order, slots, entry);
  lrd_order_add(order, LRD_MAIN, slots, entry, id);
}

/// True if an entry with so many hits is the victim.
static bool is_victim(const lrd_order *order, const lrd_entry *entry, uint32_t hits) {
  const lrd_adaptive *state = order->state;
  uint32_t level = order->trim == LRD_TRIM_DEEP ? state->round.level : 0;
  if (entry->queue == LRD_MAIN) return hits <= level;
  return hits < level || !lrd_expert_promotes(entry->queue == LRD_YOUNG, hits);
}

uint32_t lrd_adaptive_trim(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  if (order->begins) state->round = (lrd_trim_round){.fewest = LRD_HITS_MOST};
  order->begins = false;
  uint32_t fewest = LRD_HITS_MOST + 1, coldest = LRD_NIL;
  for (int left = LRD_EXPERT_STEPS; left; left--) {
    bool small = is_small_next(order);
    uint32_t id = small ? lrd_parted_tail(order) : order->queue[LRD_MAIN].list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint32_t hits = lrd_entry_bits(entry), left_hits = hits;
    order->steps++;
    if (is_victim(order, entry, hits)) return id;
    if (!small) {
      if (hits < fewest) {
        fewest = hits;
        coldest = id;
      }
      note_spared(order, hits, false);
      if (order->trim != LRD_TRIM_DEEP) {
        left_hits = lrd_expert_round(state->expert, lrd_credit(hits));
      }
    }
    if (left_hits != hits) lrd_sampling_set_hits(order, order->state, entry, id, hits, left_hits);
    lrd_parted_promote(order, small ? LRD_OLD : LRD_MAIN, slots, entry, id);
  }
  return coldest == LRD_NIL ? order->queue[LRD_MAIN].list.tail : coldest;
}
