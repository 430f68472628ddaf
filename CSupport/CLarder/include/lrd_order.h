// SPDX-License-Identifier: Apache-2.0
/* lrd_order.h — a policy's data in one shard: queues of entries, state, a history.
 *
 *   queue[0]   coldest ⇄ … ⇄ hottest
 *   queue[1]   …                          an entry is in the queue that its `queue` field names
 *   queue[2]
 *   state      memory of the policy, of constant size, made with the cache
 *   history    ghosts or counts of keys that are gone. Its size follows the limits
 *
 * Guard of everything here: the lock of the shard that owns the order.
 *
 * THE HISTORY is allocated and freed without the lock. A policy that wants another size, or none,
 * sets `history.wanted`. The next insertion into the shard, or whoever gives memory back
 * (lrd_shrink.h), brings cleared memory of that size, makes it the history and calls the policy's
 * `renewed`. Until then, and without memory, the policy works with the history that it has, which
 * may be none.
 *
 * TAKEN ORDERS. removeAll() copies the order and leaves an empty one behind. The copy has the
 * entries; state and history stay with the shard. So `drain` finds entries by `queue`, `hand` and
 * `front` only. */
#pragma once

#include "lrd_depth.h"
#include "lrd_list.h"

#pragma clang assume_nonnull begin

#define LRD_QUEUES 3

/// Alignment of what a policy keeps in a shard: state and history.
#define LRD_STATE_ALIGNMENT ((size_t)64)

/// A list and its size. The cost is modulo 2^64, and thus right if there is a cost limit.
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
  uint32_t hand;  // a slot id: the hand of a clock, a mark in a queue, the root of a tree
  bool adjust;    // `insert` asks for a call of `adjust`, once the lock is free
  uint8_t trim;   // lrd_trimming
  bool begins;    // `victim` is not asked yet in this trim; the policy clears it
  bool ahead;     // begin to load what later evictions will touch: see lrd_insertion_begin()
  uint32_t front; // a slot id: a second hand, of the main queue of the adaptive policy
  uint32_t steps; // entries looked at in search of victims, modulo 2^32: tests bound it

  // The limits divided by the number of shards. A shard may hold more or less, since the limits are
  // those of the whole cache.
  lrd_amount share;
  lrd_history history;
  void *_Nullable state;
  void *_Nullable shared; // by all shards: `create` of lrd_policy
} lrd_order;

/// Around evictions of a trim under one lock. `shard`: the number of this one.
static inline void lrd_order_begin_trim(lrd_order *order, const lrd_depth *depth, uint32_t shard) {
  order->trim = depth->deep ? LRD_TRIM_DEEP : LRD_TRIM_FEW;
  order->begins = !(depth->begun >> shard & 1);
}

static inline void lrd_order_end_trim(lrd_order *order, lrd_depth *depth, uint32_t shard) {
  order->trim = LRD_NO_TRIM;
  if (!order->begins) depth->begun |= (uint64_t)1 << shard;
}

/// Empties the queues.
static inline void lrd_order_clear(lrd_order *order) {
  for (int i = 0; i < LRD_QUEUES; i++) {
    lrd_list_open(&order->queue[i].list);
    order->queue[i].size = (lrd_amount){0, 0};
  }
  order->hand = order->front = LRD_NIL;
}

/// Adds an entry to a size. (Most entries have no cost, and then half of the size is not touched.)
LRD_INLINE void lrd_amount_add(lrd_amount *size, const lrd_entry *entry) {
  size->count++;
  if (LRD_UNLIKELY(lrd_entry_has_cost(entry))) size->cost += lrd_entry_cost(entry);
}

/// Takes it off again.
LRD_INLINE void lrd_amount_subtract(lrd_amount *size, const lrd_entry *entry) {
  size->count--;
  if (LRD_UNLIKELY(lrd_entry_has_cost(entry))) size->cost -= lrd_entry_cost(entry);
}

/// Counts an entry of queue `former` in queue `number` from now on. Links stay as they are.
LRD_INLINE void lrd_order_requeue(lrd_order *order, unsigned former, unsigned number,
                                  lrd_entry *entry) {
  lrd_amount *from = &order->queue[former].size, *to = &order->queue[number].size;
  bool has_cost = lrd_entry_has_cost(entry);
  entry->queue = number;
  from->count--;
  to->count++;
  if (LRD_LIKELY(!has_cost)) return;
  from->cost -= lrd_entry_cost(entry);
  to->cost += lrd_entry_cost(entry);
}

/// Links the entry in slot `id` at the hot end of `list`, as one of a queue.
LRD_INLINE void lrd_order_add_to(lrd_order *order, lrd_list *list, unsigned number, lrd_slots slots,
                                 lrd_entry *entry, uint32_t id) {
  entry->queue = number;
  lrd_amount_add(&order->queue[number].size, entry);
  lrd_list_add_hottest(list, slots, entry, id);
}

/// Links the entry in slot `id` at the hot end of a queue.
static inline void lrd_order_add(lrd_order *order, unsigned number, lrd_slots slots,
                                 lrd_entry *entry, uint32_t id) {
  lrd_order_add_to(order, &order->queue[number].list, number, slots, entry, id);
}

/// Links an entry at the hot side of the one in slot `colder`; LRD_NIL: at the cold end.
void lrd_order_add_after(lrd_order *order, unsigned number, lrd_slots slots, uint32_t colder,
                         lrd_entry *entry, uint32_t id);

/// Takes an entry out of its queue and out of `list`; returns its slot id.
LRD_INLINE uint32_t lrd_order_remove_from(lrd_order *order, lrd_list *list, lrd_slots slots,
                                          lrd_entry *entry) {
  lrd_amount_subtract(&order->queue[entry->queue].size, entry);
  return lrd_list_remove(list, slots, entry);
}

/// Takes an entry out of its queue; returns its slot id. A mark on the entry is the policy's care.
static inline uint32_t lrd_order_remove(lrd_order *order, lrd_slots slots, lrd_entry *entry) {
  return lrd_order_remove_from(order, &order->queue[entry->queue].list, slots, entry);
}

/// Takes the coldest entry of a queue out.
LRD_INLINE void lrd_order_remove_coldest(lrd_order *order, unsigned number, lrd_slots slots,
                                         const lrd_entry *entry) {
  lrd_amount_subtract(&order->queue[number].size, entry);
  lrd_list_remove_coldest(&order->queue[number].list, slots, entry);
}

/// Puts the entry in slot `id` in the place of `old` in its queue and in `list`, with its bits and
/// its mark; returns the slot id of `old`.
LRD_INLINE uint32_t lrd_order_replace_in(lrd_order *order, lrd_list *list, lrd_slots slots,
                                         lrd_entry *old, lrd_entry *entry, uint32_t id) {
  order->queue[old->queue].size.cost += lrd_entry_cost(entry) - lrd_entry_cost(old);
  entry->queue = old->queue;
  lrd_entry_set_bits(entry, lrd_entry_bits(old));
  uint32_t old_id = lrd_list_replace(list, slots, old, entry, id);
  if (order->hand == old_id) order->hand = id;
  return old_id;
}

/// Moves an entry to the hot end of a queue, its own or another.
static inline void lrd_order_move(lrd_order *order, unsigned number, lrd_slots slots,
                                  lrd_entry *entry) {
  uint32_t id = lrd_order_remove(order, slots, entry);
  lrd_order_add(order, number, slots, entry, id);
}

/// Defers an entry without cost: moves it to the hot end of its queue if anything there has a cost,
/// otherwise to queue `other`. In a trim somebody may hold it, and its queue may be full of such
/// entries: then always to the other one.
static inline void lrd_order_pass(lrd_order *order, lrd_slots slots, lrd_entry *entry,
                                  unsigned other) {
  bool costly = !order->trim && order->queue[entry->queue].size.cost != 0;
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

/// An entry is asked for when the one that is so many steps colder leaves its place.
enum { LRD_AHEAD = 3 };

/// Begins to load the entry that is so many `steps` hotter than this one, at least one. Reads those
/// between, which earlier calls have begun to load.
LRD_INLINE void lrd_order_prefetch(lrd_slots slots, const lrd_entry *entry, int steps) {
  for (; entry->prev != LRD_NIL; steps--) {
    entry = lrd_slots_entry(slots, entry->prev);
    if (steps > 1) continue;
    LRD_PREFETCH(entry);
    return;
  }
}

/// So many per cent of a bound, at least 1. LRD_UNBOUNDED stays so.
static inline uint64_t lrd_bound_percent(uint64_t bound, uint32_t percent) {
  if (bound == LRD_UNBOUNDED) return bound;
  uint64_t part = (uint64_t)((unsigned __int128)bound * percent / 100);
  return part ? part : 1;
}

static inline lrd_amount lrd_amount_percent(lrd_amount amount, uint32_t percent) {
  return (lrd_amount){lrd_bound_percent(amount.count, percent),
                      lrd_bound_percent(amount.cost, percent)};
}

/// The size of all queues together.
static inline lrd_amount lrd_order_size(const lrd_order *order) {
  lrd_amount size = {0, 0};
  for (int i = 0; i < LRD_QUEUES; i++) {
    size.count += order->queue[i].size.count;
    size.cost += order->queue[i].size.cost;
  }
  return size;
}

/// So many per cent of what the order holds, at least 1: of what is limited, or of the count.
static inline lrd_amount lrd_order_held_percent(const lrd_order *order, uint32_t percent) {
  lrd_amount size = lrd_order_size(order);
  if (order->share.cost == LRD_UNBOUNDED || !size.cost) {
    size.cost = LRD_UNBOUNDED;
  } else if (order->share.count == LRD_UNBOUNDED) {
    size.count = LRD_UNBOUNDED;
  }
  return lrd_amount_percent(size, percent);
}

/// A shard is idle while it holds less than this part of what fits. Its policy asks for no history,
/// which a nearly empty cache with a huge limit would pay for in vain. A shard that fills up is
/// still far from its first eviction then.
enum { LRD_IDLE_PART = 16 };

/// True when a shard in which `entries` fit is idle.
static inline bool lrd_order_is_idle(const lrd_order *order, uint64_t entries) {
  return entries / LRD_IDLE_PART > lrd_order_size(order).count;
}

/// So many per cent of the entries that the shard may hold, at least 1. If costs are limited, or
/// nothing is, those that it holds count instead where they are fewer.
uint64_t lrd_order_room_percent(const lrd_order *order, uint32_t percent);

/// Stops the process when a queue's list or size is wrong.
void lrd_order_check_queue(const lrd_order *order, int number, lrd_pool *pool);

#pragma clang assume_nonnull end
