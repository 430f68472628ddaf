// SPDX-License-Identifier: Apache-2.0
/* lrd_adaptive_insert.h — where a new entry begins. In order, after the evictions for it:
 *   1. Does the upkeep if that is due (lrd_sampling.h).
 *   2. Enters the main queue: if a ghost proves the key and the program loads what it misses; under
 *      CLOCK; or while the cache fills up under an expert that fills, once the small queue has its
 *      share. Otherwise enters the young half of the small queue.
 *   3. Ages up to LRD_AGEING_MOST of the oldest young entries, while there are too many of them:
 *      they become old and lose their hits.
 *   4. Tells the advisor if the key is sampled.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

/// The policy's `insert`.
void lrd_adaptive_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);

#pragma clang assume_nonnull end
