// SPDX-License-Identifier: Apache-2.0
/* lrd_dense.h — a visit's part for pools that are sparse: moves entries together (lrd_compact.h).
 *
 * A pool that is sparse is left alone while entries go on leaving, and a while longer: they might
 * all leave, or others come. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Looks after the pool. `*wait`: until the next look is wanted, in nanoseconds, if one is.
lrd_progress lrd_dense_tend(lrd_cache *cache, uint64_t *wait);

#pragma clang assume_nonnull end
