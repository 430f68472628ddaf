// SPDX-License-Identifier: Apache-2.0
/* lrd_policy_lfu.c — one list ordered by the number of uses, and among equals by the last use.
 *
 *   coldest ─ 1 use: oldest … newest ─ 2 uses: oldest … newest ─ … ─ hottest
 *
 * `newest[u]` is the hottest entry with u uses. An entry that is used once more moves behind the
 * newest of its new number. A bitmap marks the numbers that occur, so this takes O(1). Numbers end
 * at USES_MOST. Entries used more often than that are ordered by their last use, as in LRU.
 *
 * INVARIANTS  An entry's policy_bits are its uses. Along the list they never fall towards the hot
 *             end. newest[u] is LRD_NIL, and u unmarked, exactly when no entry has u uses. */
#include "lrd_policies.h"
#include "lrd_queues.h"

enum { USES_MOST = 255, WORDS = (USES_MOST + 1) / 64 };

typedef struct lfu_state {
  uint64_t marks[WORDS];
  uint32_t newest[USES_MOST + 1];
} lfu_state;

static void lfu_open(lrd_order *order) {
  lfu_state *state = order->state;
  for (int i = 0; i < WORDS; i++) state->marks[i] = 0;
  for (int i = 0; i <= USES_MOST; i++) state->newest[i] = LRD_NIL;
}

static void set_newest(lfu_state *state, uint32_t uses, uint32_t id) {
  state->newest[uses] = id;
  uint64_t bit = (uint64_t)1 << uses % 64;
  if (id == LRD_NIL) {
    state->marks[uses / 64] &= ~bit;
  } else {
    state->marks[uses / 64] |= bit;
  }
}

/// The hottest entry with at most `uses` uses; LRD_NIL when there is none.
static uint32_t newest_up_to(const lfu_state *state, uint32_t uses) {
  uint64_t marks = state->marks[uses / 64] << (63 - uses % 64);
  if (marks) return state->newest[uses - (uint32_t)__builtin_clzll(marks)];
  for (uint32_t word = uses / 64; word--;) {
    marks = state->marks[word];
    if (marks) return state->newest[word * 64 + 63 - (uint32_t)__builtin_clzll(marks)];
  }
  return LRD_NIL;
}

/// Links an entry as the newest of those with `uses` uses.
static void link(lrd_order *order, lrd_slots slots, lrd_entry *entry, uint32_t id, uint8_t uses) {
  lfu_state *state = order->state;
  lrd_entry_set_bits(entry, uses);
  lrd_order_add_after(order, 0, slots, newest_up_to(state, uses), entry, id);
  set_newest(state, uses, id);
}

static uint32_t unlink(lrd_order *order, lrd_slots slots, lrd_entry *entry) {
  lfu_state *state = order->state;
  uint8_t uses = lrd_entry_bits(entry);
  uint32_t colder = entry->next;
  uint32_t id = lrd_order_remove(order, slots, entry);
  if (state->newest[uses] == id) {
    bool more = colder != LRD_NIL && lrd_entry_bits(lrd_slots_entry(slots, colder)) == uses;
    set_newest(state, uses, more ? colder : LRD_NIL);
  }
  return id;
}

static void lfu_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  link(order, lrd_pool_slots(pool), entry, id, 1);
}

static uint32_t lfu_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted) {
  (void)evicted;
  return unlink(order, lrd_pool_slots(pool), entry);
}

static uint32_t lfu_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id) {
  lfu_state *state = order->state;
  uint32_t old_id = lrd_queues_replace(order, pool, old, entry, id);
  uint8_t uses = lrd_entry_bits(entry);
  if (state->newest[uses] == old_id) state->newest[uses] = id;
  return old_id;
}

static void lfu_access(lrd_order *order, lrd_pool *pool, lrd_entry *const *hits, uint32_t count) {
  lrd_slots slots = lrd_pool_slots(pool);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t uses = lrd_entry_bits(hits[i]);
    uint32_t id = unlink(order, slots, hits[i]);
    link(order, slots, hits[i], id, uses < USES_MOST ? uses + 1 : uses);
  }
}

/// Gives the entry the next larger number of uses that occurs. All entries with its former number
/// are then evicted before it. In a trim gives it the largest: it may be passed over for another
/// reason than cost, and others with more uses are to go first.
static void lfu_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  const lfu_state *state = order->state;
  lrd_slots slots = lrd_pool_slots(pool);
  uint8_t uses = lrd_entry_bits(entry);
  uint32_t hotter = lrd_slots_entry(slots, state->newest[uses])->prev;
  if (order->trim) hotter = order->queue[0].list.head;
  if (hotter != LRD_NIL) uses = lrd_entry_bits(lrd_slots_entry(slots, hotter));
  uint32_t id = unlink(order, slots, entry);
  link(order, slots, entry, id, uses);
}

static void lfu_renew(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_slots slots = lrd_pool_slots(pool);
  uint8_t uses = lrd_entry_bits(entry);
  uint32_t id = unlink(order, slots, entry);
  link(order, slots, entry, id, uses);
}

static void lfu_check(const lrd_order *order, lrd_pool *pool) {
  lrd_queues_check(order, pool);
  const lfu_state *state = order->state;
  uint32_t hotter = USES_MOST + 1, numbers = 0;
  for (uint32_t id = order->queue[0].list.head; id != LRD_NIL;) {
    const lrd_entry *entry = lrd_pool_entry(pool, id);
    uint32_t uses = lrd_entry_bits(entry);
    LRD_CHECK(uses > 0 && uses <= hotter);
    LRD_CHECK(uses == hotter || state->newest[uses] == id);
    numbers += uses != hotter;
    hotter = uses;
    id = entry->next;
  }
  uint32_t marks = 0;
  for (int i = 0; i <= USES_MOST; i++) {
    bool marked = state->marks[i / 64] >> i % 64 & 1;
    LRD_CHECK(marked == (state->newest[i] != LRD_NIL));
    marks += marked;
  }
  LRD_CHECK(marks == numbers);
}

const lrd_policy lrd_policy_lfu = {
    .hits_most = LRD_HITS_BATCHED,
    .steps_most = 1,
    .state_bytes = sizeof(lfu_state),
    .open = lfu_open,
    .insert = lfu_insert,
    .remove = lfu_remove,
    .replace = lfu_replace,
    .access = lfu_access,
    .victim = lrd_queues_victim,
    .pass = lfu_pass,
    .renew = lfu_renew,
    LRD_POLICY_WALKS_QUEUES,
    .check = lfu_check,
};
