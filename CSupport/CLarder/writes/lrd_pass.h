// SPDX-License-Identifier: Apache-2.0
/* lrd_pass.h — a pass over a cache that moves entries out of vacated pages, in slices; see
 * lrd_compact.h.
 *
 * WHAT IS MOVED WAITS IN CHAINS OF ITS OWN, and not in the limbo: writers put what they destroy
 * into slots that they use again, and would store new entries in the pages that are to be emptied.
 *
 *   moved_out ──▶ one fence and one scan for all ──▶ moved_free ──▶ destroyed, a few at a time
 *                            └── a reader holds it ──▶ the limbo
 *
 * The chains belong to the cache, so any thread goes on where another one was. They change under a
 * shard's lock: a move takes that of its entry, all else that of the first shard. So a child of
 * fork() finds them whole. `compacting` is held until all is scanned. It is given back before the
 * destructions, which may run code of users. If that code calls reclaim() of the same cache,
 * nothing is moved. The outer call goes on with what it has begun, and the stack does not grow. A
 * thread that is stopped amid its destructions keeps the pages of the entries that it has in its
 * hands. Those lie all over the vacated pages, so it takes only a few at a time.
 *
 * Guard: belongs to the thread that has taken `compacting` of its cache, until the end. */
#pragma once

#include "lrd_lane.h"
#include "lrd_limbo.h"
#include "lrd_sweep.h"
#include "lrd_vacancy.h"

#pragma clang assume_nonnull begin

/// Entries moved under one lock. With more, writers wait longer; with fewer, all takes longer.
enum { LRD_MOVES_PER_LOCK = 16 };

/// The slots of each size that a pass has at hand for copies.
typedef struct lrd_stock {
  uint32_t ids[LRD_STEP_MOST][LRD_MOVES_PER_LOCK];
  uint32_t count[LRD_STEP_MOST];
} lrd_stock;

typedef struct lrd_pass {
  lrd_cache *cache;
  lrd_vacancy *_Nullable vacancies;
  uint32_t count, room; // of these
  lrd_stock stock;
  uint32_t moved;
} lrd_pass;

/// What a slice has come to.
typedef enum lrd_pass_result {
  LRD_PASS_MORE, // the sweep goes on
  LRD_PASS_DONE, // it is done
  LRD_PASS_BUSY, // the lock was busy: its holder will ask for a visit
  LRD_PASS_OVER, // there is no room for anything, or no memory, or the cache has closed
} lrd_pass_result;

/// Takes `compacting`. False if another thread has it.
bool lrd_pass_try(lrd_cache *cache);

/// Takes `compacting`, and waits until it is free.
void lrd_pass_take(lrd_cache *cache);

/// Gives `compacting` back.
void lrd_pass_give(lrd_cache *cache);

/// True when this thread is destroying entries moved in this cache, further up its stack.
bool lrd_pass_destroys(const lrd_cache *cache);

/// Takes `compacting` when all that was moved and no reader holds is destroyed, but for a few in
/// the hands of other threads. Destroys it. Otherwise pages would look full that are not.
void lrd_pass_take_settled(lrd_cache *cache);

/// Lists the vacated pages. False without memory, or if there are none. On false do not call
/// lrd_pass_end(), but lrd_pass_give().
bool lrd_pass_begin(lrd_pass *pass, lrd_cache *cache);

/// Moves entries of the shard's next slice that lie in vacated pages. `tries`: gives up if the lock
/// is busy.
lrd_pass_result lrd_pass_slice(lrd_pass *pass, lrd_shard *shard, lrd_sweep *sweep, bool tries);

/// Gives `compacting` back, and the slots that are left. Destroys what was moved, by this pass and
/// by others. Returns how many entries this one has moved.
uint32_t lrd_pass_end(lrd_pass *pass);

/// After the last pass: gives back what has become free of the vacated pages, and lets the others
/// be (lrd_vacancy_end()).
void lrd_pass_close(lrd_cache *cache);

#pragma clang assume_nonnull end
