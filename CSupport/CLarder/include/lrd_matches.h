// SPDX-License-Identifier: Apache-2.0
/* lrd_matches.h — the entries that a key may be among, looked for under the lock by a writer. */
#pragma once

#include "lrd_shard.h"

#pragma clang assume_nonnull begin

/// A walk over the linked entries of one hash, while the lock is held and nothing is changed. Equal
/// hashes are not equal keys.
typedef struct lrd_matches {
  lrd_table *table;
  lrd_bucket *bucket;
  uint64_t hash;
  uint32_t bits; // slots of `bucket` still to be looked at
} lrd_matches;

static inline lrd_matches lrd_shard_matches_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *bucket = &table->bucket[lrd_table_index(table, hash)];
  uint32_t bits = lrd_bucket_match(bucket, lrd_table_tag(hash));
  return (lrd_matches){.table = table, .bucket = bucket, .hash = hash, .bits = bits};
}

/// The next entry whose hash is that of the walk; NULL at the end.
static inline lrd_entry *_Nullable lrd_matches_next_locked(lrd_matches *matches) {
  for (;;) {
    while (matches->bits) {
      int slot = __builtin_ctz(matches->bits) / 4;
      matches->bits &= matches->bits - 1;
      uint64_t word = atomic_load_explicit(&matches->bucket->slots[slot], memory_order_relaxed);
      if (lrd_entry_may_match(lrd_table_entry(word), matches->hash)) return lrd_table_entry(word);
    }
    uint64_t overflow = atomic_load_explicit(&matches->bucket->link, memory_order_relaxed);
    overflow &= LRD_LINK_OVERFLOW;
    if (!overflow) return NULL;
    matches->bucket = lrd_table_overflow(matches->table, overflow - 1);
    matches->bits = lrd_bucket_match(matches->bucket, lrd_table_tag(matches->hash));
  }
}

#pragma clang assume_nonnull end
