// SPDX-License-Identifier: Apache-2.0
/* lrd_parted.h — the queues of the adaptive policy: a small one of two halves, and the main one.
 *
 *   queue[LRD_OLD].list     coldest ⇄ … ⇄ │ hand ⇄ … ⇄ hottest
 *                           └─── old ───┘   └── young ──┘
 *   queue[LRD_MAIN].list    coldest ⇄ … ⇄ │ front ⇄ … ⇄ hottest
 *
 * The halves share a list. An entry that ages therefore stays where it is, and the hand moves on:
 * nothing is written but the entry itself. `hand` is the oldest young entry, LRD_NIL when there is
 * none. `queue` of an entry names its half; the halves have the sizes of queue[LRD_OLD] and
 * queue[LRD_YOUNG]. The list of queue[LRD_YOUNG] stays empty, so most walks over plain queues
 * (lrd_queues.h) are right for these as well. `front` is an entry of the main queue, or LRD_NIL:
 * see lrd_front.h.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

/// Where an entry is. The even numbers have lists.
enum { LRD_OLD, LRD_YOUNG, LRD_MAIN };

/// The list that has the entries of a queue.
LRD_INLINE lrd_list *lrd_parted_list(lrd_order *order, unsigned number) {
  return &order->queue[number & LRD_MAIN].list;
}

/// The coldest entry of the small queue. It is young if no entry is old.
LRD_INLINE uint32_t lrd_parted_tail(const lrd_order *order) {
  return order->queue[LRD_OLD].list.tail;
}

/// Links the entry in slot `id`, whose `queue` is 0, at the hot end of the small queue. Sizes are
/// the caller's care.
LRD_INLINE void lrd_parted_link_young(lrd_order *order, lrd_slots slots, lrd_entry *entry,
                                      uint32_t id) {
  LRD_ASSERT(!entry->queue);
  entry->queue |= LRD_YOUNG;
  lrd_list_add_hottest(lrd_parted_list(order, LRD_YOUNG), slots, entry, id);
  if (order->hand == LRD_NIL) order->hand = id;
}

/// The same with its size.
LRD_INLINE void lrd_parted_add_young(lrd_order *order, lrd_slots slots, lrd_entry *entry,
                                     uint32_t id) {
  lrd_parted_link_young(order, slots, entry, id);
  lrd_amount_add(&order->queue[LRD_YOUNG].size, entry);
}

/// Passes a hand on if it is at an entry that leaves: that of the small queue, or `front` of the
/// main queue, which has `number` LRD_MAIN.
LRD_INLINE void lrd_parted_pass_hand(lrd_order *order, unsigned number, const lrd_entry *entry,
                                     uint32_t id) {
  uint32_t *hand = number == LRD_MAIN ? &order->front : &order->hand;
  if (*hand == id) *hand = entry->prev;
}

/// Takes an entry out of its queue; returns its slot id.
LRD_INLINE uint32_t lrd_parted_remove(lrd_order *order, lrd_slots slots, lrd_entry *entry) {
  uint32_t id = lrd_order_remove_from(order, lrd_parted_list(order, entry->queue), slots, entry);
  lrd_parted_pass_hand(order, entry->queue, entry, id);
  return id;
}

/// Takes the coldest entry of the small or the main queue, in slot `id`, out, where no entry has a
/// cost. `number`: its queue, or LRD_OLD for either half.
LRD_INLINE void lrd_parted_remove_coldest(lrd_order *order, unsigned number, lrd_slots slots,
                                          lrd_entry *entry, uint32_t id) {
  if (LRD_LIKELY(number == LRD_OLD && entry->queue == LRD_OLD)) {
    order->queue[LRD_OLD].size.count--;
  } else {
    order->queue[entry->queue].size.count--;
    lrd_parted_pass_hand(order, number, entry, id);
  }
  lrd_list_remove_coldest(lrd_parted_list(order, number), slots, entry);
}

/// Moves such an entry to the hot end of the main queue.
LRD_INLINE void lrd_parted_promote(lrd_order *order, unsigned number, lrd_slots slots,
                                   lrd_entry *entry, uint32_t id) {
  if (number != LRD_MAIN) lrd_order_requeue(order, entry->queue, LRD_MAIN, entry);
  lrd_list_remove_coldest(lrd_parted_list(order, number), slots, entry);
  lrd_parted_pass_hand(order, number, entry, id);
  lrd_list_add_hottest(lrd_parted_list(order, LRD_MAIN), slots, entry, id);
}

/// Makes an entry of the small queue one of the main queue: the first step of a promotion. Its cost
/// goes with it. lrd_parted_promote_run() changes links and counts, for several at once.
LRD_INLINE void lrd_parted_join_main(lrd_order *order, lrd_entry *entry) {
  if (LRD_UNLIKELY(lrd_entry_has_cost(entry))) {
    order->queue[entry->queue].size.cost -= lrd_entry_cost(entry);
    order->queue[LRD_MAIN].size.cost += lrd_entry_cost(entry);
  }
  entry->queue = LRD_MAIN;
}

/// The second step: moves the `count` coldest entries of the small queue, at least one, to the hot
/// end of the main queue. They keep their links among each other. `rest`: the coldest one that
/// stays, or LRD_NIL.
LRD_INLINE void lrd_parted_promote_run(lrd_order *order, lrd_slots slots, uint64_t count,
                                       uint32_t rest) {
  lrd_queue *old = &order->queue[LRD_OLD], *main = &order->queue[LRD_MAIN];
  uint64_t from_old = lrd_least(count, old->size.count);
  old->size.count -= from_old;
  order->queue[LRD_YOUNG].size.count -= count - from_old;
  main->size.count += count;
  if (!old->size.count) order->hand = rest;
  uint32_t coldest = old->list.tail, hottest = old->list.head;
  old->list.tail = rest;
  if (rest == LRD_NIL) {
    old->list.head = LRD_NIL;
  } else {
    lrd_entry *entry = lrd_slots_entry(slots, rest);
    hottest = entry->next;
    entry->next = LRD_NIL;
  }
  lrd_slots_entry(slots, coldest)->next = main->list.head;
  if (main->list.head == LRD_NIL) {
    main->list.tail = coldest;
  } else {
    lrd_slots_entry(slots, main->list.head)->prev = coldest;
  }
  lrd_slots_entry(slots, hottest)->prev = LRD_NIL;
  main->list.head = hottest;
}

/// Makes the oldest young entry, which is at the hand, an old one.
LRD_INLINE void lrd_parted_age(lrd_order *order, lrd_entry *entry) {
  lrd_order_requeue(order, LRD_YOUNG, LRD_OLD, entry);
  order->hand = entry->prev;
}

/* The functions of lrd_policy for which those of plain queues do not fit. */
uint32_t lrd_parted_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id);
uint32_t lrd_parted_drain(lrd_order *order, lrd_pool *pool);
uint32_t lrd_parted_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
void lrd_parted_check(const lrd_order *order, lrd_pool *pool);

#pragma clang assume_nonnull end
