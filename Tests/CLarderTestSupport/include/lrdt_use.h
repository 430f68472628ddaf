// SPDX-License-Identifier: Apache-2.0
/* lrdt_use.h — uses of an entry that has an idle lifetime, as threads make them that are slow. */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// An empty cache of one shard with an idle lifetime in nanoseconds; NULL without memory.
lrd_cache *_Nullable lrdt_cache_create_idle(lrd_manual_clock *clock, uint64_t idle);

/// lrd_entry_lives() for a thread that has read the time when it was `now`, and takes it for the
/// present one.
bool lrdt_use_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now);

/// The first part of a change of the idle lifetime: hits hear of it, and no entry goes by it yet.
void lrdt_announce_idle(lrd_cache *cache, uint64_t idle);

#pragma clang assume_nonnull end
