// SPDX-License-Identifier: Apache-2.0
/* lrd_matches.h — a walk over the linked entries of a hash, under the shard's lock and without
 * changes. These are all whose upper 48 bits of the hash are the same: their keys may differ. */
#pragma once

#include "lrd_shard.h"

#pragma clang assume_nonnull begin

typedef struct lrd_matches {
  lrd_table *table;
  lrd_bucket *bucket;
  lrd_slots slots;
  uint64_t hash;
  uint32_t bits; // cells of `bucket` still to visit
} lrd_matches;

static inline lrd_matches lrd_shard_matches_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *bucket = &table->bucket[lrd_table_index(table, hash)];
  uint32_t bits = lrd_bucket_match(bucket, lrd_table_tag(hash));
  return (lrd_matches){.table = table,
                       .bucket = bucket,
                       .slots = lrd_pool_slots(shard->pool),
                       .hash = hash,
                       .bits = bits};
}

/// The next entry of the walk; NULL at the end. Then `bucket` is the last one of the chain.
static inline lrd_entry *_Nullable lrd_matches_next_locked(lrd_matches *matches) {
  for (;;) {
    while (matches->bits) {
      int cell = __builtin_ctz(matches->bits);
      matches->bits &= matches->bits - 1;
      lrd_entry *entry = lrd_slots_entry(matches->slots, lrd_bucket_id(matches->bucket, cell));
      if (lrd_entry_may_match(entry, matches->hash)) return entry;
    }
    lrd_bucket *next = lrd_table_next_bucket(matches->table, matches->bucket);
    if (!next) return NULL;
    matches->bucket = next;
    matches->bits = lrd_bucket_match(matches->bucket, lrd_table_tag(matches->hash));
  }
}

/// An entry of this hash; NULL if there is none.
static inline lrd_entry *_Nullable lrd_shard_find_hash_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_matches matches = lrd_shard_matches_locked(shard, hash);
  return lrd_matches_next_locked(&matches);
}

#pragma clang assume_nonnull end
