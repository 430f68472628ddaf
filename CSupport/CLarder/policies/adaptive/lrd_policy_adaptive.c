// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_adaptive.c — follows the expert that would have missed least lately. lrd_expert.h has
 * the rules of the experts, and lrd_advisor.h the choice among them.
 *
 *   queue     the small queue, old and young, and the main queue: lrd_parted.h
 *   history   [ ghosts | sampled entries ]
 *
 * AN EVICTION
 *   1. Settles, if there was demand enough for that when the targets changed last (`settles`):
 *      moves up to LRD_AGEING_MOST of the oldest entries of a small queue that is too large to the
 *      main queue.
 *   2. Looks at the coldest entry of the small queue if that has its share or the main queue is
 *      empty, otherwise at the coldest of the main queue.
 *   3. An entry with hits enough moves from the small queue to the hot end of the main queue, or
 *      goes round the main queue once more, with fewer hits. Then step 2 again; the last of
 *      LRD_EXPERT_STEPS entries may not stay. Any other entry is the victim. (Those that move from
 *      the small queue one after the other are neighbours there and here, and move together.)
 *   4. A victim of the small queue leaves a ghost.
 *   5. The front hand of the main queue goes ahead (lrd_front.h).
 *
 * AN INSERTION is in lrd_adaptive_insert.h.
 *
 * A change of expert moves no entry at once. The next victims and insertions follow the new
 * targets, and the queues drift there. lrd_shadow.c has the same rules: a shadow of full capacity
 * hits and misses like a cache of one shard that follows its expert, exactly so under CLOCK if the
 * main queue is too small for the front hand. Ghosts fall off by chance, and the front hand gives
 * some second chances earlier; both make a small difference. A test compares the two.
 *
 * COSTS. Where the cost limit binds, the small queue and its halves are measured in cost. Ghosts
 * and shadows count keys. Their capacities in entries are estimated from what the shard holds: that
 * of ghosts again when it turns out wrong by a factor of two, that of shadows once in a while
 * (lrd_advisor.h).
 *
 * NO LIMIT. The entries form one clock, whatever the advisor says, and where there never was a limit
 * nothing is learned. What trims evict is in lrd_adaptive_trim.h.
 *
 * MEMORY beyond the header of an entry: 4 bytes of ghosts for each entry of capacity, unless there
 * are fewer than LRD_EXPERT_TINY; samples of 2.6 KB from 256 entries on, in one shard, and of 0.08
 * to 0.16 bytes for each entry from 16,384 on; and the shadows (lrd_advisor.h). An idle cache has
 * none of it. */
#include "../lrd_queues.h"
#include "lrd_adaptive_insert.h"
#include "lrd_adaptive_trim.h"
#include "lrd_front.h"
#include "lrd_sampling.h"

/// The periods of upkeep after an eviction for which the shard counts as full. Evictions may come
/// several at once, before the insertions that need them.
enum { full_after_eviction = 16 };

static uint32_t adaptive_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  lrd_adaptive *state = order->state;
  uint64_t hash48 = lrd_entry_hash48_locked(entry);
  if (evicted) {
    state->full_for = full_after_eviction;
    if (entry->queue != LRD_MAIN) lrd_ghosts_add(&state->ghosts, hash48, 1);
  }
  uint32_t id = lrd_parted_remove(order, lrd_pool_slots(pool), entry);
  if (LRD_UNLIKELY(lrd_sampling_hears(state, hash48))) {
    lrd_samples_remove(&state->samples, id);
    if (!evicted) lrd_sampling_tell(order, lrd_hash_mix(hash48), LRD_HEARD_REMOVAL, 0);
  }
  if (evicted && !order->trim && (entry->queue == LRD_MAIN || state->goes)) {
    lrd_front_advance(order, lrd_pool_slots(pool), entry->queue == LRD_MAIN);
  }
  return id;
}

static void adaptive_prefetch(const lrd_order *order, lrd_pool *pool, uint64_t hash48) {
  const lrd_ghosts *ghosts = &((const lrd_adaptive *)order->state)->ghosts;
  lrd_slots slots = lrd_pool_slots(pool);
  lrd_ghosts_prefetch(ghosts, hash48);
  // The headers of these two were asked for by earlier evictions and insertions.
  uint32_t tail = lrd_parted_tail(order), hand = order->hand;
  if (tail != LRD_NIL) {
    lrd_ghosts_prefetch(ghosts, lrd_entry_hash48_locked(lrd_slots_entry(slots, tail)));
  }
  if (hand != LRD_NIL) lrd_order_prefetch(slots, lrd_slots_entry(slots, hand), 1);
}

/// The coldest entry of the small queue if that has its share or the main queue is empty, otherwise
/// that of the main queue: its slot id, or LRD_NIL. `*small`: which of them it is.
LRD_INLINE uint32_t candidate(const lrd_order *order, const lrd_adaptive *state, bool *small) {
  uint32_t id = lrd_parted_tail(order);
  *small = id != LRD_NIL;
  if (LRD_LIKELY(*small && lrd_adaptive_small_is_full(order, state))) return id;
  uint32_t main = order->queue[LRD_MAIN].list.tail;
  if (main == LRD_NIL) return id;
  *small = false;
  return main;
}

/// Looks at the coldest entries of the small queue, which is next, until one is to be evicted:
/// returns its slot id. Those with hits enough move to the main queue, all at once. LRD_NIL when
/// the small queue no longer is next. The entry of step `end` may not move.
static __attribute__((noinline)) uint32_t search_small(lrd_order *order, const lrd_adaptive *state,
                                                       lrd_slots slots, uint32_t end) {
  uint64_t young = order->queue[LRD_YOUNG].size.count;
  uint64_t before = order->queue[LRD_OLD].size.count + young, small = before;
  uint64_t last = small + 1 - (end - order->steps);
  uint32_t id = lrd_parted_tail(order), victim;
  do {
    lrd_entry *entry = lrd_slots_entry(slots, id);
    LRD_KEEP(entry);
    victim = id;
    uint32_t hits = lrd_entry_bits(entry);
    if (!hits) break;
    LRD_KEEP(entry); // otherwise the address of its hits takes another register
    if (order->ahead) lrd_order_prefetch(slots, entry, LRD_AHEAD);
    lrd_sampling_set_hits(order, state, entry, id, hits, 0);
    if (small == last || !lrd_expert_promotes(small <= young, hits)) break;
    lrd_parted_join_main(order, entry);
    small--;
    id = entry->prev;
    victim = LRD_NIL;
  } while (id != LRD_NIL && lrd_adaptive_reaches(order, state, small));
  order->steps += (uint32_t)(before - small) + (victim != LRD_NIL);
  if (small != before) lrd_parted_promote_run(order, slots, before - small, id);
  return victim;
}

/// Lets the coldest entry of the main queue go round once more if it has hits. False if it is to be
/// evicted. `last`: it may not stay.
LRD_INLINE bool goes_round(lrd_order *order, const lrd_adaptive *state, lrd_slots slots,
                           uint32_t id, bool last) {
  lrd_entry *entry = lrd_slots_entry(slots, id);
  uint32_t hits = lrd_entry_bits(entry);
  if (!hits) return false;
  if (order->ahead) lrd_order_prefetch(slots, entry, LRD_AHEAD);
  uint32_t kept = last ? 0 : lrd_expert_round(state->expert, lrd_credit(hits));
  lrd_sampling_set_hits(order, state, entry, id, hits, kept);
  if (!last) lrd_parted_promote(order, LRD_MAIN, slots, entry, id);
  return !last;
}

/// The entry to evict next, where the first one to look at, in slot `id`, has hits. There is one:
/// a search empties no order. `small`: that one is in the small queue.
static __attribute__((noinline)) uint32_t search(lrd_order *order, const lrd_adaptive *state,
                                                 lrd_slots slots, uint32_t id, bool small) {
  uint32_t end = order->steps + LRD_EXPERT_STEPS;
  _Static_assert(LRD_AGEING_MOST + LRD_EXPERT_STEPS + LRD_FRONT_STEPS == LRD_VICTIM_STEPS,
                 "with those that settle, and those that the front hand passes");
  for (;; id = candidate(order, state, &small)) {
    if (small) {
      id = search_small(order, state, slots, end);
      if (id != LRD_NIL) return id;
    } else {
      order->steps++;
      if (!goes_round(order, state, slots, id, order->steps == end)) return id;
    }
  }
}

/// The entry to evict next: `*victim`, in the slot of the id returned; LRD_NIL when there is none.
LRD_INLINE uint32_t choose(lrd_order *order, const lrd_adaptive *state, lrd_slots slots,
                           lrd_entry **victim) {
  if (LRD_UNLIKELY(state->settles)) lrd_adaptive_settle(order, slots);
  bool small;
  uint32_t id = candidate(order, state, &small);
  if (id == LRD_NIL) return id;
  *victim = lrd_slots_entry(slots, id);
  // Most victims were not hit, and nobody hears of them.
  if (LRD_LIKELY(!lrd_entry_bits(*victim))) {
    order->steps++;
    return id;
  }
  id = search(order, state, slots, id, small);
  *victim = lrd_slots_entry(slots, id);
  return id;
}

static uint32_t adaptive_victim(lrd_order *order, lrd_pool *pool) {
  if (order->trim) return lrd_adaptive_trim(order, lrd_pool_slots(pool));
  lrd_entry *victim;
  return choose(order, order->state, lrd_pool_slots(pool), &victim);
}

static uint32_t adaptive_exchange(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  lrd_slots slots = lrd_pool_slots(pool);
  lrd_adaptive *state = order->state;
  lrd_entry *victim;
  uint32_t gone = choose(order, state, slots, &victim);
  if (gone == LRD_NIL) return LRD_NIL;
  uint64_t hash48 = lrd_entry_hash48_locked(victim);
  state->full_for = full_after_eviction;
  // Written twice, so that the compiler knows the queue in each.
  if (victim->queue == LRD_MAIN) {
    lrd_parted_remove_coldest(order, LRD_MAIN, slots, victim, gone);
    lrd_front_advance(order, slots, true);
  } else {
    lrd_parted_remove_coldest(order, LRD_OLD, slots, victim, gone);
    lrd_ghosts_add(&state->ghosts, hash48, 1);
    if (LRD_UNLIKELY(state->goes)) lrd_front_advance(order, slots, false);
  }
  if (LRD_UNLIKELY(lrd_sampling_hears(state, hash48))) {
    lrd_samples_remove(&state->samples, gone);
  }
  lrd_adaptive_admit(order, state, slots, entry, id, true);
  return gone;
}

/// Moves an entry without cost behind those of its part that have a cost. If there are none, moves
/// it to the other part.
static void adaptive_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_slots slots = lrd_pool_slots(pool);
  if (order->trim) {
    lrd_adaptive_trim_pass(order, slots, entry);
    return;
  }
  lrd_adaptive *state = order->state;
  uint64_t main = order->queue[LRD_MAIN].size.cost;
  bool costly = entry->queue == LRD_MAIN ? main : lrd_order_size(order).cost != main;
  bool to_main = (entry->queue == LRD_MAIN) == costly;
  if (!to_main) state->plain = false;
  uint32_t id = lrd_parted_remove(order, slots, entry);
  if (to_main) {
    lrd_order_add(order, LRD_MAIN, slots, entry, id);
  } else {
    entry->queue = LRD_OLD;
    lrd_parted_add_young(order, slots, entry, id);
  }
}

static const _Atomic(uint32_t) *adaptive_listens(void *shared) {
  lrd_advisor *advisor = shared;
  return &advisor->threshold;
}

static bool adaptive_create(void **shared, uint32_t shards) {
  *shared = lrd_advisor_create(shards);
  return *shared;
}

static void adaptive_check(const lrd_order *order, lrd_pool *pool) {
  lrd_parted_check(order, pool);
  lrd_sampling_check(order, pool);
}

const lrd_policy lrd_policy_adaptive = {
    .hits_most = LRD_HITS_MOST,
    .steps_most = LRD_VICTIM_STEPS,
    .divisible = true,
    .state_bytes = sizeof(lrd_adaptive),
    .create = adaptive_create,
    .destroy = lrd_advisor_destroy,
    .shared_bytes = lrd_advisor_bytes,
    .adjust = lrd_advisor_adjust,
    .open = lrd_adaptive_open,
    .resize = lrd_adaptive_resize,
    .listens = adaptive_listens,
    .missed = lrd_sampling_missed,
    .removed = lrd_sampling_removed,
    .renewed = lrd_adaptive_renewed,
    .insert = lrd_adaptive_insert,
    .remove = adaptive_remove,
    .victim = adaptive_victim,
    .exchange = adaptive_exchange,
    .pass = adaptive_pass,
    .prefetch = adaptive_prefetch,
    .replace = lrd_sampling_replace,
    .move = lrd_sampling_move,
    .drain = lrd_parted_drain,
    .hottest = lrd_queues_hottest,
    .coldest = lrd_queues_coldest,
    .colder = lrd_parted_colder,
    .hotter = lrd_queues_hotter,
    .check = adaptive_check,
};
