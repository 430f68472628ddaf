// SPDX-License-Identifier: Apache-2.0
/* lrd_local_insert.h — stores an entry in a local cache. The steps are those of lrd_insertion.c, and
 * so is the result, entry by entry, for a cache of one shard that one thread uses. */
#pragma once

#include "lrd_local.h"

#pragma clang assume_nonnull begin

/// Stores `entry`, in place of `old` if there is one, within the limits. What leaves is added to
/// `removed`. The entry stays the caller's, except after INSERTED and REPLACED.
lrd_result lrd_local_insert(lrd_local *local, lrd_entry *entry, lrd_entry *_Nullable old,
                            uint64_t hash, lrd_chain *removed);

/// Stores a new entry that costs nothing, if there is room, the bucket of its hash has a free cell,
/// and no memory has to be had. Otherwise false: call lrd_local_insert().
bool lrd_local_add(lrd_local *local, lrd_entry *entry, uint64_t hash, lrd_bucket *bucket);

#pragma clang assume_nonnull end
