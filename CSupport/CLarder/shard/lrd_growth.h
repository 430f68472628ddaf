// SPDX-License-Identifier: Apache-2.0
/* lrd_growth.h — the tables of a shard: how large they are, when they move, and the memory for that.
 *
 * A table that is full moves to a successor, two buckets with each insertion, so that it is done
 * long before the successor is full. A table that is far too large shrinks the same way, but the
 * background thread moves it. Large tables get their successor beforehand, from that thread. */
#pragma once

#include "lrd_shard.h"
#include "lrd_supply.h"

#pragma clang assume_nonnull begin

/// Allocates what is wanted, after freeing what is held. False without memory. A table is made for
/// entries with such references.
bool lrd_supply_fetch(lrd_supply *supply, const lrd_references *references);

/// Frees what is held.
void lrd_supply_drop(lrd_supply *supply);

/// Tells the shard and its policy what it may hold.
void lrd_growth_resize_locked(lrd_shard *shard, lrd_amount share) LRD_REQUIRES(shard->lock);

/// lrd_growth_prepare_locked() where something may be missing.
bool lrd_growth_prepare_slow_locked(lrd_shard *shard, uint64_t hash, lrd_supply *supply)
    LRD_REQUIRES(shard->lock);

/// Makes room in the table for one more entry of hash `hash`, and moves a few buckets of a growing
/// table. Uses what `supply` holds. False when something is missing: leave the lock, fetch the
/// supply and ask again.
static inline bool lrd_growth_prepare_locked(lrd_shard *shard, uint64_t hash, lrd_supply *supply)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  const lrd_history *history = &shard->order.history;
  bool at_ease = shard->count < shard->at_ease && history->wanted == history->bytes &&
                 supply->given == LRD_SUPPLY_NONE && lrd_table_overflow_left_locked(root);
  return LRD_LIKELY(at_ease) || lrd_growth_prepare_slow_locked(shard, hash, supply);
}

/// What `at_ease` is to be for the table and the share as they are.
uint64_t lrd_growth_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// True while a table moves.
static inline bool lrd_growth_moves_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return lrd_shard_next_locked(shard) != NULL;
}

/// True when the table, or the one it moves to, is far too large for the entries.
bool lrd_growth_is_oversized_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Starts moving to `table`. The shard must not be moving already.
void lrd_growth_start_locked(lrd_shard *shard, lrd_table *table) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets. False when the new table first needs an overflow chunk.
bool lrd_growth_move_locked(lrd_shard *shard, int buckets) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets of a moving table, or begins to shrink one that is far too large,
/// or to move to the successor of a large one that is nearly full. Uses what `supply` holds. False
/// when something is missing, as with lrd_growth_prepare_locked().
bool lrd_growth_tidy_locked(lrd_shard *shard, int buckets, lrd_supply *supply)
    LRD_REQUIRES(shard->lock);

/// Gives up the tables with everything in them: from one moment to the next readers see an empty
/// shard. Order and sums are left to lrd_shard_empty_locked().
void lrd_growth_leave_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
