// SPDX-License-Identifier: Apache-2.0
/* lrd_growth.h — the tables of a shard: their size, when they move, and the memory for that.
 *
 * A full table moves to a successor: a bucket with each insertion, so that it has moved long
 * before the successor is full. A table that is far too large moves to a smaller one, by the
 * background thread. That thread also makes the successors of large tables in advance. */
#pragma once

#include "lrd_shard.h"
#include "lrd_supply.h"

#pragma clang assume_nonnull begin

/// Tells the shard and its policy their share of the limits.
void lrd_growth_resize_locked(lrd_shard *shard, lrd_amount share) LRD_REQUIRES(shard->lock);

/// The size of the successor of a table of so many buckets: four times as many if that is no more
/// than 256 KiB, otherwise twice as many; fewer if they are enough for what the shard may hold.
/// While its table quadruples a growing cache moves entries a third as often as if it doubled. The
/// new table is still hardly larger than the pages of the entries.
uint64_t lrd_growth_buckets_after(const lrd_shard *shard, uint64_t buckets);

/// lrd_growth_prepare_locked() when memory may be missing.
bool lrd_growth_prepare_slow_locked(lrd_shard *shard, uint64_t hash, lrd_supply *supply)
    LRD_REQUIRES(shard->lock);

/// Makes room in the table for another entry of hash `hash`, and moves a bucket of a growing table.
/// Uses the `supply`. False when memory is missing: unlock, fetch the supply and call again.
static inline bool lrd_growth_prepare_locked(lrd_shard *shard, uint64_t hash, lrd_supply *supply)
    LRD_REQUIRES(shard->lock) {
  bool at_ease = lrd_shard_is_at_ease_locked(shard) && supply->given == LRD_SUPPLY_NONE;
  return LRD_LIKELY(at_ease) || lrd_growth_prepare_slow_locked(shard, hash, supply);
}

/// The number of entries below which the table needs no preparation.
uint64_t lrd_growth_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Sets `at_ease` after a change of what that depends on.
void lrd_growth_settle_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

static inline bool lrd_growth_moves_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return lrd_shard_next_locked(shard) != NULL;
}

/// True when the table, or the one it moves to, is far too large for the entries.
bool lrd_growth_is_oversized_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// True when the table moves, or is far too large: lrd_growth_tidy_locked() has more to do.
/// `tight`: or larger than it need be, by an eighth or more.
bool lrd_growth_is_untidy_locked(lrd_shard *shard, bool tight) LRD_REQUIRES(shard->lock);

/// True when insertions have moved buckets of a growing table since `moved_seen` was set. The table
/// is then left to them: they finish before the new one is full, and would only wait for the lock.
/// A table that shrinks is not left to them: it is far too large until all of it has moved.
bool lrd_growth_advances_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Starts moving to `table`. The shard must not be moving already.
void lrd_growth_start_locked(lrd_shard *shard, lrd_table *table) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets. False when the new table needs an overflow chunk first.
bool lrd_growth_move_locked(lrd_shard *shard, int buckets) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets. Begins to move a table that is untidy, or, unless it is to be
/// `tight`, large and nearly full. Uses the `supply`. False when memory is missing, as with
/// lrd_growth_prepare_locked().
bool lrd_growth_tidy_locked(lrd_shard *shard, int buckets, bool tight, lrd_supply *supply)
    LRD_REQUIRES(shard->lock);

/// Gives the policy the history that it wants, or takes the one that it does not want. Uses the
/// `supply`, which has the former history then. False when memory is missing, as above.
bool lrd_growth_renew_locked(lrd_shard *shard, lrd_supply *supply) LRD_REQUIRES(shard->lock);

/// Gives up the tables with all entries: at once readers see an empty shard. The caller then calls
/// lrd_shard_empty_locked() for order and sums.
void lrd_growth_leave_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
