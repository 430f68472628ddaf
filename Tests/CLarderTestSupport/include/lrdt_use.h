// SPDX-License-Identifier: Apache-2.0
/* lrdt_use.h — caches whose entries expire: uses and insertions by threads that are slow, and what
 * comes in between. */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// An empty cache of one shard, without limits; NULL without memory. `timed`: its entries go by
/// `expiration`. Otherwise they cannot expire yet.
lrd_cache *_Nullable lrdt_cache_create_timed(lrd_manual_clock *clock, bool timed,
                                             lrd_expiration expiration);

/// Lets a thread take `now`, in nanoseconds, for the time until it is told another one.
void lrdt_lane_set_time(lrd_lane *lane, uint64_t now);

/// Lets a thread read the clock again.
void lrdt_lane_unset_time(lrd_lane *lane);

/// lrd_entry_prolong() for a thread that has read the time when it was `now`, and takes it for the
/// present one.
bool lrdt_use_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now);

/// True when such a thread goes the shortest way.
bool lrdt_use_is_short_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now);

/// The first part of a change of the idle lifetime: hits hear of it, and no entry goes by it yet.
void lrdt_announce_idle(lrd_cache *cache, uint64_t idle);

/// The first part of a change of the rule: the shard goes by it, and no entry follows it yet.
void lrdt_begin_rule(lrd_cache *cache, lrd_expiration expiration);

/// A change of the rule as its thread leaves it where it is lost at the first moment: nothing but
/// the cache knows of it.
void lrdt_leave_rule(lrd_cache *cache, lrd_expiration expiration);

/// Uses an entry. After instruction `stop` of that, gives the entry a lifetime. False when the use
/// has ended before. In steps, see lrdt_play.h.
bool lrdt_use_interrupted(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t lifetime,
                          uint64_t stop);

/// Calls lrd_cache_retrofit(). After each of its instructions looks at what other threads are told.
/// NULL, or what is wrong with it. `*steps`: how often it looked.
const char *_Nullable lrdt_retrofit_in_steps(lrd_cache *cache, bool by_use, uint64_t *steps);

#pragma clang assume_nonnull end
