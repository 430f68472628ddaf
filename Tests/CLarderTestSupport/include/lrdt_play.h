// SPDX-License-Identifier: Apache-2.0
/* lrdt_play.h — a reader and a writer of one shard, interleaved instruction by instruction.
 *
 * Nothing in the core knows of it: the processor's trace flag stops the one side after every
 * instruction, and the other side runs to its end from the signal handler, on the same thread.
 *
 *   lrdt_play_reads    the writer is stopped everywhere, and at each stop every item is looked up
 *   lrdt_play_write    the reader is stopped once, and the whole write happens there, reclamation
 *                      included; the test repeats it for every place the reader can be stopped at
 *
 * This explores one switch of threads and back in a sequentially consistent memory: what a missing
 * step or a wrong order of stores breaks, not what the processor reorders.
 *
 * Only with Linux on x86-64 and without the thread sanitizer; needs the process for itself. */
#pragma once

#include "lrdt_items.h"

#pragma clang assume_nonnull begin

/// False where instructions cannot be stepped.
bool lrdt_play_available(void);

typedef enum lrdt_action {
  LRDT_NOTHING,
  LRDT_INSERT,      // `fresh` becomes the subject's entry
  LRDT_REMOVE,      // of the subject
  LRDT_REPLACE,     // of the subject by `fresh`
  LRDT_MOVE_BUCKET, // the next one of a moving table
  LRDT_MOVE_ALL,    // and the root changes
  LRDT_EMPTY,       // of all items
} lrdt_action;

typedef struct lrdt_act {
  lrdt_action action;
  size_t subject;
  lrd_entry *_Nullable fresh;
} lrdt_act;

#define LRDT_ACTS 2

/// What to play. All items have hashes of their own, all in one shard. Overflow buckets that the
/// acts need are there.
typedef struct lrdt_play {
  lrd_cache *cache;
  lrd_lane *lane;
  lrdt_item *items;
  size_t count;
  lrdt_act acts[LRDT_ACTS]; // one after the other
} lrdt_play;

/// Performs the acts; after each instruction looks for all items. An item no act is about is always
/// found; of the others each lookup finds what an act has left, and never again what was before.
/// NULL, or what went wrong.
const char *_Nullable lrdt_play_reads(lrdt_play *play);

/// Looks for one item; after instruction `stop` of that performs all acts and destroys what no
/// hazard holds. Sets `*stopped` to false when the lookup ended before. NULL, or what went wrong.
const char *_Nullable lrdt_play_write(lrdt_play *play, size_t item, uint64_t stop, bool *stopped);

/// The instructions that it takes to read the hazards of all threads; 0 where they cannot be
/// counted.
uint64_t lrdt_scan_steps(void);

#pragma clang assume_nonnull end
