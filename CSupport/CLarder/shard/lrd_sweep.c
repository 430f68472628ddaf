// SPDX-License-Identifier: Apache-2.0
#include "lrd_sweep.h"

/// The lowest hash of bucket `index`, in units of 2^16, which is what an index is made of. One past
/// all hashes for the bucket behind the last.
static uint64_t first_hash48(const lrd_table *table, uint64_t index) {
  unsigned __int128 hash = ((unsigned __int128)index << 64) + table->buckets - 1;
  return (uint64_t)((hash / table->buckets + 0xffff) >> 16);
}

static const uint64_t end_of_hashes = (uint64_t)1 << 48;

size_t lrd_sweep_next_locked(lrd_shard *shard, lrd_sweep *sweep, lrd_entry **entries, size_t room) {
  lrd_table *root = lrd_shard_root_locked(shard);
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
    for (;;) {
      for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
        uint64_t word = atomic_load_explicit(&bucket->cells[i], memory_order_relaxed);
        if (!word) continue;
        lrd_entry *entry = lrd_table_entry(word);
        // A position inside a bucket: the table was another one when its first part was visited.
        if (lrd_entry_hash48(entry) < sweep->position) continue;
        if (found < room) entries[found] = entry;
        found++;
      }
      uint64_t link = atomic_load_explicit(&bucket->link, memory_order_relaxed) & LRD_LINK_OVERFLOW;
      if (!link) break;
      bucket = lrd_table_overflow(table, link - 1);
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
