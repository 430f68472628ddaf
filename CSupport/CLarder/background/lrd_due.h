// SPDX-License-Identifier: Apache-2.0
/* lrd_due.h — a visit's part for what expires. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Removes what has expired from all shards, in slices. `*wait`: until the next entry expires, in
/// nanoseconds; 0 if none does.
lrd_progress lrd_due_expire(lrd_cache *cache, uint64_t *wait);

#pragma clang assume_nonnull end
