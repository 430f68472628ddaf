// SPDX-License-Identifier: Apache-2.0
/* lrd_evict.h — which entry goes when room is short, and its going.
 *
 * The policy names the victim. Where cost is short, entries of cost 0 are passed over: to evict them
 * would free none. The policy lets others go first (`pass` of lrd_policy). An eviction passes over
 * LRD_PASSED_OVER_MOST entries at most and then takes what is named, so that its steps are bounded.
 * Policies that go by cost are not interfered with. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Entries that one eviction passes over at most.
#define LRD_PASSED_OVER_MOST 16

/// Evicts one entry other than `spared`, whose state becomes `reason`, because of `shortage`. False
/// when there is none that would help. Should `spared` be the next to go, it is displaced: what
/// replaces it then enters the order as a new entry.
bool lrd_evict_locked(lrd_cache *cache, lrd_shard *shard, lrd_entry *_Nullable spared,
                      uint8_t reason, lrd_shortage shortage, lrd_chain *victims)
    LRD_REQUIRES(shard->lock);

#pragma clang assume_nonnull end
