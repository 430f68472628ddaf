// SPDX-License-Identifier: Apache-2.0
#include "lrd_limbo.h"

#include "lrd_grace.h"
#include "lrd_hazards.h"
#include "lrd_thread.h"

#include <string.h>

void lrd_limbo_add_table_locked(lrd_limbo *limbo, lrd_table *table) {
  table->retired_next = limbo->tables;
  limbo->tables = table;
}

bool lrd_limbo_draw_locked(lrd_limbo *limbo) {
  if (limbo->fresh.head) {
    lrd_chain_append(&limbo->waiting, &limbo->fresh);
    limbo->ticket = lrd_grace_ticket(&lrd_grace_periods);
    limbo->fencing = false;
  }
  limbo->held = 0;
  return limbo->waiting.head;
}

static bool is_empty(const lrd_scan *scan) {
  return !scan->entries.head && !scan->tables;
}

/// Gives a chain to a scan. `passed`: after the grace period that it needs.
static void hand_over(lrd_scan *scan, lrd_chain *chain, bool passed) {
  scan->fenced = passed && (is_empty(scan) || scan->fenced);
  lrd_chain_append(&scan->entries, chain);
}

static bool has_passed(const lrd_limbo *limbo) {
  return limbo->waiting.head && lrd_grace_has_passed(&lrd_grace_periods, limbo->ticket);
}

/// Gives what was not scanned yet to a scan.
static void hand_over_rest(lrd_limbo *limbo, lrd_scan *scan) {
  hand_over(scan, &limbo->waiting, false);
  hand_over(scan, &limbo->fresh, false);
  limbo->held = 0;
}

static bool is_past(const lrd_limbo *limbo, uint64_t fresh, lrd_amount bound) {
  uint64_t cost;
  if (__builtin_add_overflow(limbo->fresh.cost, limbo->waiting.cost, &cost)) return true;
  return fresh + limbo->waiting.count + limbo->scanned.count > bound.count || cost > bound.cost / 2;
}

bool lrd_limbo_add_locked(lrd_limbo *limbo, lrd_chain *removed, lrd_amount bound, lrd_scan *scan) {
  lrd_chain_append(&limbo->fresh, removed);
  // Entries seen in readers' hands are not worth another scan until as many more have come.
  if (limbo->fresh.count <= 2 * limbo->held) return false;
  uint64_t fresh = limbo->fresh.count - 2 * limbo->held;
  if (is_past(limbo, fresh, bound)) {
    scan->urgent = true;
    hand_over_rest(limbo, scan);
    return false;
  }
  if (fresh < bound.count / 4) return false;
  if (limbo->waiting.head && !has_passed(limbo)) {
    bool fence = !limbo->fencing && fresh >= bound.count / 8 * 3;
    limbo->fencing |= fence;
    return fence;
  }
  if (limbo->waiting.head && limbo->scanned.head) return false;
  hand_over(scan, &limbo->waiting, true);
  lrd_limbo_draw_locked(limbo);
  return false;
}

void lrd_limbo_add_alone_locked(lrd_limbo *limbo, lrd_pool *pool, lrd_chain *removed,
                                lrd_chain *free) {
  bool lends = lrd_self && lrd_self->top != lrd_self->hazards;
  if (!lends) {
    lrd_chain_append(free, removed);
    // Left from a time with more threads: those are gone, and with them their loans.
    lrd_chain_append(&limbo->scanned, &limbo->fresh);
    lrd_chain_append(&limbo->scanned, &limbo->waiting);
    limbo->held = 0;
    limbo->hazard_count = 0;
  }
  for (lrd_entry *entry; (entry = lrd_chain_take(removed, pool));) {
    bool lent = lrd_thread_owns_hazard((uintptr_t)entry);
    lrd_chain_add(lent ? &limbo->fresh : free, entry);
  }
}

void lrd_limbo_scan_tables_locked(lrd_limbo *limbo, lrd_scan *scan) {
  lrd_table *last = limbo->tables;
  if (!last) return;
  while (last->retired_next) last = last->retired_next;
  last->retired_next = scan->tables;
  scan->tables = limbo->tables;
  scan->fenced = false;
  limbo->tables = NULL;
}

void lrd_limbo_scan_passed_locked(lrd_limbo *limbo, lrd_scan *scan) {
  if (has_passed(limbo) && !limbo->busy) hand_over(scan, &limbo->waiting, true);
  lrd_limbo_scan_tables_locked(limbo, scan);
}

void lrd_limbo_scan_all_locked(lrd_limbo *limbo, lrd_scan *scan) {
  hand_over(scan, &limbo->scanned, false);
  hand_over_rest(limbo, scan);
  lrd_limbo_scan_tables_locked(limbo, scan);
}

void lrd_scan_run(lrd_scan *scan, lrd_hazards *hazards) {
  // All that is scanned was removed before this fence, or before one that has ended; its partner is
  // the light fence behind every hazard that a reader publishes.
  if (!scan->fenced) lrd_grace_fence();
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

bool lrd_limbo_return_locked(lrd_limbo *limbo, lrd_scan *scan, const lrd_hazards *hazards) {
  // Entries that are not sorted need the hazards of their own scan, and no others beside them.
  bool adopts = !scan->sorted && scan->entries.head;
  if (adopts &&
      (limbo->scanned.head || hazards->overflowed || hazards->count > LRD_LIMBO_HAZARDS)) {
    return false;
  }
  if (!limbo->scanned.head) limbo->hazard_count = adopts ? (uint32_t)hazards->count : 0;
  if (adopts) memcpy(limbo->hazards, hazards->pointers, hazards->count * sizeof *limbo->hazards);
  if (scan->urgent) {
    lrd_limbo_put_first_locked(limbo, &scan->entries);
  } else {
    lrd_chain_append(&limbo->scanned, &scan->entries);
  }
  limbo->held += scan->held.count;
  lrd_chain_append(&limbo->fresh, &scan->held);
  while (scan->tables) {
    lrd_table *table = scan->tables;
    scan->tables = table->retired_next;
    lrd_limbo_add_table_locked(limbo, table);
  }
  return true;
}

/// Starts loading what destroying an entry will touch. The entry itself is on its way since the one
/// before it was next.
static void prefetch_destruction(lrd_pool *pool, const lrd_references *references,
                                 const lrd_entry *next) {
  for (uint32_t i = 0; i < references->count; i++) {
    LRD_PREFETCH((const void *)(uintptr_t)lrd_entry_refers_to(next, references->at[i]));
  }
  const lrd_entry *then = lrd_chain_next(pool, next);
  if (then) LRD_PREFETCH(then);
}

static bool is_named(const lrd_limbo *limbo, const lrd_entry *entry) {
  for (uint32_t i = 0; i < limbo->hazard_count; i++) {
    if (limbo->hazards[i] == (uintptr_t)entry) return true;
  }
  return false;
}

void lrd_limbo_take_locked(lrd_limbo *limbo, lrd_pool *pool, const lrd_references *references,
                           uint32_t most, lrd_chain *free) {
  while (most && limbo->scanned.head) {
    lrd_entry *entry = lrd_chain_take(&limbo->scanned, pool);
    if (limbo->scanned.head) prefetch_destruction(pool, references, limbo->scanned.head);
    if (LRD_UNLIKELY(is_named(limbo, entry))) {
      limbo->held++;
      lrd_chain_add(&limbo->fresh, entry);
    } else {
      lrd_chain_add(free, entry);
      most--;
    }
  }
}

void lrd_limbo_put_first_locked(lrd_limbo *limbo, lrd_chain *free) {
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
}
