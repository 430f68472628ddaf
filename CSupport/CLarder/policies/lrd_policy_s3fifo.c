// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_s3fifo.c — S3-FIFO: new entries must pass through a small queue to reach the main one.
 * Ghosts remember the keys that did not.
 *
 *   new key ──▶ small (10 %) ── 2 hits or more ──▶ main (90 %) ──▶ a hit: again to main's front
 *                  │ fewer                            ▲    │ none: evicted
 *                  └▶ evicted, ghost ── asked again ──┘    └▶
 *
 * While the cache fills up, at first and after it was empty, entries that exceed the small queue's
 * share go to the main queue.
 *
 * INVARIANTS  queue[0] is small, queue[1] is main, queue[2] is empty. */
#include "lrd_ghosts.h"
#include "lrd_policies.h"
#include "lrd_queues.h"

enum { SMALL, MAIN };
enum { small_percent = 10, ghost_percent = 90, hits_to_main = 2 };

typedef struct s3_state {
  lrd_ghosts ghosts;
  lrd_amount small_most;
  lrd_amount main_most;
  bool evicted; // an entry was evicted since the order was last empty
} s3_state;

static uint64_t rest_of(uint64_t bound, uint64_t part) {
  return bound == LRD_UNBOUNDED ? bound : bound - part;
}

static void s3_open(lrd_order *order) {
  s3_state *state = order->state;
  state->evicted = false;
}

static void s3_resize(lrd_order *order) {
  s3_state *state = order->state;
  state->small_most = lrd_amount_percent(order->share, small_percent);
  state->main_most = (lrd_amount){rest_of(order->share.count, state->small_most.count),
                                  rest_of(order->share.cost, state->small_most.cost)};
  lrd_ghosts_resize(&state->ghosts, order, ghost_percent);
}

static void s3_renewed(lrd_order *order) {
  s3_state *state = order->state;
  lrd_ghosts_renewed(&state->ghosts, order);
}

static void s3_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  s3_state *state = order->state;
  bool known = lrd_ghosts_take(&state->ghosts, order, entry);
  if (!lrd_order_size(order).count) state->evicted = false;
  bool filling = !state->evicted && lrd_queue_reaches(&order->queue[SMALL], state->small_most);
  lrd_order_add(order, known || filling ? MAIN : SMALL, lrd_pool_slots(pool), entry, id);
}

static uint32_t s3_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  s3_state *state = order->state;
  if (evicted && entry->queue == SMALL) {
    lrd_ghosts_add_entry(&state->ghosts, order, entry, ghost_percent);
  }
  state->evicted |= evicted;
  return lrd_order_remove(order, lrd_pool_slots(pool), entry);
}

static uint32_t s3_victim(lrd_order *order, lrd_pool *pool) {
  s3_state *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  lrd_queue *small = &order->queue[SMALL], *main = &order->queue[MAIN];
  bool from_main = lrd_queue_exceeds(main, state->main_most);
  for (int steps = 1;; steps++) {
    if (small->list.tail == LRD_NIL) from_main = true;
    if (main->list.tail == LRD_NIL) from_main = false;
    uint32_t id = from_main ? main->list.tail : small->list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint8_t hits = lrd_entry_bits(entry);
    order->steps++;
    if (hits < (from_main ? 1 : hits_to_main) || steps == LRD_VICTIM_STEPS) return id;
    lrd_entry_set_bits(entry, from_main ? hits - 1 : 0);
    lrd_order_move(order, MAIN, slots, entry);
  }
}

static void s3_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_order_pass(order, lrd_pool_slots(pool), entry, entry->queue == MAIN ? SMALL : MAIN);
}

static void s3_check(const lrd_order *order, lrd_pool *pool) {
  lrd_queues_check(order, pool);
  LRD_CHECK(order->queue[2].size.count == 0);
}

const lrd_policy lrd_policy_s3fifo = {
    .hits_most = 3,
    .state_bytes = sizeof(s3_state),
    .open = s3_open,
    .resize = s3_resize,
    .renewed = s3_renewed,
    .steps_most = LRD_VICTIM_STEPS,
    .insert = s3_insert,
    .remove = s3_remove,
    .victim = s3_victim,
    .pass = s3_pass,
    LRD_POLICY_OF_QUEUES,
    .check = s3_check,
};
