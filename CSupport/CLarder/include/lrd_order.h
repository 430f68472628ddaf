// SPDX-License-Identifier: Apache-2.0
/* lrd_order.h — what a policy keeps in one shard: queues of entries, private state, a history.
 *
 *   queue[0]   coldest ⇄ … ⇄ hottest
 *   queue[1]   …                          an entry is in the queue that its `queue` field names
 *   queue[2]
 *   state      memory of the policy's own, fixed in size, made with the cache
 *   history    memory about keys that are gone: ghosts, counts. Its size follows the limits
 *
 * Guard of everything here: the lock of the shard that owns the order.
 *
 * THE HISTORY is allocated and freed outside the lock. A policy that wants another size sets
 * `history.wanted`; the next insertion into the shard brings memory of that size, cleared, puts it
 * in the place of the old and calls the policy's `renewed`. Until then, and when there is no
 * memory, the policy works with what it has, which may be nothing.
 *
 * TAKEN ORDERS. removeAll() copies the order and leaves an empty one behind. The copy has the
 * entries; state and history stay with the shard. So whatever leads to entries must be in `queue`
 * and `hand`, and `drain` must get by with those. */
#pragma once

#include "lrd_list.h"

#pragma clang assume_nonnull begin

#define LRD_QUEUES 3

/// Alignment of what a policy keeps in a shard: state and history.
#define LRD_STATE_ALIGNMENT ((size_t)64)

/// A list that knows its size. `cost` is modulo 2^64: right wherever there is a cost limit.
typedef struct lrd_queue {
  lrd_list list;
  lrd_amount size;
} lrd_queue;

typedef struct lrd_history {
  void *_Nullable memory;
  size_t bytes;
  size_t wanted;
} lrd_history;

typedef struct lrd_order {
  // Written by every change, and therefore together.
  lrd_queue queue[LRD_QUEUES];
  uint32_t hand;  // a slot id: the hand of a clock, a mark within a queue, the root of a tree
  bool adjust;    // `insert` wants `adjust` called, once the lock is free
  uint64_t steps; // entries looked at in search of victims, ever: tests bound it

  // What this shard may hold if every shard holds the same: the limits, divided. Real shards are
  // fuller or emptier, since limits hold for the cache as a whole.
  lrd_amount share;
  lrd_history history;
  void *_Nullable state;
  void *_Nullable shared; // what all shards have together: `create` of lrd_policy
} lrd_order;

/// Makes the queues empty.
static inline void lrd_order_clear(lrd_order *order) {
  for (int i = 0; i < LRD_QUEUES; i++) {
    lrd_list_open(&order->queue[i].list);
    order->queue[i].size = (lrd_amount){0, 0};
  }
  order->hand = LRD_NIL;
}

/// Links an entry, which sits in slot `id`, at the hot end of a queue.
static inline void lrd_order_add(lrd_order *order, unsigned number, lrd_slots slots,
                                 lrd_entry *entry, uint32_t id) {
  lrd_queue *queue = &order->queue[number];
  entry->queue = number;
  queue->size.count++;
  queue->size.cost += entry->cost;
  lrd_list_add_hottest(&queue->list, slots, entry, id);
}

/// Links an entry at the hot side of the one in slot `colder`; LRD_NIL: at the cold end.
void lrd_order_add_after(lrd_order *order, unsigned number, lrd_slots slots, uint32_t colder,
                         lrd_entry *entry, uint32_t id);

/// Takes an entry out of its queue; returns its slot id. A mark on the entry is the policy's care.
static inline uint32_t lrd_order_remove(lrd_order *order, lrd_slots slots, lrd_entry *entry) {
  lrd_queue *queue = &order->queue[entry->queue];
  queue->size.count--;
  queue->size.cost -= entry->cost;
  return lrd_list_remove(&queue->list, slots, entry);
}

/// Moves an entry to the hot end of a queue, its own or another.
static inline void lrd_order_move(lrd_order *order, unsigned number, lrd_slots slots,
                                  lrd_entry *entry) {
  uint32_t id = lrd_order_remove(order, slots, entry);
  lrd_order_add(order, number, slots, entry, id);
}

/// Lets others go before an entry without a cost: those of its queue, if there is any cost there;
/// else it goes to queue `other`, so that the sizes of the two may lead to that one.
static inline void lrd_order_pass(lrd_order *order, lrd_slots slots, lrd_entry *entry,
                                  unsigned other) {
  bool costly = order->queue[entry->queue].size.cost != 0;
  lrd_order_move(order, costly ? entry->queue : other, slots, entry);
}

/// True when the queue's size reaches `amount` in count or in cost. LRD_UNBOUNDED is never reached.
static inline bool lrd_queue_reaches(const lrd_queue *queue, lrd_amount amount) {
  return queue->size.count >= amount.count || queue->size.cost >= amount.cost;
}

/// True when the queue is larger than `amount` in count or in cost.
static inline bool lrd_queue_exceeds(const lrd_queue *queue, lrd_amount amount) {
  return queue->size.count > amount.count || queue->size.cost > amount.cost;
}

/// Begins to load the hotter neighbour of an entry that is about to be evicted. Unlinking the entry
/// writes to that neighbour, and the next eviction takes it.
static inline void lrd_order_prefetch(lrd_slots slots, uint32_t id) {
  if (id == LRD_NIL) return;
  uint32_t hotter = lrd_slots_entry(slots, id)->prev;
  if (hotter != LRD_NIL) LRD_PREFETCH(lrd_slots_entry(slots, hotter));
}

/// `parts` hundredths of a bound, at least 1; what is unbounded stays so.
static inline uint64_t lrd_bound_percent(uint64_t bound, uint32_t parts) {
  if (bound == LRD_UNBOUNDED) return bound;
  uint64_t part = (uint64_t)((unsigned __int128)bound * parts / 100);
  return part ? part : 1;
}

/// `parts` hundredths of an amount, each side at least 1.
static inline lrd_amount lrd_amount_percent(lrd_amount amount, uint32_t parts) {
  return (lrd_amount){lrd_bound_percent(amount.count, parts),
                      lrd_bound_percent(amount.cost, parts)};
}

/// Count and cost of everything the shard holds.
static inline lrd_amount lrd_order_size(const lrd_order *order) {
  lrd_amount size = {0, 0};
  for (int i = 0; i < LRD_QUEUES; i++) {
    size.count += order->queue[i].size.count;
    size.cost += order->queue[i].size.cost;
  }
  return size;
}

/// A shard is idle while it holds less than this part of what fits. The policy of an idle shard
/// asks for no history: a cache with a huge limit may stay nearly empty for ever, and then never
/// pays for it. A shard that does fill up is still far from its first eviction at a sixteenth.
enum { LRD_IDLE_PART = 16 };

/// True when a shard in which `entries` fit is idle.
static inline bool lrd_order_is_idle(const lrd_order *order, uint64_t entries) {
  return entries / LRD_IDLE_PART > lrd_order_size(order).count;
}

/// `parts` hundredths of the entries that the shard may hold, or where only their cost is limited,
/// of those it holds; at least 1.
uint64_t lrd_order_percent(const lrd_order *order, uint32_t parts);

/* The functions of lrd_policy as policies of plain queues have them: entries from the coldest of
 * queue 0 to the hottest of the last queue, replacement in place with queue and bits kept; new
 * entries at the hot end of queue 0, the coldest of all as the victim, and what is passed over at
 * the hot end of its queue. */
void lrd_queues_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);
uint32_t lrd_queues_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted);
uint32_t lrd_queues_victim(lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id);
void lrd_queues_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry);
uint32_t lrd_queues_prefetch(const lrd_order *order, lrd_pool *pool, uint64_t hash48);
uint32_t lrd_queues_drain(lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_hottest(const lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_coldest(const lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
uint32_t lrd_queues_hotter(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
void lrd_queues_check(const lrd_order *order, lrd_pool *pool);

#pragma clang assume_nonnull end
