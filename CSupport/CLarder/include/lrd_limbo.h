// SPDX-License-Identifier: Apache-2.0
/* lrd_limbo.h — what one shard has removed and a reader may still hold: entries, and old tables.
 *
 *         ticket drawn          fence ended            no hazard names it
 *   fresh ───────────▶ waiting ────────────▶ (scan) ──▶ scanned ──────────▶ destroyed
 *     ▲                                                    │
 *     └──────────────── a hazard names it ─────────────────┘
 *
 *   fresh     removed since the last ticket was drawn (lrd_grace.h)
 *   waiting   removed before `ticket` was drawn; a fence that begins afterwards covers them all
 *   scan      in the hands of the one thread that reads all hazards; not in the limbo meanwhile
 *   scanned   a scan has read all hazards; `hazards` keeps them for whoever takes an entry out
 *
 * WHO MOVES AN ENTRY. Every move is made under the shard's lock. A scan reads and compares hazards
 * without it.
 *   to fresh            the thread that removed it
 *   fresh to waiting    a writer, see below; or the background thread's visit
 *   waiting to scan     a writer or a visit, once the ticket has passed
 *   scan to scanned     the same thread
 *   out of scanned      a writer, as many as it has removed; a visit; reclaim(). They destroy it
 *
 * WHO COMPARES. Few hazards are compared when an entry is taken out, so that no write pays for
 * looking at a hundred entries. Scanned entries have the hazards of one scan: writers begin a scan
 * only when there are no scanned entries. A scan that ends beside others, or saw many hazards,
 * compares by itself (lrd_scan_sort()).
 *
 * WHEN WRITERS ACT, where m is the bound on entries, and "too costly" means more than half of the
 * bound on costs:
 *   fresh >= m/4, none waiting                    draw a ticket
 *   fresh >= 3m/8, the ticket has not passed      run a fence, unless another writer does
 *   fresh >= m/4, it has passed, none scanned     scan what waits, and draw a ticket for the rest
 *   scanned > m/2, or too costly                  destroy LRD_DESTROY_STEP more
 *   all together > m, or the rest too costly      run a fence, scan what is fresh or waiting, and
 *                                                 destroy down to m/2, LRD_DESTROY_STEP at a time
 * One write runs a fence or a scan, not both, except past the bound. Entries that readers hold count
 * as fresh only once as many others have come.
 *
 * INVARIANTS, checked with the shard's:
 *   L1  All chains hold unlinked entries only, and their counts are right.
 *   L2  What is `waiting` was removed before `ticket` was drawn.
 *   L3  What is `scanned` was removed before a scan that found nobody holding it, or whose hazards
 *       are all in `hazards`.
 * Guard: the shard's lock. fork() loses the thread that had taken on a fence: `fencing` is reset. */
#pragma once

#include "lrd_chain.h"
#include "lrd_table.h"

#pragma clang assume_nonnull begin

/// Bounds on the entries that may be in one shard's limbo, see lrd_limbo_bound().
enum { LRD_LIMBO_FEW = 256, LRD_LIMBO_MANY = 2048 };
/// Hazards that scanned entries may have to be compared with.
enum { LRD_LIMBO_HAZARDS = 16 };
/// A handful: entries that a change destroys beyond those it removed, while too many are scanned;
/// and those that a visit takes under one lock.
enum { LRD_DESTROY_STEP = 4 };

typedef struct lrd_limbo {
  lrd_chain fresh;
  lrd_chain scanned;
  uintptr_t hazards[LRD_LIMBO_HAZARDS];
  uint32_t hazard_count;
  uint32_t held; // entries of `fresh` that a scan found in readers' hands
  bool fencing;  // a writer has taken on the fence for `ticket`
  bool busy;     // writers remove so much that the background thread need not help
  lrd_chain waiting;
  uint64_t ticket;
  uint64_t visited; // how many entries the shard had ever removed at the last visit
  lrd_table *_Nullable tables;
} lrd_limbo;

/// What was taken out of a limbo, to be looked for among all hazards.
typedef struct lrd_scan {
  lrd_chain entries; // once sorted, those that nobody holds
  lrd_chain held;    // those that a hazard names
  lrd_table *_Nullable tables;
  bool fenced; // a fence has ended since all of this was removed
  bool urgent; // the limbo was past its bound: sort, and destroy down to half of that
  bool sorted;
} lrd_scan;

/// The pointers that readers had published at one moment (lrd_hazards.h).
struct lrd_hazards;

/// What may be in the limbo of a shard with `count` entries: a sixteenth of them, within bounds; and
/// a sixteenth of the cost limit, 2^20 without one.
static inline lrd_amount lrd_limbo_bound(uint64_t count, uint64_t cost_limit) {
  uint64_t part = count / 16;
  if (part > LRD_LIMBO_MANY) part = LRD_LIMBO_MANY;
  if (part < LRD_LIMBO_FEW) part = LRD_LIMBO_FEW;
  return (lrd_amount){part, cost_limit ? cost_limit / 16 : (uint64_t)1 << 20};
}

/// True when anything is in the limbo.
static inline bool lrd_limbo_waits_locked(const lrd_limbo *limbo) {
  return limbo->fresh.head || limbo->waiting.head || limbo->scanned.head || limbo->tables;
}

/// Entries in the limbo.
static inline uint64_t lrd_limbo_count_locked(const lrd_limbo *limbo) {
  return (uint64_t)limbo->fresh.count + limbo->waiting.count + limbo->scanned.count;
}

/// True when more is scanned than the shard should keep.
static inline bool lrd_limbo_is_behind_locked(const lrd_limbo *limbo, lrd_amount bound) {
  return limbo->scanned.count > bound.count / 2 || limbo->scanned.cost > bound.cost / 2;
}

/// Takes in what was removed, and acts as the table above says: `scan` is to be run when it holds
/// something. True when the caller is to run a fence.
bool lrd_limbo_add_locked(lrd_limbo *limbo, lrd_chain *removed, lrd_amount bound, lrd_scan *scan);

/// For a thread that is the only one registered: `free` gets what it has removed, except what its
/// own loans hold.
void lrd_limbo_add_alone_locked(lrd_limbo *limbo, lrd_pool *pool, lrd_chain *removed,
                                lrd_chain *free);

/// Takes in a table that readers may still be inside.
void lrd_limbo_add_table_locked(lrd_limbo *limbo, lrd_table *table);

/// Draws a ticket for everything fresh. False when nothing waits.
bool lrd_limbo_draw_locked(lrd_limbo *limbo);

/// Gives the tables to a scan.
void lrd_limbo_scan_tables_locked(lrd_limbo *limbo, lrd_scan *scan);

/// Gives the tables to a scan, and what waits if its ticket has passed and writers do not turn it
/// over themselves.
void lrd_limbo_scan_passed_locked(lrd_limbo *limbo, lrd_scan *scan);

/// Gives everything to a scan.
void lrd_limbo_scan_all_locked(lrd_limbo *limbo, lrd_scan *scan);

/// Runs the fence where one is still needed, reads all hazards, and frees the tables that no reader
/// is inside. No lock is held. Discard `hazards` afterwards.
void lrd_scan_run(lrd_scan *scan, struct lrd_hazards *hazards);

/// Compares the entries with what lrd_scan_run() has read. No lock is held.
void lrd_scan_sort(lrd_scan *scan, const struct lrd_hazards *hazards, lrd_pool *pool);

/// Ends a scan: its entries are scanned, and those that readers hold are fresh again. False when the
/// scan must be sorted first: then nothing has changed.
bool lrd_limbo_return_locked(lrd_limbo *limbo, lrd_scan *scan, const struct lrd_hazards *hazards);

/// Takes up to `most` scanned entries that nobody holds. Starts loading what destroying the following
/// one will touch, its `references` too.
void lrd_limbo_take_locked(lrd_limbo *limbo, lrd_pool *pool, const lrd_references *references,
                           uint32_t most, lrd_chain *free);

/// Puts entries that nobody holds before all others that are scanned. They are destroyed first, so
/// that a tree of destructions that insert others keeps its branches waiting, not its breadth.
void lrd_limbo_put_first_locked(lrd_limbo *limbo, lrd_chain *free);

/// Notes, for a visit, how much was removed since the one before. True when writers turn over what
/// waits. The background thread had better not touch that: what it destroys goes to another
/// thread's allocator, and its fence interrupts the writers.
bool lrd_limbo_note_visit_locked(lrd_limbo *limbo, uint64_t removed_ever, lrd_amount bound);

/// Stops the process when an invariant is broken.
void lrd_limbo_check_locked(const lrd_limbo *limbo, lrd_pool *pool);

#pragma clang assume_nonnull end
