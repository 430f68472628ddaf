// SPDX-License-Identifier: Apache-2.0
/* lrd_timing.h — lifetimes, for the layer above: gives them to entries, asks for them and changes
 * them. Times are nanoseconds; 0 is "at once", LRD_NEVER and more than a hundred years "never".
 *
 *   entry = lrd_slot_take_timed()       instead of lrd_slot_take(), for a lifetime of its own
 *   lrd_entry_describe_timed()          instead of lrd_entry_describe(), or …_until()
 *   lrd_insertion_begin(), lrd_insertion_finish()
 *
 * A lifetime begins when its entry is published; a deadline stays where it is. An entry that was
 * described without either gets the lifetime of the cache then, if entries of the cache can expire.
 * A cache that was made without lifetimes needs lrd_cache_retrofit() before it is given the first
 * one. */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

/// A free slot that has room for a deadline; NULL without memory. `lane` NULL: straight from the
/// pool. Not while a lock is held.
lrd_entry *_Nullable lrd_slot_take_timed(lrd_cache *cache, lrd_lane *_Nullable lane, uint64_t cost);

/// lrd_entry_describe() of an entry that is to live for `lifetime`.
void lrd_entry_describe_timed(lrd_entry *entry, uint64_t hash, uint64_t cost, uint64_t lifetime);

/// The same of one that is to live until a deadline: that of lrd_entry_own_deadline_locked().
void lrd_entry_describe_until(lrd_entry *entry, uint64_t hash, uint64_t cost, uint64_t deadline);

/// Describes an entry, in a slot with more room, as the one that was UNFIT (lrd_insertion.h).
void lrd_entry_describe_again(lrd_entry *moved, const lrd_entry *entry, uint64_t hash);

/// The deadlines of an entry, and when it was written, for another entry that is to have the same.
/// 0 if the entry cannot expire.
typedef struct lrd_timing {
  uint64_t word;
  uint64_t hard;
} lrd_timing;

/// Of an entry that cannot change: removed and not destroyed yet, or under the lock.
lrd_timing lrd_entry_timing(lrd_cache *cache, const lrd_entry *entry);

/// lrd_entry_describe() of an entry with the times of another one. To be stored counts as a use.
void lrd_entry_describe_as(lrd_cache *cache, lrd_entry *entry, uint64_t hash, uint64_t cost,
                           lrd_timing timing);

bool lrd_timing_is_expired(lrd_cache *cache, lrd_timing timing);

/// True when entries that have expired stay for a grace.
static inline bool lrd_cache_has_grace(const lrd_cache *cache) {
  return lrd_cache_is_timed(cache) && cache->shards->timer->wheel.grace;
}

/// True until the grace of an entry that has expired is over (lrd_wheel.h).
bool lrd_entry_is_in_grace_locked(lrd_shard *shard, const lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// The cache's time in nanoseconds.
static inline uint64_t lrd_cache_now(const lrd_cache *cache) {
  return lrd_now(cache->clock);
}

/// What is left of an entry's lifetime if nobody uses it; LRD_NEVER if it does not end.
uint64_t lrd_entry_remaining_locked(lrd_cache *cache, const lrd_entry *entry);

/// What is left of an entry's lifetime if it is used all the time; LRD_NEVER if it does not end.
uint64_t lrd_entry_remaining_used_locked(lrd_cache *cache, const lrd_entry *entry);

/// How long ago the entry was written, rounded down by up to a tick (lrd_clock.h). Of an entry with
/// a lifetime of its own it is wrong by up to a fiftieth of that.
uint64_t lrd_entry_age_locked(lrd_cache *cache, lrd_shard *shard, const lrd_entry *entry)
    LRD_REQUIRES(shard->lock);

/// True when the entry was given a lifetime of its own; `*deadline` is the tick at which it ends.
bool lrd_entry_own_deadline_locked(lrd_cache *cache, const lrd_entry *entry, uint64_t *deadline);

/// Gives a linked entry this lifetime, from now on; not 0. False if entries of this cache cannot
/// expire. `*asks`: the caller asks for a visit once it has unlocked.
bool lrd_entry_set_lifetime_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *entry,
                                   uint64_t lifetime, bool *asks) LRD_REQUIRES(shard->lock);

/// Asks for a visit. The caller holds no lock.
static inline void lrd_cache_ask(lrd_cache *cache) {
  lrd_request_visit(&cache->request);
}

/// Parts of a rule, as a set.
enum { LRD_AFTER_WRITE = 1, LRD_AFTER_ACCESS = 2, LRD_JITTER = 4, LRD_WHOLE_RULE = 7 };

/// The rule for entries without a lifetime of their own. To set `parts` of it changes the deadlines
/// of what is stored: O(n), in slices. False if they have no room for it (lrd_retrofit.h), or
/// without memory: then either the rule stays as it is, or some entries keep the deadlines of the
/// former one.
lrd_expiration lrd_cache_expiration(lrd_cache *cache);
bool lrd_cache_set_expiration(lrd_cache *cache, lrd_expiration expiration, uint32_t parts);

/// True when some entries go by a former rule, for want of memory or since fork() came in the midst
/// of a change. To set the rule again mends that.
bool lrd_cache_is_torn(lrd_cache *cache);

#pragma clang assume_nonnull end
