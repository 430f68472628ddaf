// SPDX-License-Identifier: Apache-2.0
/* lrd_due.h — a visit's part for what expires. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Removes what has expired from all shards, in slices. `*wait`: until the next visit, in
/// nanoseconds: when the next entry expires, but not before a pause; 0 if none will.
lrd_progress lrd_due_expire(lrd_cache *cache, uint64_t *wait);

#pragma clang assume_nonnull end
