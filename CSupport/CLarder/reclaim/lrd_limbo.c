// SPDX-License-Identifier: Apache-2.0
#include "lrd_limbo.h"

#include "lrd_grace.h"
#include "lrd_hazards.h"
#include "lrd_thread.h"

#include <string.h>

bool lrd_limbo_find_quiet_locked(lrd_limbo *limbo, lrd_amount bound) {
  uint64_t fresh = limbo->fresh.count, count = lrd_limbo_count_locked(limbo);
  uint64_t acts = limbo->waiting.head ? lrd_limbo_most_fresh(bound) : bound.count / 4;
  limbo->quiet = 0;
  if (fresh + 1 >= acts || count >= bound.count || limbo->tables ||
      (limbo->fresh.cost | limbo->waiting.cost | limbo->scanned.cost) ||
      lrd_limbo_is_behind_locked(limbo, bound)) {
    return false;
  }
  // Each entry that comes leaves one less to either bound, if none is taken for it.
  uint64_t to_act = acts - 1 - fresh, to_bound = bound.count - count;
  limbo->quiet = (uint32_t)(fresh + (to_act < to_bound ? to_act : to_bound));
  return true;
}

/// To be called by all that changes the entries or tables in another way. In most limbos nothing is
/// known, and then a line that other threads read is not written.
static void forget_quiet(lrd_limbo *limbo) {
  if (limbo->quiet) limbo->quiet = 0;
}

void lrd_limbo_add_table_locked(lrd_limbo *limbo, lrd_table *table) {
  if (table == &lrd_table_empty) return;
  forget_quiet(limbo);
  table->retired_next = limbo->tables;
  limbo->tables = table;
}

bool lrd_limbo_draw_locked(lrd_limbo *limbo) {
  forget_quiet(limbo);
  if (limbo->fresh.head) {
    lrd_chain_append(&limbo->waiting, &limbo->fresh);
    limbo->ticket = lrd_grace_ticket(&lrd_grace_periods);
    limbo->fencing = false;
  }
  limbo->held = 0;
  limbo->held_cost = 0;
  return limbo->waiting.head;
}

static bool has_passed(const lrd_limbo *limbo) {
  return limbo->waiting.head && lrd_grace_has_passed(&lrd_grace_periods, limbo->ticket);
}

/// Gives everything that was not scanned yet to a scan.
static void hand_over_rest(lrd_limbo *limbo, lrd_scan *scan) {
  forget_quiet(limbo);
  lrd_chain_append(&scan->entries, &limbo->waiting);
  lrd_chain_append(&scan->entries, &limbo->fresh);
  scan->unfenced = true;
  limbo->held = 0;
  limbo->held_cost = 0;
}

static bool is_past(const lrd_limbo *limbo, uint64_t fresh, lrd_amount bound) {
  uint64_t cost = limbo->fresh.cost, held = limbo->held_cost * 2;
  cost = cost > held ? cost - held : 0;
  if (__builtin_add_overflow(cost, limbo->waiting.cost, &cost)) return true;
  return fresh + limbo->waiting.count + limbo->scanned.count > bound.count || cost > bound.cost / 2;
}

bool lrd_limbo_add_locked(lrd_limbo *limbo, lrd_chain *removed, lrd_amount bound, lrd_scan *scan) {
  forget_quiet(limbo);
  lrd_chain_append(&limbo->fresh, removed);
  // Entries that readers hold are not worth another scan until as many others have come.
  if (limbo->fresh.count <= 2 * limbo->held) return false;
  uint64_t fresh = limbo->fresh.count - 2 * limbo->held;
  if (is_past(limbo, fresh, bound)) {
    scan->urgent = true;
    hand_over_rest(limbo, scan);
    return false;
  }
  if (fresh < bound.count / 4) return false;
  if (limbo->waiting.head && !has_passed(limbo)) {
    bool fence = !limbo->fencing && fresh >= lrd_limbo_most_fresh(bound);
    limbo->fencing |= fence;
    return fence;
  }
  if (limbo->waiting.head && limbo->scanned.head) return false;
  lrd_chain_append(&scan->entries, &limbo->waiting);
  lrd_limbo_draw_locked(limbo);
  return false;
}

void lrd_limbo_add_alone_locked(lrd_limbo *limbo, lrd_pool *pool, lrd_chain *removed,
                                lrd_chain *free) {
  forget_quiet(limbo);
  bool lends = lrd_self && lrd_self->top != lrd_self->hazards;
  if (lends) {
    for (lrd_entry *entry; (entry = lrd_chain_take(removed, pool));) {
      lrd_chain_add(lrd_thread_owns_hazard((uintptr_t)entry) ? &limbo->fresh : free, entry);
    }
    return;
  }
  lrd_chain_append(free, removed);
  // Left from a time with more threads. Those threads are gone, and so are their loans.
  lrd_chain_append(&limbo->scanned, &limbo->fresh);
  lrd_chain_append(&limbo->scanned, &limbo->waiting);
  limbo->held = 0;
  limbo->held_cost = 0;
  limbo->hazard_count = 0;
}

void lrd_limbo_hand_tables_locked(lrd_limbo *limbo, lrd_scan *scan) {
  lrd_table *last = limbo->tables;
  if (!last) return; // as in a quiet limbo
  while (last->retired_next) last = last->retired_next;
  last->retired_next = scan->tables;
  scan->tables = limbo->tables;
  scan->unfenced = true;
  limbo->tables = NULL;
}

void lrd_limbo_hand_passed_locked(lrd_limbo *limbo, lrd_scan *scan) {
  forget_quiet(limbo);
  if (has_passed(limbo) && !limbo->busy) lrd_chain_append(&scan->entries, &limbo->waiting);
  lrd_limbo_hand_tables_locked(limbo, scan);
}

void lrd_limbo_hand_all_locked(lrd_limbo *limbo, lrd_scan *scan) {
  lrd_chain_append(&scan->entries, &limbo->scanned);
  hand_over_rest(limbo, scan);
  lrd_limbo_hand_tables_locked(limbo, scan);
}

void lrd_scan_run(lrd_scan *scan, lrd_hazards *hazards) {
  // Everything in the scan was removed before this fence, or before one that has ended. The partner
  // of the fence is the light fence after every hazard that a reader publishes.
  if (scan->unfenced) lrd_grace_fence();
  lrd_hazards_gather(hazards);
  lrd_table *held = NULL;
  for (lrd_table *table = scan->tables, *next; table; table = next) {
    next = table->retired_next;
    if (lrd_hazards_name(hazards, table)) {
      table->retired_next = held;
      held = table;
    } else {
      lrd_table_destroy(table);
    }
  }
  scan->tables = held;
}

void lrd_scan_sort(lrd_scan *scan, const lrd_hazards *hazards, lrd_pool *pool) {
  lrd_chain free = {0};
  for (lrd_entry *entry; (entry = lrd_chain_take(&scan->entries, pool));) {
    lrd_chain_add(lrd_hazards_name(hazards, entry) ? &scan->held : &free, entry);
  }
  scan->entries = free;
  scan->sorted = true;
}

void lrd_limbo_add_held_locked(lrd_limbo *limbo, lrd_chain *held) {
  forget_quiet(limbo);
  limbo->held += held->count;
  limbo->held_cost += held->cost;
  lrd_chain_append(&limbo->fresh, held);
}

bool lrd_limbo_return_locked(lrd_limbo *limbo, lrd_scan *scan, const lrd_hazards *hazards,
                             bool first) {
  // Entries that are not sorted need the hazards of their own scan, and only those.
  bool adopts = !scan->sorted && scan->entries.head;
  bool many = hazards->overflowed || hazards->count > LRD_LIMBO_HAZARDS;
  if (adopts && (limbo->scanned.head || many)) return false;
  if (!limbo->scanned.head) limbo->hazard_count = adopts ? (uint32_t)hazards->count : 0;
  if (adopts) memcpy(limbo->hazards, hazards->pointers, hazards->count * sizeof *limbo->hazards);
  if (first) {
    lrd_limbo_put_first_locked(limbo, &scan->entries);
  } else {
    lrd_chain_append(&limbo->scanned, &scan->entries);
  }
  lrd_limbo_add_held_locked(limbo, &scan->held);
  for (lrd_table *next; scan->tables; scan->tables = next) {
    next = scan->tables->retired_next;
    lrd_limbo_add_table_locked(limbo, scan->tables);
  }
  return true;
}

static bool is_named(const lrd_limbo *limbo, const lrd_entry *entry) {
  for (uint32_t i = 0; i < limbo->hazard_count; i++) {
    if (limbo->hazards[i] == (uintptr_t)entry) return true;
  }
  return false;
}

/// Takes in the scanned entry that was just taken out, which a reader holds, and takes the next
/// one. Calls itself no deeper than there are hazards.
static LRD_COLD lrd_entry *take_another(lrd_limbo *limbo, lrd_entry *entry, lrd_pool *pool,
                                        const lrd_references *references) {
  forget_quiet(limbo);
  limbo->held++;
  limbo->held_cost += lrd_entry_cost(entry);
  lrd_chain_add(&limbo->fresh, entry);
  return lrd_limbo_take_locked(limbo, pool, references);
}

lrd_entry *lrd_limbo_take_locked(lrd_limbo *limbo, lrd_pool *pool,
                                 const lrd_references *references) {
  lrd_entry *entry = lrd_chain_take(&limbo->scanned, pool);
  if (!entry) return NULL;
  const lrd_entry *next = limbo->scanned.head;
  if (next) {
    lrd_entry_prefetch_references(next, references);
    const lrd_entry *then = lrd_chain_next(pool, next);
    if (then) LRD_PREFETCH(then);
  }
  if (LRD_UNLIKELY(is_named(limbo, entry))) return take_another(limbo, entry, pool, references);
  return entry;
}

void lrd_limbo_put_first_locked(lrd_limbo *limbo, lrd_chain *free) {
  forget_quiet(limbo);
  lrd_chain_append(free, &limbo->scanned);
  lrd_chain_append(&limbo->scanned, free);
}

bool lrd_limbo_note_visit_locked(lrd_limbo *limbo, uint64_t removed_ever, lrd_amount bound) {
  limbo->busy = removed_ever - limbo->visited >= bound.count / 16;
  limbo->visited = removed_ever;
  return limbo->busy;
}

void lrd_limbo_check_locked(const lrd_limbo *limbo, lrd_pool *pool) {
  const lrd_chain *chains[] = {&limbo->fresh, &limbo->waiting, &limbo->scanned};
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) lrd_chain_check(chains[i], pool);
  LRD_CHECK(limbo->hazard_count <= LRD_LIMBO_HAZARDS);
  uint64_t cost = limbo->fresh.cost | limbo->waiting.cost | limbo->scanned.cost;
  LRD_CHECK(!limbo->quiet || !(limbo->tables || cost));
}
