// SPDX-License-Identifier: Apache-2.0
/* lrd_retire.h — between unlinking and destruction; the inner side of lrd_change.h. */
#pragma once

#include "lrd_change.h"

#pragma clang assume_nonnull begin

/// Retires `removed`, or makes it ready where no reader can hold it; takes up what became due.
void lrd_retire_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Takes what waits in a shard to be scanned: retired entries and tables.
void lrd_retire_collect_locked(lrd_shard *shard, lrd_change *change) LRD_REQUIRES(shard->lock);

/// True when anything waits in the shard.
bool lrd_retire_waits_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Finds out, for the maintenance thread, whether writers have removed so much since its last visit
/// that what waits is turned over by themselves. It had better not touch that: what it destroys
/// goes to another thread's allocator, and its fence interrupts the writers.
bool lrd_retire_attend_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// From now on all that is retired awaits a fence. False when nothing does.
bool lrd_retire_await_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// As lrd_retire_collect_locked(), but of the entries only those that have had their fence, and of
/// a shard that is attended none.
void lrd_retire_collect_passed_locked(lrd_shard *shard, lrd_change *change)
    LRD_REQUIRES(shard->lock);

/// Makes up to `most` proven entries ready; those that turn out to be held are retired again, and
/// the change is then unsettled.
void lrd_retire_take_proven_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                   uint32_t most) LRD_REQUIRES(shard->lock);

/// Scans all hazard slots: splits `change->suspect` into what some reader holds and what none does,
/// and frees those of `change->tables` that no reader is inside.
void lrd_retire_scan(lrd_cache *cache, lrd_change *change, lrd_chain *held, lrd_chain *free);

/// Scans what the change has gathered. The entries go back to the shard: those nobody holds to wait
/// for their destruction, if they can be told apart later without looking at each.
void lrd_retire_settle(lrd_cache *cache, lrd_change *change);

/// The same at once and in full: what nobody holds becomes ready.
void lrd_retire_settle_at_once(lrd_cache *cache, lrd_change *change);

/// True when more waits for destruction than the shard should keep.
bool lrd_retire_is_behind_locked(lrd_cache *cache, const lrd_shard *shard)
    LRD_REQUIRES(shard->lock);

/// Leaves proven entries in a shard, to be destroyed before all others: so a tree of destructions
/// that insert others keeps no more than its branches waiting, not its breadth.
void lrd_retire_leave_ready_locked(lrd_shard *shard, lrd_chain *free) LRD_REQUIRES(shard->lock);

/// The shard where what a change could not free goes back to.
static inline lrd_shard *lrd_retire_home(lrd_cache *cache, const lrd_change *change) {
  return change->shard ? change->shard : &cache->shards[0];
}

/// Destroys what is ready, by the hooks.
void lrd_retire_destroy_ready(lrd_cache *cache, lrd_change *change);

/// Puts what a scan left back into a shard: what is held to be scanned again, what is free to be
/// destroyed in turn; the change owes the destructions by which that exceeds its bound.
void lrd_retire_put_back_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                lrd_chain *held, lrd_chain *free) LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
