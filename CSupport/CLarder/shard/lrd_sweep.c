// SPDX-License-Identifier: Apache-2.0
#include "lrd_sweep.h"

/// The upper 48 bits of the lowest hash of bucket `index`; 2^48 for the bucket behind the last.
static uint64_t first_hash48(const lrd_table *table, uint64_t index) {
  unsigned __int128 hash = ((unsigned __int128)index << 64) + table->buckets - 1;
  return (uint64_t)((hash / table->buckets + 0xffff) >> 16);
}

static const uint64_t end_of_hashes = (uint64_t)1 << 48;

size_t lrd_sweep_next_locked(lrd_shard *shard, lrd_sweep *sweep, lrd_entry **entries, size_t room) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_slots slots = lrd_pool_slots(shard->pool);
  size_t count = 0;
  for (int visits = 0; visits < LRD_SWEEP_BUCKETS && !sweep->done; visits++) {
    lrd_table *table = lrd_table_home_locked(root, sweep->position);
    uint64_t index = lrd_table_index(table, sweep->position);
    uint64_t end = first_hash48(table, index + 1);
    if (table != root) {
      // What has not moved yet is still in the old table.
      uint64_t unmoved = first_hash48(root, root->moved);
      if (end > unmoved) end = unmoved;
    }
    size_t found = count;
    lrd_bucket *bucket = &table->bucket[index];
    for (; bucket; bucket = lrd_table_next_bucket(table, bucket)) {
      for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
        lrd_entry *entry = lrd_slots_entry(slots, lrd_bucket_id(bucket, __builtin_ctz(full)));
        // Visited already, when the table was another one: the position is inside of this bucket.
        if (lrd_entry_hash48(entry) < sweep->position) continue;
        if (found < room) entries[found] = entry;
        found++;
      }
    }
    if (found > room) {
      if (!count) sweep->room = found;
      return count;
    }
    count = found;
    sweep->done = end >= end_of_hashes;
    sweep->position = end << 16;
  }
  return count;
}
