// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_adaptive.c — follows the expert that would have missed least lately: see lrd_expert.h
 * for the rules, lrd_advisor.h for the choice.
 *
 *   queue[OLD], queue[YOUNG]   the small queue, older half first
 *   queue[MAIN]                the main queue
 *   history                    [ remnants of evicted keys | sampled entries ]
 *
 * A change of expert moves nothing: the next victims and insertions follow the new targets, and the
 * queues drift there. The rules are those of lrd_shadow.c, so that a shadow of full capacity hits
 * and misses exactly as a cache of one shard that follows its expert; a test holds the two
 * together.
 *
 * COSTS. Where the cost limit binds, the small queue and its halves are measured in cost. Ghosts
 * and shadows count keys: capacities in entries are estimated from what the shard holds, and
 * estimated anew when they turn out wrong by a factor of two.
 *
 * NO LIMIT. Nothing is learned: entries form one clock, in whose order trims evict.
 *
 * MEMORY beyond the header of an entry: 6 bytes of remnants for each entry of capacity, up
 * to 0.7 of samples, and shadows (lrd_advisor.h); nothing before the cache is a sixteenth full. */
#include "lrd_adaptive.h"

/// Sampled entries looked at in an insertion, in 256ths: all of them, while a 32nd of the cache is
/// inserted, but two at most. Without such looks, hits that only scans come by tell the advisor too
/// late what favours recency: 0.005 more are missed there. With twice as many it is no better.
static uint32_t looks_for(uint32_t threshold) {
  uint32_t looks = (uint32_t)((uint64_t)threshold * 32 * 256 >> 32);
  return looks < 512 ? looks : 512;
}

static uint64_t small_part(const lrd_expert *expert, uint64_t bound) {
  return bound == LRD_UNBOUNDED && !expert->clock ? bound : lrd_expert_small(expert, bound);
}

static uint64_t half(uint64_t bound) {
  return bound == LRD_UNBOUNDED ? bound : bound / 2;
}

/// Computes the targets for another expert, or for other limits.
static const lrd_expert *turn_to(lrd_order *order, uint32_t number) {
  adaptive *state = order->state;
  const lrd_expert *expert = &lrd_experts[number];
  state->expert = number;
  state->stale = false;
  state->small =
      (lrd_amount){small_part(expert, order->share.count), small_part(expert, order->share.cost)};
  state->young = (lrd_amount){half(state->small.count), half(state->small.cost)};
  return expert;
}

/// The expert to follow; computes the targets when it is another one than before.
static inline const lrd_expert *follow(lrd_order *order) {
  const adaptive *state = order->state;
  uint32_t number =
      lrd_adaptive_bounded(order) ? lrd_advisor_current(order->shared) : LRD_EXPERT_CLOCK;
  if (LRD_UNLIKELY(number != state->expert || state->stale)) return turn_to(order, number);
  return &lrd_experts[number];
}

static bool small_is_full(const lrd_order *order) {
  const adaptive *state = order->state;
  lrd_amount size = lrd_adaptive_size(order, OLD, YOUNG);
  return size.count >= state->small.count || size.cost >= state->small.cost;
}

static bool is_sampled(const lrd_order *order, uint64_t scrambled) {
  const adaptive *state = order->state;
  return (uint32_t)scrambled < state->threshold;
}

/// Goes over to the advisor's sample when it has another one.
static void follow_sample(lrd_order *order) {
  adaptive *state = order->state;
  uint32_t threshold = lrd_advisor_threshold(order->shared);
  if (LRD_LIKELY(threshold == state->threshold)) return;
  state->threshold = threshold;
  state->looks = looks_for(threshold);
  lrd_samples_clear(&state->samples);
}

/// Sends a sampled request on its way, unless the one before cannot be brought to its end.
static void send(lrd_order *order, uint64_t scrambled, bool missed) {
  adaptive *state = order->state;
  lrd_advisor_ask(order->shared, &state->note, LRD_EXPERTS);
  if (state->note.next == LRD_EXPERTS) {
    state->note = (lrd_note){.scrambled = scrambled, .missed = missed};
  }
}

/// What an entry's hits come to.
typedef struct verdict {
  lrd_sample sample;
  uint32_t credit;
} verdict;

/// Adds up the hits on an entry, and tells the advisor of those it has not heard of.
static verdict judge(lrd_order *order, const lrd_entry *entry, uint32_t id) {
  const adaptive *state = order->state;
  uint32_t bits = lrd_entry_bits(entry);
  uint64_t scrambled = lrd_scramble(lrd_entry_hash48(entry));
  verdict found = {.credit = bits};
  if (!is_sampled(order, scrambled)) return found;
  found.sample = lrd_samples_find(&state->samples, id);
  found.credit += lrd_sample_credit(found.sample);
  if (found.credit > LRD_CREDIT_MOST) found.credit = LRD_CREDIT_MOST;
  if (bits) send(order, scrambled, false);
  return found;
}

/// Leaves an entry with this credit.
static void settle(lrd_entry *entry, lrd_sample sample, uint32_t credit) {
  lrd_sample_set_credit(sample, credit);
  lrd_entry_set_bits(entry, sample.bucket ? 0 : (uint8_t)credit);
}

/// The youngest entries of the younger half that no longer belong there grow old, without credit.
static void age(lrd_order *order, lrd_slots slots) {
  const adaptive *state = order->state;
  for (int i = 0; i < LRD_AGEING_MOST; i++) {
    if (!lrd_queue_exceeds(&order->queue[YOUNG], state->young)) return;
    uint32_t id = order->queue[YOUNG].list.tail;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    settle(entry, judge(order, entry, id).sample, 0);
    lrd_order_move(order, OLD, slots, entry);
  }
}

/// Looks at the sampled entry that was foreseen, if it is still here, and foresees another.
static void look_around(lrd_order *order, lrd_slots slots) {
  adaptive *state = order->state;
  for (state->looks_due += state->looks; state->looks_due >= 256; state->looks_due -= 256) {
    if (lrd_samples_hold(&state->samples, state->foreseen, state->foreseen_id)) {
      lrd_entry *entry = lrd_slots_entry(slots, state->foreseen_id);
      if (lrd_entry_bits(entry)) {
        settle(entry, state->foreseen, judge(order, entry, state->foreseen_id).credit);
      }
    }
    state->foreseen_id = lrd_samples_next(&state->samples, &state->foreseen);
    if (state->foreseen_id == LRD_NIL) {
      state->foreseen.bucket = NULL;
    } else {
      LRD_PREFETCH(lrd_slots_entry(slots, state->foreseen_id));
    }
  }
}

static void adaptive_open(lrd_order *order) {
  adaptive *state = order->state;
  lrd_samples_clear(&state->samples);
  state->note.next = LRD_EXPERTS;
  state->stale = true;
  state->evicted = false;
}

static void adaptive_resize(lrd_order *order) {
  adaptive *state = order->state;
  state->stale = true;
  state->planned = 0;
}

/// True when the shard holds so little that an insertion without eviction means a filling cache,
/// and not only that the costs left a gap.
static bool is_filling(const lrd_order *order) {
  const adaptive *state = order->state;
  uint64_t full = order->share.cost;
  return !state->evicted && (full == LRD_UNBOUNDED ||
                             lrd_adaptive_size(order, OLD, MAIN).cost < full - full / idle_part);
}

/// The queue for a new entry. Those that fill the cache beyond the small queue go to the main
/// queue: it would otherwise start out empty, and the small queue be the whole cache.
static int queue_for(lrd_order *order, uint64_t scrambled) {
  adaptive *state = order->state;
  const lrd_expert *expert = follow(order);
  lrd_recall recall =
      lrd_remnants_recall(&state->remnants, scrambled, expert->ghosts, expert->twice);
  bool proven = recall == LRD_MET || (recall == LRD_ONCE && !expert->twice);
  bool filler = is_filling(order) && small_is_full(order);
  return expert->clock || proven || filler ? MAIN : YOUNG;
}

static void adaptive_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  adaptive *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  uint64_t scrambled = lrd_scramble(lrd_entry_hash48(entry));
  follow_sample(order);
  lrd_order_add(order, (unsigned)queue_for(order, scrambled), slots, entry, id);
  state->evicted = false;
  age(order, slots);
  if (is_sampled(order, scrambled)) {
    lrd_samples_add(&state->samples, id);
    send(order, scrambled, true);
  }
  look_around(order, slots);
  lrd_advisor_ask(order->shared, &state->note, 1);
  lrd_adaptive_plan(order);
  order->adjust = lrd_advisor_waits(order->shared);
}

static uint32_t adaptive_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  adaptive *state = order->state;
  uint64_t scrambled = lrd_scramble(lrd_entry_hash48(entry));
  if (evicted) {
    state->evicted = true;
    if (entry->queue != MAIN) lrd_remnants_add(&state->remnants, scrambled);
  }
  uint32_t id = lrd_order_remove(order, lrd_pool_slots(pool), entry);
  if (is_sampled(order, scrambled)) lrd_samples_remove(&state->samples, id);
  return id;
}

static uint32_t adaptive_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                                 uint32_t id) {
  adaptive *state = order->state;
  uint32_t old_id = lrd_queues_replace(order, pool, old, entry, id);
  lrd_sample sample = lrd_samples_find(&state->samples, old_id);
  if (sample.bucket) {
    uint32_t credit = lrd_sample_credit(sample);
    lrd_samples_remove(&state->samples, old_id);
    lrd_samples_add(&state->samples, id);
    lrd_sample moved = lrd_samples_find(&state->samples, id);
    lrd_sample_set_credit(moved, credit);
    // A full bucket keeps no credit: then the entry itself does.
    credit += lrd_entry_bits(entry);
    if (!moved.bucket)
      lrd_entry_set_bits(entry, (uint8_t)(credit < LRD_CREDIT_MOST ? credit : LRD_CREDIT_MOST));
  }
  return old_id;
}

/// The queue to take the next victim from; empty when there is none.
static int losing_queue(const lrd_order *order) {
  bool main = order->queue[MAIN].list.tail != LRD_NIL;
  int number = order->queue[OLD].list.tail != LRD_NIL ? OLD : YOUNG;
  bool small = order->queue[number].list.tail != LRD_NIL;
  return small && (!main || small_is_full(order)) ? number : MAIN;
}

static uint32_t adaptive_foresee(const lrd_order *order, lrd_pool *pool, uint64_t place) {
  const adaptive *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  lrd_remnants_foresee(&state->remnants, lrd_scramble(place));
  lrd_order_foresee(slots, order->queue[YOUNG].list.tail);
  int number = losing_queue(order);
  uint32_t id = order->queue[number].list.tail;
  lrd_order_foresee(slots, id);
  if (id != LRD_NIL && number != MAIN) {
    uint64_t scrambled = lrd_scramble(lrd_entry_hash48(lrd_slots_entry(slots, id)));
    lrd_remnants_foresee(&state->remnants, scrambled);
  }
  return id;
}

static uint32_t adaptive_victim(lrd_order *order, lrd_pool *pool) {
  adaptive *state = order->state;
  const lrd_expert *expert = follow(order);
  lrd_slots slots = lrd_pool_slots(pool);
  for (int left = LRD_VICTIM_STEPS;; left--) {
    int number = losing_queue(order);
    uint32_t id = order->queue[number].list.tail;
    if (id == LRD_NIL) return LRD_NIL;
    lrd_entry *entry = lrd_slots_entry(slots, id);
    order->steps++;
    verdict verdict = judge(order, entry, id);
    bool stays =
        number == MAIN ? verdict.credit > 0 : lrd_expert_promotes(number == YOUNG, verdict.credit);
    if (!stays || left == 1) return id;
    settle(entry, verdict.sample, number == MAIN ? lrd_expert_round(expert, verdict.credit) : 0);
    lrd_order_move(order, MAIN, slots, entry);
    // What it was met for is done with: evicted from the main queue it begins anew.
    if (number != MAIN && expert->twice) {
      uint64_t scrambled = lrd_scramble(lrd_entry_hash48(entry));
      lrd_remnants_recall(&state->remnants, scrambled, expert->ghosts, false);
    }
  }
}

/// Stays in its part behind what costs something there; else it goes to the other part.
static void adaptive_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  bool costly = entry->queue == MAIN ? order->queue[MAIN].size.cost != 0
                                     : lrd_adaptive_size(order, OLD, YOUNG).cost != 0;
  bool to_main = (entry->queue == MAIN) == costly;
  lrd_order_move(order, to_main ? MAIN : YOUNG, lrd_pool_slots(pool), entry);
}

static bool adaptive_create(void **shared, lrd_amount limits, uint32_t shards) {
  (void)limits;
  *shared = lrd_advisor_create(shards);
  return *shared;
}

static void adaptive_destroy(void *shared) {
  lrd_advisor_destroy(shared);
}

static size_t adaptive_shared_bytes(void *shared) {
  return lrd_advisor_bytes(shared);
}

static void adaptive_adjust(void *shared, lrd_amount limits, uint32_t shards) {
  (void)limits;
  (void)shards;
  lrd_advisor_adjust(shared);
}

static void adaptive_check(const lrd_order *order, lrd_pool *pool) {
  const adaptive *state = order->state;
  lrd_queues_check(order, pool);
  for (uint32_t i = 0; i < state->samples.count; i++) {
    const lrd_sample_bucket *bucket = &state->samples.buckets[i];
    for (int j = 0; bucket->turn == state->samples.turn && j < LRD_SAMPLES_BUCKET; j++) {
      if (!bucket->id[j]) continue;
      const lrd_entry *entry = lrd_pool_entry(pool, bucket->id[j] - 1);
      LRD_CHECK(entry->state == LRD_ENTRY_LINKED);
    }
  }
}

static const lrd_policy adaptive_policy = {
    .name = "adaptive",
    .hits_most = LRD_CREDIT_MOST,
    .steps_most = LRD_VICTIM_STEPS,
    .divisible = true,
    .state_bytes = sizeof(adaptive),
    .create = adaptive_create,
    .destroy = adaptive_destroy,
    .shared_bytes = adaptive_shared_bytes,
    .adjust = adaptive_adjust,
    .open = adaptive_open,
    .resize = adaptive_resize,
    .renewed = lrd_adaptive_renewed,
    .insert = adaptive_insert,
    .remove = adaptive_remove,
    .victim = adaptive_victim,
    .pass = adaptive_pass,
    .foresee = adaptive_foresee,
    .replace = adaptive_replace,
    .drain = lrd_queues_drain,
    .hottest = lrd_queues_hottest,
    .coldest = lrd_queues_coldest,
    .colder = lrd_queues_colder,
    .hotter = lrd_queues_hotter,
    .check = adaptive_check,
};

const lrd_policy *lrd_policy_adaptive(void) {
  return &adaptive_policy;
}
