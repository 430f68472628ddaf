// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_tiny_lfu.c — W-TinyLFU: a window, a segmented main part, and a sketch that decides
 * which entries pass from the window to the main part.
 *
 *   new key ──▶ window (LRU) ──▶ candidate against victim: the one used more often stays
 *                                       │
 *               probation (LRU) ◀───────┘   a hit: ▶ protected (LRU) ▶ its coldest: ▶ probation
 *
 * Hill climbing sets the size of the window. A sample is ten uses for each entry. After a sample
 * the size moves on in the same direction if the hit ratio rose, and back if it fell. The steps
 * shrink, and start large again when the ratio jumps. Parameters are those of Caffeine 3.2.
 *
 * INVARIANTS  queue[0] is probation, queue[1] the window, queue[2] protected. */
#include "lrd_policies.h"
#include "lrd_queues.h"
#include "lrd_sketch.h"

enum { PROBATION, WINDOW, PROTECTED };
/// The unit for parts of the cache is 1/65536.
enum {
  whole = 65536,
  first_window = whole / 100,
  window_and_protected = first_window + (whole - first_window) * 8 / 10,
  first_step = whole / 16,
};
static const double step_decay = 0.98, jump = 0.05;
/// Entries that one eviction moves between two queues, so that both soon have their new sizes.
enum { moves_most = 32 };
/// A candidate with this estimate may win by chance. An attacker who keeps the victims popular
/// therefore cannot keep it out.
enum { lucky_estimate = 6, lucky_chance = 128 };

typedef struct tiny_state {
  lrd_sketch sketch;
  uint64_t hits; // in the current sample of the climber
  uint64_t misses;
  double ratio; // of the sample before
  double step;  // added to the window after the next sample
  double window;
  uint64_t random;
  uint64_t moves; // entries that must still move to a window that has grown
  lrd_amount window_most;
  lrd_amount protected_most;
} tiny_state;

static lrd_amount part_of(lrd_amount share, double parts) {
  double count = (double)share.count * parts / whole, cost = (double)share.cost * parts / whole;
  return (lrd_amount){share.count == LRD_UNBOUNDED ? LRD_UNBOUNDED : (uint64_t)count,
                      share.cost == LRD_UNBOUNDED ? LRD_UNBOUNDED : (uint64_t)cost};
}

static uint64_t at_least_one(uint64_t bound) {
  return bound ? bound : 1;
}

static void divide(lrd_order *order) {
  tiny_state *state = order->state;
  lrd_amount window = part_of(order->share, state->window);
  state->window_most = (lrd_amount){at_least_one(window.count), at_least_one(window.cost)};
  state->protected_most = part_of(order->share, window_and_protected - state->window);
}

static void tiny_open(lrd_order *order) {
  tiny_state *state = order->state;
  state->hits = state->misses = state->moves = 0;
  state->ratio = 0;
  state->step = -first_step;
  state->window = first_window;
  divide(order);
}

static void tiny_resize(lrd_order *order) {
  divide(order);
  lrd_sketch_resize(order);
}

/// Changes the size of the window when a sample is complete.
static void climb(lrd_order *order) {
  tiny_state *state = order->state;
  uint64_t uses = state->hits + state->misses;
  uint64_t entries = lrd_order_room_percent(order, 100);
  if (!state->sketch.blocks || uses < entries * 10) return;
  double ratio = (double)state->hits / (double)uses;
  double change = ratio - state->ratio;
  double amount = change >= 0 ? state->step : -state->step;
  bool jumped = change >= jump || change <= -jump;
  state->step = jumped ? (amount >= 0 ? first_step : -first_step) : amount * step_decay;
  state->ratio = ratio;
  state->hits = state->misses = 0;
  double window = state->window + amount;
  if (window > window_and_protected) window = window_and_protected;
  if (window < 1) window = 1;
  double grown = (window - state->window) / whole * (double)entries;
  state->moves = grown > 0 ? (uint64_t)grown : 0;
  state->window = window;
  divide(order);
}

static void demote(lrd_order *order, lrd_slots slots) {
  const tiny_state *state = order->state;
  const lrd_queue *protected = &order->queue[PROTECTED];
  for (int i = 0; i < moves_most && lrd_queue_exceeds(protected, state->protected_most); i++) {
    if (protected->list.tail == LRD_NIL) return;
    order->steps++;
    lrd_order_move(order, PROBATION, slots, lrd_slots_entry(slots, protected->list.tail));
  }
}

static void tiny_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  tiny_state *state = order->state;
  lrd_order_add(order, WINDOW, lrd_pool_slots(pool), entry, id);
  order->hand = LRD_NIL;
  // Where the count limits the cache, counting starts when it is half full: no entry competes
  // before that.
  uint64_t held = lrd_order_size(order).count, entries = lrd_order_room_percent(order, 100);
  if (held >= entries / 2) lrd_sketch_demand(&state->sketch, order, entries);
  lrd_sketch_add(&state->sketch, order, entry);
  state->misses++;
  climb(order);
}

static uint32_t tiny_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  (void)evicted;
  uint32_t id = lrd_order_remove(order, lrd_pool_slots(pool), entry);
  if (order->hand == id) order->hand = LRD_NIL;
  return id;
}

static void tiny_access(lrd_order *order, lrd_pool *pool, lrd_entry *const *hits, uint32_t count) {
  tiny_state *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  for (uint32_t i = 0; i < count; i++) {
    lrd_sketch_add(&state->sketch, order, hits[i]);
    lrd_order_move(order, hits[i]->queue == WINDOW ? WINDOW : PROTECTED, slots, hits[i]);
    demote(order, slots);
  }
  state->hits += count;
  climb(order);
}

/// Moves entries until the queues have their sizes, and takes a candidate out of the window.
static void shift(lrd_order *order, lrd_slots slots) {
  tiny_state *state = order->state;
  lrd_queue *window = &order->queue[WINDOW], *probation = &order->queue[PROBATION];
  for (int i = 0; i < moves_most && state->moves; i++, state->moves--) {
    const lrd_queue *from = probation->list.tail != LRD_NIL ? probation : &order->queue[PROTECTED];
    if (from->list.tail == LRD_NIL) break;
    order->steps++;
    lrd_order_move(order, WINDOW, slots, lrd_slots_entry(slots, from->list.tail));
  }
  demote(order, slots);
  for (int i = 0; i < moves_most && lrd_queue_exceeds(window, state->window_most); i++) {
    order->steps++;
    lrd_order_move(order, PROBATION, slots, lrd_slots_entry(slots, window->list.tail));
  }
  if (order->hand == LRD_NIL && lrd_queue_reaches(window, state->window_most)) {
    order->hand = window->list.tail;
    lrd_order_move(order, PROBATION, slots, lrd_slots_entry(slots, order->hand));
  }
}

/// True when the candidate stays and the victim is evicted.
static bool admits(lrd_order *order, const lrd_entry *candidate, const lrd_entry *victim) {
  tiny_state *state = order->state;
  uint32_t candidate_uses = lrd_sketch_estimate(&state->sketch, order, candidate);
  if (candidate_uses > lrd_sketch_estimate(&state->sketch, order, victim)) return true;
  if (candidate_uses < lucky_estimate) return false;
  state->random = state->random * 6364136223846793005u + 1442695040888963407u;
  return (state->random >> 33) % lucky_chance == 0;
}

static uint32_t tiny_victim(lrd_order *order, lrd_pool *pool) {
  lrd_slots slots = lrd_pool_slots(pool);
  order->steps += 2;
  shift(order, slots);
  uint32_t victim = lrd_queues_coldest(order, pool);
  uint32_t candidate = order->hand;
  if (candidate == LRD_NIL || victim == candidate) return victim;
  bool admitted = admits(order, lrd_slots_entry(slots, candidate), lrd_slots_entry(slots, victim));
  return admitted ? victim : candidate;
}

/// Moves an entry without cost behind the entries of its queue that have a cost. If there are none,
/// moves it to the other part. In a trim the reason may be another: the entry goes behind all that
/// are protected, and the window gives its oldest, which would not be asked otherwise.
static void tiny_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_slots slots = lrd_pool_slots(pool);
  bool window = order->queue[WINDOW].size.cost != 0;
  bool probation = order->queue[PROBATION].size.cost != 0;
  bool main = probation || order->queue[PROTECTED].size.cost != 0;
  bool to_window = !order->trim && (entry->queue == WINDOW ? window : !main);
  int to_main = entry->queue == PROBATION && probation && !order->trim ? PROBATION : PROTECTED;
  if (order->hand != LRD_NIL && lrd_slots_entry(slots, order->hand) == entry) order->hand = LRD_NIL;
  lrd_order_move(order, (unsigned)(to_window ? WINDOW : to_main), slots, entry);
  uint32_t oldest = order->queue[WINDOW].list.tail;
  if (order->trim && oldest != LRD_NIL) {
    lrd_order_move(order, PROBATION, slots, lrd_slots_entry(slots, oldest));
  }
}

const lrd_policy lrd_policy_tiny_lfu = {
    .hits_most = LRD_HITS_BATCHED,
    .steps_most = 3 * moves_most + 2,
    .state_bytes = sizeof(tiny_state),
    .open = tiny_open,
    .resize = tiny_resize,
    .renewed = lrd_sketch_renewed,
    .insert = tiny_insert,
    .remove = tiny_remove,
    .access = tiny_access,
    .victim = tiny_victim,
    .pass = tiny_pass,
    .renew = lrd_queues_pass,
    LRD_POLICY_OF_QUEUES,
    .check = lrd_queues_check,
};
