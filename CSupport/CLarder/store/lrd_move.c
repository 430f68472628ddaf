// SPDX-License-Identifier: Apache-2.0
#include "lrd_move.h"

/// Tables from this size on have entries that the processor does not have at hand.
static const uint64_t far_buckets = 4096;

static __attribute__((noinline)) void add_item(lrd_table *table, uint64_t hash, lrd_item item) {
  lrd_bucket *last = &table->bucket[lrd_table_index(table, hash)];
  for (lrd_bucket *next; (next = lrd_table_next_bucket(table, last));) last = next;
  lrd_table_add_locked(table, last, item);
}

/// Copies the entries of one bucket of a chain to its successors, which begin with bucket `first`.
/// `used`: the cells that are full in each. That no more fit does not happen to a bucket that is
/// alone.
LRD_INLINE void split(const lrd_bucket *bucket, lrd_table *next, uint64_t first, lrd_slots slots,
                      int used[LRD_SUCCESSORS_MOST], bool alone) {
  const uint64_t buckets = next->buckets;
  const bool hinted = next->hints;
  for (uint32_t full = lrd_bucket_full(bucket); full; full &= full - 1) {
    lrd_item item = lrd_bucket_item(bucket, __builtin_ctz(full), slots);
    uint64_t hash = lrd_entry_hash48_locked(item.entry);
    uint64_t to = lrd_bucket_of(hash, buckets) - first;
    LRD_ASSERT(to < LRD_SUCCESSORS_MOST);
    if (!alone && used[to] == LRD_BUCKET_CELLS) {
      add_item(next, hash, item);
      continue;
    }
    if (hinted) lrd_table_hint_at(next, first + to, used[to], item.entry);
    lrd_bucket_fill(&next->bucket[first + to], used[to]++, item.tag, item.id);
  }
}

void lrd_table_split(const lrd_bucket *bucket, lrd_table *next, uint64_t first, lrd_slots slots) {
  int used[LRD_SUCCESSORS_MOST] = {0};
  split(bucket, next, first, slots, used, true);
}

/// The same for a chain.
static void split_chain(lrd_table *root, lrd_bucket *bucket, lrd_table *next, uint64_t first,
                        lrd_slots slots) {
  int used[LRD_SUCCESSORS_MOST] = {0};
  for (; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    split(bucket, next, first, slots, used, false);
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

/// The buckets of `next` that take the entries of one of `root`; 0 where they share buckets with
/// others, or are more than LRD_SUCCESSORS_MOST.
static uint64_t successors(const lrd_table *root, const lrd_table *next) {
  if (LRD_LIKELY(next->buckets == 2 * root->buckets)) return 2;
  return next->buckets == 4 * root->buckets ? 4 : 0;
}

bool lrd_table_move_bucket_locked(lrd_table *root, lrd_slots slots) {
  lrd_table *next = LRD_LOAD(&root->next);
  lrd_bucket *head = &root->bucket[root->moved];
  bool ahead = root->buckets >= far_buckets && root->moved + 1 < root->buckets;
  if (ahead) prefetch(&head[1], slots);
  bool alone = !(LRD_LOAD(&head->link) & LRD_LINK_OVERFLOW);
  uint64_t each = successors(root, next), first = each * root->moved;
  if (!(alone && each) && !has_room(root, head, next)) return false;
  if (each) lrd_table_make_ready_to(next, first + each);
  if (LRD_LIKELY(alone && each)) {
    lrd_table_split(head, next, first, slots);
  } else if (each) {
    split_chain(root, head, next, first, slots);
  } else {
    copy(root, head, next, slots);
  }
  lrd_table_leave_locked(root, head);
  root->moved++;
  return true;
}
