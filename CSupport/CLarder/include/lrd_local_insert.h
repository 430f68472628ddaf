// SPDX-License-Identifier: Apache-2.0
/* lrd_local_insert.h — stores an entry in a local cache. The steps are those of lrd_insertion.c,
 * and so is the result, entry by entry, for a cache of one shard that one thread uses. */
#pragma once

#include "lrd_local_lookup.h"

#pragma clang assume_nonnull begin

/// Stores `entry`, in place of `old` if there is one, within the limits. What leaves is added to
/// `removed`. The entry stays the caller's, except after INSERTED and REPLACED.
lrd_result lrd_local_insert(lrd_local *local, lrd_entry *entry, lrd_entry *_Nullable old,
                            uint64_t hash, lrd_chain *removed);

/// Calls the policy's `adjust`, which its `insert` has asked for.
void lrd_local_adjust(lrd_local *local);

/// Stores a new entry that costs nothing, if there is room, the bucket of its hash has a free cell,
/// and no memory has to be had. Otherwise false: call lrd_local_insert().
LRD_INLINE bool lrd_local_add(lrd_local *local, lrd_entry *entry, uint64_t hash,
                              lrd_bucket *bucket) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = &local->shard;
  lrd_order *order = &shard->order;
  uint32_t empty = lrd_bucket_empty(bucket);
  if (LRD_UNLIKELY(!empty || order->history.wanted != order->history.bytes)) return false;
  lrd_entry_set_linked(entry);
  lrd_bucket_fill(bucket, __builtin_ctz(empty), lrd_table_tag(hash), entry->prev);
  shard->count++;
  shard->policy->insert(order, shard->pool, entry, entry->prev);
  if (LRD_UNLIKELY(order->adjust)) lrd_local_adjust(local);
  return true;
}

#pragma clang assume_nonnull end
