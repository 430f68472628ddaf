// SPDX-License-Identifier: Apache-2.0
/* lrd_limbo.h — entries and tables that one shard has removed and that a reader may still hold.
 * That of the first shard also takes what calls on the whole cache have removed from others. An
 * insertion that takes room in other shards puts what an observer has seen, and what it scans, into
 * that of the last shard added (`home` of lrd_garbage).
 *
 *         ticket drawn          fence ended            no hazard names it
 *   fresh ───────────▶ waiting ────────────▶ (scan) ──▶ scanned ──────────▶ destroyed
 *     ▲                                                    │
 *     └──────────────── a hazard names it ─────────────────┘
 *
 *   fresh     removed since the last ticket was drawn (lrd_grace.h)
 *   waiting   removed before `ticket` was drawn; a fence that begins afterwards covers them all
 *   scan      one thread has taken it out of the limbo, and reads all hazards
 *   scanned   all hazards were read; `hazards` keeps them for those who take entries out
 *
 * WHO MOVES ENTRIES, always under the shard's lock; a scan reads and compares hazards without it:
 *   to fresh            the thread that removed the entry
 *   fresh to waiting    a writer, see below; or the background thread's visit
 *   waiting to scan     a writer or a visit, once the ticket has passed
 *   scan to scanned     the same thread; or a visit destroys what is free, if the lock is busy or
 *                       all together would be past the bound
 *   scan to fresh       the same thread, for entries that a reader holds
 *   fresh and waiting   a thread that is the only one registered and lends nothing: no reader is
 *   to scanned          left that could hold them
 *   out of scanned      a writer, as many as it has removed, up to 64; or a visit. They destroy it
 *                       when the lock is free again (lrd_garbage.h)
 *   scanned to fresh    whoever takes it out and finds that a hazard names it
 * Past the bound a writer scans fresh and waiting entries with a fence of its own; reclaim() scans
 * all, and destroys what it frees.
 *
 * WHO COMPARES. Scanned entries have the hazards of one scan, since writers within the bound scan
 * only when none are scanned. Few hazards are compared when an entry is taken out, so that no write
 * compares a hundred entries. A scan that has seen many, or ends beside other scanned entries,
 * compares all of its own (lrd_scan_sort()).
 *
 * WHEN WRITERS ACT. m is the bound on entries; "too costly" is more than half the bound on costs.
 *   fresh >= m/4, none waiting                    draw a ticket
 *   fresh >= 3m/8, the ticket has not passed      run a fence, unless another writer does
 *   fresh >= m/4, it has passed, none scanned     scan the waiting, draw a ticket for the fresh
 *   scanned > m/2, or too costly                  destroy LRD_DESTROY_STEP more
 *   some scanned, fresh >= 3m/8, some waiting     the same: the waiting cannot be scanned before
 *   all together > m, or the first two costly     run a fence, scan all fresh and waiting, and
 *                                                 destroy down to m/2, LRD_DESTROY_STEP at a time
 * While entries wait, the short way of an insertion checks the ticket only when fresh reaches 3m/8.
 * One write runs a fence or a scan, not both, except past the bound and for tables. Entries that a
 * scan found held by readers, and their costs, count only once as many others have come.
 *
 * INVARIANTS, of which L1 and L4 are checked with the shard's:
 *   L1  All chains hold unlinked entries only, and their counts are right.
 *   L2  Waiting entries were removed before `ticket` was drawn.
 *   L3  Scanned entries were removed before a scan that found no reader holding them, or whose
 *       hazards are all in `hazards`; or before a time at which there was no reader.
 *   L4  While the limbo is known to be quiet, no table is in it, and its chains have no cost.
 * Guard: the shard's lock. fork() resets `fencing`: the thread that had taken on the fence is
 * gone. */
#pragma once

#include "lrd_chain.h"
#include "lrd_table.h"

#pragma clang assume_nonnull begin

enum {
  LRD_LIMBO_FEW = 256, // the least and the greatest bound on entries
  LRD_LIMBO_MANY = 2048,
  LRD_LIMBO_COSTLY = 32,  // entries of mean cost whose cost is not too much: fences take time
  LRD_LIMBO_HAZARDS = 16, // that scanned entries are compared with at most
  LRD_DESTROY_STEP = 4,   // entries a change destroys beyond its own, or a visit under one lock
};

typedef struct lrd_limbo {
  lrd_chain fresh;
  lrd_chain scanned;
  uintptr_t hazards[LRD_LIMBO_HAZARDS];
  uint32_t hazard_count;
  uint32_t held;      // entries of `fresh` that a scan found held by readers
  uint64_t held_cost; // of these
  bool fencing;       // a writer has taken on the fence for `ticket`
  bool busy;      // writers have removed many entries since the last visit and clean up themselves
  uint32_t quiet; // see lrd_limbo_is_quiet_locked()
  lrd_chain waiting;
  uint64_t ticket;
  // Entries that the shard had ever removed at the last visit, and those that were removed with
  // everything since, unless they lie here.
  uint64_t visited;
  lrd_table *_Nullable tables;
} lrd_limbo;

/// Entries and tables taken out of a limbo, to be compared with all hazards.
typedef struct lrd_scan {
  lrd_chain entries; // once sorted, those that no reader holds
  lrd_chain held;    // those that a hazard names
  lrd_table *_Nullable tables;
  bool unfenced; // some of this still needs a fence
  bool urgent;   // the limbo was past its bound: sort, and destroy down to half of it
  bool sorted;
} lrd_scan;

struct lrd_hazards; // the pointers that readers had published at one moment (lrd_hazards.h)

/// The greatest bound on the cost of one limbo: a sixteenth of the limit, 2^20 without one.
static inline uint64_t lrd_limbo_cost_bound(uint64_t cost_limit) {
  return cost_limit ? cost_limit / 16 : (uint64_t)1 << 20;
}

/// The bound on the limbo of a shard with `count` entries: a sixteenth of them, from 256 to 2,048;
/// and on its cost. Under a cost limit that is the shard's part of an eighth of the limit, since a
/// writer acts at half of it; or what LRD_LIMBO_COSTLY entries cost, `mean` each, if that is more,
/// but no more than a 64th of the limit. One or two shards have a sixteenth.
static inline lrd_amount lrd_limbo_bound(uint64_t count, uint64_t mean, uint64_t cost_limit,
                                         uint32_t shards) {
  uint64_t part = count / 16, most = lrd_limbo_cost_bound(cost_limit);
  if (part > LRD_LIMBO_MANY) part = LRD_LIMBO_MANY;
  if (part < LRD_LIMBO_FEW) part = LRD_LIMBO_FEW;
  if (!cost_limit || shards <= 2) return (lrd_amount){part, most};
  uint64_t cost = most / shards * 2, few = most / 4;
  if (mean <= few / LRD_LIMBO_COSTLY) few = mean * LRD_LIMBO_COSTLY;
  return (lrd_amount){part, cost > few ? cost : few};
}

/// True when the scan has anything to do.
static inline bool lrd_scan_is_due(const lrd_scan *scan) {
  return scan->entries.head || scan->tables;
}

/// True when the limbo is not empty.
static inline bool lrd_limbo_waits_locked(const lrd_limbo *limbo) {
  uintptr_t any = (uintptr_t)limbo->fresh.head | (uintptr_t)limbo->waiting.head |
                  (uintptr_t)limbo->scanned.head | (uintptr_t)limbo->tables;
  return any != 0;
}

static inline uint64_t lrd_limbo_count_locked(const lrd_limbo *limbo) {
  return (uint64_t)limbo->fresh.count + limbo->waiting.count + limbo->scanned.count;
}

/// The fresh entries at which a writer acts while others wait.
static inline uint32_t lrd_limbo_most_fresh(lrd_amount bound) {
  return (uint32_t)(bound.count / 8 * 3);
}

/// True when more entries are scanned than the shard should keep: any that hold up a scan which is
/// due.
static inline bool lrd_limbo_is_behind_locked(const lrd_limbo *limbo, lrd_amount bound) {
  bool holds_up = limbo->waiting.head && limbo->fresh.count >= lrd_limbo_most_fresh(bound);
  return limbo->scanned.count > (holds_up ? 0 : bound.count / 2) ||
         limbo->scanned.cost > bound.cost / 2;
}

/// True when it is known that a removed entry without a cost can be added to `fresh`, and nothing
/// else is to be done. Entries can then be added, and scanned ones taken, until the answer changes.
LRD_INLINE bool lrd_limbo_is_quiet_locked(const lrd_limbo *limbo) {
  return limbo->fresh.count < limbo->quiet;
}

/// Finds out whether that is so, and for how many entries, with the bound of this moment. To be
/// asked when it is not known: all other changes of the entries and tables forget it.
bool lrd_limbo_find_quiet_locked(lrd_limbo *limbo, lrd_amount bound);

/// Takes in removed entries and acts by the table above. The caller must run the `scan` if it is
/// not empty, and a fence if the answer is true.
bool lrd_limbo_add_locked(lrd_limbo *limbo, lrd_chain *removed, lrd_amount bound, lrd_scan *scan);

/// The same for a thread that is the only one registered: `free` gets the entries, except those
/// that its own loans hold.
void lrd_limbo_add_alone_locked(lrd_limbo *limbo, lrd_pool *pool, lrd_chain *removed,
                                lrd_chain *free);

/// Takes in a table that readers may still be inside. (The table of an empty shard needs none.)
void lrd_limbo_add_table_locked(lrd_limbo *limbo, lrd_table *table);

/// Draws a ticket for all fresh entries. False when no entry waits then.
bool lrd_limbo_draw_locked(lrd_limbo *limbo);

/// These give to a scan: the tables; the tables and, if their ticket has passed and the shard is
/// not busy, the waiting entries; everything.
void lrd_limbo_hand_tables_locked(lrd_limbo *limbo, lrd_scan *scan);
void lrd_limbo_hand_passed_locked(lrd_limbo *limbo, lrd_scan *scan);
void lrd_limbo_hand_all_locked(lrd_limbo *limbo, lrd_scan *scan);

/// Runs a fence if the scan still needs one, reads all hazards, and frees the tables that no reader
/// is inside. Needs all locks free. The caller discards `hazards` afterwards.
void lrd_scan_run(lrd_scan *scan, struct lrd_hazards *hazards);

/// Compares the entries with the hazards that lrd_scan_run() has read. Needs all locks free.
void lrd_scan_sort(lrd_scan *scan, const struct lrd_hazards *hazards, lrd_pool *pool);

/// Takes in entries that a scan has found held by readers: they are fresh.
void lrd_limbo_add_held_locked(lrd_limbo *limbo, lrd_chain *held);

/// Ends a scan: entries that readers hold are fresh again, the others are scanned, and come `first`
/// there or last. False when the scan must be sorted first; nothing has changed then.
bool lrd_limbo_return_locked(lrd_limbo *limbo, lrd_scan *scan, const struct lrd_hazards *hazards,
                             bool first);

/// Takes a scanned entry that no reader holds; NULL if there is none. Begins to load the entry that
/// will be next but one, and what the next one refers to.
lrd_entry *_Nullable lrd_limbo_take_locked(lrd_limbo *limbo, lrd_pool *pool,
                                           const lrd_references *references);

/// Puts free entries before all other scanned ones. If each destruction inserts others, a tree of
/// destructions is then walked depth first, and few of its entries wait at a time.
void lrd_limbo_put_first_locked(lrd_limbo *limbo, lrd_chain *free);

/// Notes, for a visit, how much was removed since the last one. True when the shard is busy: its
/// writers clean up themselves. A visit then leaves the entries alone: memory that it frees would
/// go to another thread's allocator cache, and its fence would interrupt the writers.
bool lrd_limbo_note_visit_locked(lrd_limbo *limbo, uint64_t removed_ever, lrd_amount bound);

/// Stops the process when an invariant is broken.
void lrd_limbo_check_locked(const lrd_limbo *limbo, lrd_pool *pool);

#pragma clang assume_nonnull end
