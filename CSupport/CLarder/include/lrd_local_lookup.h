// SPDX-License-Identifier: Apache-2.0
/* lrd_local_lookup.h — how a local cache finds an entry, and notes that it did.
 *
 *   bucket = lrd_local_bucket()
 *   entry = lrd_local_found()     NULL: there is none, unless lrd_local_goes_on()
 *     compare the key; if it differs, or the bucket goes on, look at lrd_shard_matches_locked()
 *   lrd_local_hit() or lrd_local_miss()
 *
 * While a value is being changed in place all lookups find one bucket, which is empty and goes on.
 * So where a bucket goes on, ask lrd_local_is_exclusive(). Nobody else stores here: no load needs
 * an order, and none is repeated. */
#pragma once

#include "lrd_local.h"

#pragma clang assume_nonnull begin

LRD_INLINE lrd_bucket *lrd_local_bucket(const lrd_local *local, uint64_t hash) {
  return local->bucket + lrd_bucket_of(hash, local->buckets);
}

/// An entry in the bucket whose hash may be `hash`.
LRD_INLINE lrd_entry *_Nullable lrd_local_found(lrd_local *local, const lrd_bucket *bucket,
                                                uint64_t hash) {
  uint32_t bits = lrd_bucket_search(bucket, hash);
  if (LRD_UNLIKELY(!bits)) return NULL;
  lrd_entry *entry = lrd_pool_entry(&local->cache.pool, lrd_bucket_id(bucket, __builtin_ctz(bits)));
  LRD_ASSUME(entry != NULL);
  return entry;
}

LRD_INLINE bool lrd_local_goes_on(const lrd_bucket *bucket) {
  return LRD_LOAD(&bucket->link) & (LRD_LINK_MOVED | LRD_LINK_OVERFLOW);
}

/// Tells the policy of a hit.
void lrd_local_access(lrd_local *local, lrd_entry *entry);

LRD_INLINE void lrd_local_hit(lrd_local *local, lrd_entry *entry) {
  local->hits++;
  uint8_t bits = lrd_entry_bits(entry);
  if (bits >= local->counts_to) return;
  if (LRD_LIKELY(local->counts_to != LRD_LOCAL_TELLS)) {
    lrd_entry_set_bits(entry, (uint8_t)(bits + 1));
  } else if (entry->prev != LRD_NIL || local->cache.policy != &lrd_policy_lru) {
    lrd_local_access(local, entry); // the most recent entry of an LRU stays where it is
  }
}

/// Tells the policy of a miss that it listens for.
void lrd_local_miss_slow(lrd_local *local, uint64_t hash);

/// lrd_note_absent() (lrd_lookup.h).
LRD_INLINE void lrd_local_note_absent(lrd_local *local, uint64_t hash) {
  if (LRD_UNLIKELY((uint32_t)(hash >> 32) < LRD_LOAD(local->cache.listens))) {
    lrd_local_miss_slow(local, hash);
  }
}

LRD_INLINE void lrd_local_miss(lrd_local *local, uint64_t hash) {
  local->misses++;
  lrd_local_note_absent(local, hash);
}

#pragma clang assume_nonnull end
