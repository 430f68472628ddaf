// SPDX-License-Identifier: Apache-2.0
/* lrdt_advisor.h — a window into the adaptive policy. */
#pragma once

#include "../../../CSupport/CLarder/policies/adaptive/lrd_advisor.h"
#include "../../../CSupport/CLarder/policies/adaptive/lrd_samples.h"
#include "CLarder.h"

#pragma clang assume_nonnull begin

const lrd_expert *lrdt_expert(uint32_t number);

/// Makes a cache of the adaptive policy follow one expert for good: its advisor's lock stays taken,
/// so that no shadow is made or asked. It takes what is missed for loaded.
void lrdt_pin_expert(lrd_cache *cache, uint32_t number);

/// What an advisor with shadows of `capacity` (256 at least, for as many entries) turns to from
/// `current` when the shadows have missed so often.
uint32_t lrdt_decide(uint32_t capacity, uint32_t current, const double *misses);

/// The misses that expert `number` is charged with after the cache, which follows `current`, has
/// missed a key that all shadows hold.
double lrdt_miss_of_held(uint32_t current, uint32_t number);

/// The expert that a cache of the adaptive policy follows now.
uint32_t lrdt_current_expert(lrd_cache *cache);

/// The buckets of ghosts that its shards have. No other thread may use it.
uint64_t lrdt_ghost_buckets(lrd_cache *cache);

#pragma clang assume_nonnull end
