// SPDX-License-Identifier: Apache-2.0
#include "lrd_adaptive.h"

/// All samples are polled while this part of the cache is inserted, or an eighth of a small cache.
/// Without polls the advisor hears of most hits from evictions alone, and too late of what favours
/// recency: a tenth of what the policy saves is lost. Half as many polls cost a hundredth.
enum { polled_part = 32 };

/// The most buckets polled in a period. In caches of some hundred entries one would not be enough,
/// and the advisor would hear of hits only after a quarter of the cache was inserted. On one trace
/// the shadow of the best expert then misses 11 points more than a cache that follows it; with four
/// polls, 1 point more.
enum { polls_most = 4 };

/// The most insertions of a period.
enum { period_most = 17 };

static bool is_bounded(const lrd_order *order) {
  return order->share.count != LRD_UNBOUNDED || order->share.cost != LRD_UNBOUNDED;
}

static uint64_t small_part(const lrd_expert *expert, uint64_t bound) {
  return bound == LRD_UNBOUNDED && !expert->clock ? bound : lrd_expert_small(expert, bound);
}

static uint64_t half(uint64_t bound) {
  return bound == LRD_UNBOUNDED ? bound : bound / 2;
}

/// True when a small queue that is too large for this expert gives to the main queue. That protects
/// entries which nobody has read, as filling does. But the cache is full, and its main queue
/// empties slowly. So demand must press. In a small cache it never does; there the demand that the
/// expert fills under is enough.
static bool may_settle(const lrd_order *order, const lrd_expert *expert) {
  lrd_advisor *advisor = order->shared;
  lrd_demand demand = lrd_advisor_hears_demand(advisor);
  bool presses = demand == LRD_DEMAND_PRESSING || lrd_advisor_is_small(advisor);
  return presses && demand >= expert->fills;
}

void lrd_adaptive_turn_to(lrd_order *order, uint32_t number) {
  lrd_adaptive *state = order->state;
  bool bounded = is_bounded(order);
  const lrd_expert *expert = &lrd_experts[bounded ? number : LRD_EXPERT_CLOCK];
  lrd_amount share = order->share;
  state->advised = number;
  state->expert = expert;
  bool holds_small = order->queue[LRD_OLD].size.count || order->queue[LRD_YOUNG].size.count;
  bool asked = lrd_advisor_threshold(order->shared) || lrd_advisor_waits(order->shared);
  state->plain = !bounded && !holds_small && !asked && !state->threshold && !state->probe_count &&
                 !state->ghosts.buckets;
  state->settles = may_settle(order, expert);
  lrd_amount small = {small_part(expert, share.count), small_part(expert, share.cost)};
  state->young = (lrd_amount){half(small.count), half(small.cost)};
  // A shard may hold more than its share. All of that is in the small queue, too.
  lrd_amount all = {LRD_UNBOUNDED, LRD_UNBOUNDED};
  state->small = expert->small == LRD_EXPERT_ALL ? all : small;
}

void lrd_adaptive_settle(lrd_order *order, lrd_slots slots) {
  lrd_adaptive *state = order->state;
  const lrd_queue *old = &order->queue[LRD_OLD], *young = &order->queue[LRD_YOUNG];
  for (int i = 0; i < LRD_AGEING_MOST && old->size.count; i++) {
    uint32_t id = lrd_parted_tail(order);
    lrd_entry *entry = lrd_slots_entry(slots, id);
    uint64_t count = old->size.count + young->size.count - 1;
    uint64_t cost = old->size.cost + young->size.cost - lrd_entry_cost(entry);
    if (count < state->small.count && cost < state->small.cost) {
      state->settles = false;
      return;
    }
    order->steps++;
    lrd_parted_promote(order, LRD_OLD, slots, entry, id);
  }
  // Under CLOCK no small queue is small enough.
  if (!old->size.count && !young->size.count) state->settles = false;
}

/// The number of entries that fill the shard's share, estimated from the costs of those it holds.
static uint64_t capacity_of(const lrd_order *order) {
  uint64_t capacity = order->share.count;
  lrd_amount size = lrd_order_size(order);
  if (order->share.cost == LRD_UNBOUNDED || !size.cost) return capacity;
  unsigned __int128 by_cost = (unsigned __int128)order->share.cost * size.count / size.cost;
  return by_cost < capacity ? (uint64_t)by_cost : capacity;
}

static bool is_far(uint64_t estimate, uint64_t capacity) {
  return estimate / 2 > capacity || estimate < capacity / 2;
}

/// The insertions of a period, at least 2. If they are enough for it, one poll in each is in time.
static uint32_t period_for(const lrd_adaptive *state) {
  if (!state->planned) return 2;
  uint64_t period = 1 + state->capacity / polled_part / (state->sample_buckets + 1);
  return period < 2 ? 2 : (uint32_t)lrd_least(period, period_most);
}

/// The polls in such a period.
static uint32_t polls_for(const lrd_adaptive *state, uint32_t period) {
  uint64_t due = (uint64_t)period * (state->sample_buckets + 1) * polled_part;
  if (due < 2 * state->capacity) return 1;
  return (uint32_t)lrd_least(due / (state->capacity + 1), polls_most);
}

/// Computes both again when what they depend on has changed.
static void set_period(lrd_adaptive *state) {
  state->period = period_for(state);
  state->polls = polls_for(state, state->period);
}

/// Tells the advisor of the capacity of a shard that is full, once in as many insertions.
static void measure(lrd_order *order, uint64_t capacity) {
  lrd_adaptive *state = order->state;
  if (!state->full_for || order->share.cost == LRD_UNBOUNDED) return;
  if (state->measured) {
    state->measured--;
    return;
  }
  state->measured = (uint32_t)lrd_least(capacity / state->period, UINT32_MAX);
  lrd_advisor_measure(order->shared, capacity);
}

void lrd_adaptive_plan_again(lrd_order *order) {
  lrd_adaptive *state = order->state;
  lrd_advisor *advisor = order->shared;
  bool exact = order->share.cost == LRD_UNBOUNDED;
  if (!is_bounded(order)) return;
  uint64_t capacity = capacity_of(order);
  if (capacity == LRD_UNBOUNDED || lrd_order_is_idle(order, capacity)) return;
  // A new start begins with new shadows, also in a cache so small that it is never idle.
  if (lrd_advisor_forgets(advisor)) return;
  if (!capacity) capacity = 1;
  if (state->planned && !is_far(capacity, state->capacity)) {
    measure(order, capacity);
    return;
  }
  state->planned = true;
  state->measured = 0;
  state->capacity = capacity;
  lrd_advisor_propose(advisor, capacity, exact);
  uint64_t whole = LRD_LOAD(&advisor->wished);
  state->ghost_buckets = lrd_ghosts_buckets(
      lrd_expert_ghosts(capacity, whole, LRD_EXPERT_GHOSTS_MOST * LRD_EXPERT_EPOCHS));
  state->sample_buckets = lrd_samples_buckets(lrd_advisor_share(advisor));
  order->history.wanted =
      lrd_ghosts_bytes(state->ghost_buckets) + state->sample_buckets * sizeof(lrd_sample_bucket);
  set_period(state);
}

void lrd_adaptive_open(lrd_order *order) {
  lrd_adaptive *state = order->state;
  lrd_samples_clear(&state->samples);
  lrd_advisor_forget(order->shared);
  state->probe_count = 0;
  state->planned = false;
  state->rest = state->upkeeps = 0;
  state->full_for = 0;
  state->advised = LRD_EXPERTS;
  set_period(state);
}

void lrd_adaptive_resize(lrd_order *order) {
  lrd_adaptive *state = order->state;
  state->planned = false;
  set_period(state);
  state->rest = state->upkeeps = 0;
  lrd_adaptive_turn_to(order, lrd_advisor_current(order->shared));
  if (!order->history.bytes && !order->history.wanted) return;
  lrd_adaptive_plan(order);
  if (!state->planned) order->history.wanted = 0;
}

void lrd_adaptive_renewed(lrd_order *order) {
  lrd_adaptive *state = order->state;
  if (!order->history.bytes) state->ghost_buckets = state->sample_buckets = 0;
  // Ghosts come first. Each of their buckets is then within one cache line.
  char *memory = order->history.memory;
  size_t ghost_bytes = lrd_ghosts_bytes(state->ghost_buckets);
  lrd_ghosts_open(&state->ghosts, (uint16_t *)memory, state->ghost_buckets,
                  lrd_expert_epoch(state->capacity));
  lrd_samples_open(&state->samples, (lrd_sample_bucket *)(memory + ghost_bytes),
                   state->sample_buckets);
  state->polled = NULL;
  set_period(state);
}
