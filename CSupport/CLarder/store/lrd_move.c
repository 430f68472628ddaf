// SPDX-License-Identifier: Apache-2.0
#include "lrd_move.h"

/// Tables from this size on have entries that the processor does not have at hand.
static const uint64_t far_buckets = 4096;

static __attribute__((noinline)) void add_item(lrd_table *table, uint64_t hash, lrd_item item) {
  lrd_bucket *last = &table->bucket[lrd_table_index(table, hash)];
  for (lrd_bucket *next; (next = lrd_table_next_bucket(table, last));) last = next;
  lrd_table_add_locked(table, last, item);
}

/// Copies the entries of one bucket of a chain to its successors. `used`: the cells that are full
/// in each. That no more fit does not happen to a bucket that is alone.
LRD_INLINE void split(const lrd_bucket *bucket, lrd_table *twice, uint64_t index, lrd_slots slots,
                      int used[2], bool alone) {
  const uint64_t buckets = twice->buckets;
  const bool hinted = twice->hints;
  for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
    lrd_item item = lrd_bucket_item(bucket, __builtin_ctz(full), slots);
    uint64_t hash = lrd_entry_hash48_locked(item.entry);
    uint64_t to = lrd_bucket_of(hash, buckets) - 2 * index;
    LRD_ASSERT(to < 2);
    if (!alone && used[to] == LRD_BUCKET_CELLS) {
      add_item(twice, hash, item);
      continue;
    }
    if (hinted) lrd_table_hint_at(twice, 2 * index + to, used[to], item.entry);
    lrd_bucket_fill(&twice->bucket[2 * index + to], used[to]++, item.tag, item.id);
  }
}

void lrd_table_split(const lrd_bucket *bucket, lrd_table *twice, uint64_t index, lrd_slots slots) {
  int used[2] = {0, 0};
  split(bucket, twice, index, slots, used, true);
}

/// Copies the entries of a chain to a table of twice the size.
static void split_chain(lrd_table *root, lrd_bucket *bucket, lrd_table *twice, lrd_slots slots) {
  uint64_t index = root->moved;
  int used[2] = {0, 0};
  lrd_table_make_ready_to(twice, 2 * index + 2);
  for (; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    split(bucket, twice, index, slots, used, false);
  }
}

/// Copies the entries of a chain to a table of any size.
static void copy(lrd_table *root, lrd_bucket *head, lrd_table *next, lrd_slots slots) {
  // The last bucket of the successor that a hash of this bucket can belong to.
  unsigned __int128 scaled = (unsigned __int128)(root->moved + 1) * next->buckets;
  bool small = !(scaled >> 64); // the usual case, whose division is short
  uint64_t last = small ? (uint64_t)scaled / root->buckets : (uint64_t)(scaled / root->buckets);
  lrd_table_make_ready_to(next, last < next->buckets ? last + 1 : next->buckets);
  for (lrd_bucket *bucket = head; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
      lrd_item item = lrd_bucket_item(bucket, __builtin_ctz(full), slots);
      add_item(next, lrd_entry_hash48_locked(item.entry), item);
    }
  }
}

/// True when the entries of a chain find room: they need no more overflow buckets than the chain
/// has buckets.
static bool has_room(lrd_table *root, lrd_bucket *bucket, lrd_table *next) {
  uint64_t length = 0;
  for (; bucket; bucket = lrd_table_next_bucket(root, bucket)) length++;
  return lrd_table_overflow_left_locked(next) >= length;
}

/// Begins to load the entries of a bucket: moving it will read their hashes.
static void prefetch(const lrd_bucket *bucket, lrd_slots slots) {
  for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
    LRD_PREFETCH(lrd_bucket_item(bucket, __builtin_ctz(full), slots).entry);
  }
}

bool lrd_table_move_bucket_locked(lrd_table *root, lrd_slots slots) {
  lrd_table *next = LRD_LOAD(&root->next);
  lrd_bucket *head = &root->bucket[root->moved];
  bool ahead = root->buckets >= far_buckets && root->moved + 1 < root->buckets;
  if (ahead) prefetch(&head[1], slots);
  uint64_t link = LRD_LOAD(&head->link);
  bool alone = !(link & LRD_LINK_OVERFLOW), doubles = next->buckets == 2 * root->buckets;
  if (LRD_LIKELY(alone && doubles)) {
    lrd_table_make_ready_to(next, 2 * root->moved + 2);
    lrd_table_split(head, next, root->moved, slots);
  } else {
    if (!has_room(root, head, next)) return false;
    (doubles ? split_chain : copy)(root, head, next, slots);
  }
  lrd_table_leave_locked(root, head);
  root->moved++;
  return true;
}
