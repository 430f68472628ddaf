// SPDX-License-Identifier: Apache-2.0
/* lrdt_play.h — a reader and a writer of one shard, interleaved instruction by instruction.
 *
 * The core does not know of it. The processor's trace flag stops one side after each instruction.
 * The other side then runs to its end in the signal handler, on the same thread.
 *
 *   lrdt_play_reads    stops the writer after each instruction, and looks up every item each time
 *   lrdt_play_writes   stops the reader after instructions. At each stop a child process does the
 *                      whole write, with reclamation
 *
 * So one thread interrupts the other once, in a sequentially consistent memory. That finds a step
 * that is missing and stores in a wrong order. It does not find what the processor reorders.
 *
 * Only for Linux on x86-64, without the thread sanitizer. No other thread may run meanwhile. */
#pragma once

#include "lrdt_items.h"

#pragma clang assume_nonnull begin

/// False where instructions cannot be stepped.
bool lrdt_play_available(void);

typedef enum lrdt_action {
  LRDT_NOTHING,
  LRDT_INSERT,      // inserts `fresh` as the subject's entry
  LRDT_REMOVE,      // removes the subject
  LRDT_REPLACE,     // replaces the subject's entry by `fresh`
  LRDT_MOVE_BUCKET, // moves the next bucket of a moving table
  LRDT_MOVE_ALL,    // moves all buckets and changes the root
  LRDT_EMPTY,       // removes all items
  LRDT_RENEW_PAGE,  // moves all entries of the subject's page to `page`, which gets its number
} lrdt_action;

typedef struct lrdt_act {
  lrdt_action action;
  size_t subject;
  lrd_entry *_Nullable fresh;
  uint32_t id; // of its slot
  lrd_page *_Nullable page;
  ptrdiff_t shift; // bytes by which entries move to there; 0: the page was kept by a hazard
} lrdt_act;

#define LRDT_ACTS 2

/// What to play. All items are in one shard, and no two have the same hash. The table has the
/// overflow buckets that the acts need.
typedef struct lrdt_play {
  lrd_cache *cache;
  lrd_lane *lane;
  lrdt_item *items;
  size_t count;
  lrdt_act acts[LRDT_ACTS]; // in this order
} lrdt_play;

/// The act that renews the page of an item: as if all its entries had been removed, the page freed,
/// and the same entries stored again in the slots and cells where they were.
lrdt_act lrdt_play_renewal(lrd_cache *cache, const lrdt_item *item);

/// Performs the acts, and looks for all items after each instruction. An item that no act is about
/// must always be found. Of the others each lookup must find what one of the acts has left, and
/// never what was there before something found earlier. NULL, or what went wrong.
const char *_Nullable lrdt_play_reads(lrdt_play *play);

/// Looks for one item. After instruction `first` of the lookup, and after each `stride`-th from
/// there, a child process performs all acts, destroys what no hazard holds, ends the lookup and
/// checks what it found and what the shard holds. To the caller nothing of this has happened.
/// `*stops`: how often. NULL, or what went wrong at the last of these.
const char *_Nullable lrdt_play_writes(lrdt_play *play, size_t item, uint64_t first,
                                       uint64_t stride, uint64_t *stops);

/// How many instructions it takes to read the hazards of all threads. 0 where they cannot be
/// counted.
uint64_t lrdt_scan_steps(void);

#pragma clang assume_nonnull end
