// SPDX-License-Identifier: Apache-2.0
/* lrd_trim.h — evicts until limits or other bounds hold, and sets the limits. */
#pragma once

#include "lrd_enter.h"
#include "lrd_garbage.h"

#pragma clang assume_nonnull begin

/// Evicts a few entries while the limits or one of the bounds (UINT64_MAX: none) do not hold, and
/// `*allowance` entries at most, which it counts down: insertions meanwhile cannot keep it forever.
/// True when it is done. False: end `garbage`, and call again with a new one.
bool lrd_trim_some(lrd_cache *cache, lrd_lane *_Nullable lane, lrd_garbage *garbage,
                   uint64_t count_bound, uint64_t cost_bound, uint64_t *allowance);

/// Sets a limit, 0 for none. Insertions that begin afterwards keep it, and none that read the
/// earlier one is still running. The caller trims what these have left.
void lrd_cache_set_count_limit(lrd_cache *cache, uint64_t limit);
void lrd_cache_set_cost_limit(lrd_cache *cache, uint64_t limit);

#pragma clang assume_nonnull end
