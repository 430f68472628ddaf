// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_two_queue.c — 2Q, the full version: new entries pass through a first-in-first-out
 * queue. A key that is asked for again after it left that queue enters the main one, an exact LRU.
 *
 *   new key ──▶ A1in (25 %, hits change nothing) ──▶ evicted, ghost in A1out (50 %)
 *                                                        │ asked again
 *                                      Am (LRU) ◀────────┘
 *
 * INVARIANTS  queue[0] is A1in, queue[1] is Am, queue[2] is empty. */
#include "lrd_ghosts.h"
#include "lrd_policies.h"
#include "lrd_queues.h"

enum { IN, MAIN };
enum { in_percent = 25, out_percent = 50 };

typedef struct two_state {
  lrd_ghosts out;
  lrd_amount in_most;
} two_state;

static void two_resize(lrd_order *order) {
  two_state *state = order->state;
  state->in_most = lrd_amount_percent(order->share, in_percent);
  lrd_ghosts_resize(&state->out, order, out_percent);
}

static void two_renewed(lrd_order *order) {
  two_state *state = order->state;
  lrd_ghosts_renewed(&state->out, order);
}

static void two_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  two_state *state = order->state;
  bool known = lrd_ghosts_take(&state->out, order, entry);
  lrd_order_add(order, known ? MAIN : IN, lrd_pool_slots(pool), entry, id);
}

static uint32_t two_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  two_state *state = order->state;
  if (evicted && entry->queue == IN) {
    lrd_ghosts_add_entry(&state->out, order, entry, out_percent);
  }
  return lrd_order_remove(order, lrd_pool_slots(pool), entry);
}

static void two_access(lrd_order *order, lrd_pool *pool, lrd_entry *const *hits, uint32_t count) {
  lrd_slots slots = lrd_pool_slots(pool);
  for (uint32_t i = 0; i < count; i++) {
    if (hits[i]->queue == MAIN) lrd_order_move(order, MAIN, slots, hits[i]);
  }
}

static uint32_t two_victim(lrd_order *order, lrd_pool *pool) {
  (void)pool;
  two_state *state = order->state;
  const lrd_queue *in = &order->queue[IN], *main = &order->queue[MAIN];
  order->steps++;
  // A trim may leave a small part of the cache: A1in is not to be all of that.
  lrd_amount most = state->in_most;
  if (order->trim) most = lrd_order_held_percent(order, in_percent);
  bool from_in = lrd_queue_exceeds(in, most) || main->list.tail == LRD_NIL;
  return from_in ? in->list.tail : main->list.tail;
}

static void two_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_order_pass(order, lrd_pool_slots(pool), entry, entry->queue == MAIN ? IN : MAIN);
}

static void two_renew(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  two_access(order, pool, &entry, 1);
}

const lrd_policy lrd_policy_two_queue = {
    .hits_most = LRD_HITS_BATCHED,
    .steps_most = 1,
    .state_bytes = sizeof(two_state),
    .resize = two_resize,
    .renewed = two_renewed,
    .insert = two_insert,
    .remove = two_remove,
    .access = two_access,
    .victim = two_victim,
    .pass = two_pass,
    .renew = two_renew,
    LRD_POLICY_OF_QUEUES,
    .check = lrd_queues_check,
};
