// SPDX-License-Identifier: Apache-2.0
#include "lrd_move.h"

/// Tables from this size on have entries that the processor does not have at hand.
static const uint64_t far_buckets = 4096;

static __attribute__((noinline)) void add_word(lrd_table *table, uint64_t hash, uint64_t word) {
  lrd_bucket *last = &table->bucket[lrd_table_index(table, hash)];
  for (lrd_bucket *next; (next = lrd_table_next_bucket(table, last));) last = next;
  lrd_table_add_locked(table, last, word);
}

/// Copies the entries of one bucket of a chain to its successors. `at`: the next cell of each,
/// which is the link once all cells are full. That does not happen to a bucket that is alone.
LRD_INLINE void split(const lrd_bucket *bucket, lrd_table *twice, uint64_t index,
                      _Atomic(uint64_t) *at[2], bool alone) {
  const uint64_t buckets = twice->buckets;
  const bool hinted = twice->hints;
  for (uint32_t full = LRD_BUCKET_ALL & ~lrd_bucket_match(bucket, 0); full; full &= full - 1) {
    uint64_t word = LRD_LOAD(&bucket->cells[__builtin_ctz(full)]);
    uint64_t hash = lrd_entry_hash48_locked(lrd_table_entry(word));
    uint64_t to = lrd_bucket_of(hash, buckets) - 2 * index;
    LRD_ASSERT(to < 2);
    if (!alone && at[to] == &twice->bucket[2 * index + to].link) {
      add_word(twice, hash, word);
      continue;
    }
    if (hinted) {
      uint64_t number = (uintptr_t)at[to] / sizeof *at[to] % 8;
      lrd_table_hint_at(twice, 2 * index + to, number, lrd_table_entry(word));
    }
    atomic_store_explicit(at[to]++, word, memory_order_release);
  }
}

void lrd_table_split(const lrd_bucket *bucket, lrd_table *twice, uint64_t index) {
  lrd_bucket *heads = &twice->bucket[2 * index];
  _Atomic(uint64_t) *at[2] = {heads[0].cells, heads[1].cells};
  split(bucket, twice, index, at, true);
}

/// Copies the entries of a chain to a table of twice the size.
static void split_chain(lrd_table *root, lrd_bucket *bucket, lrd_table *twice) {
  uint64_t index = root->moved;
  lrd_bucket *heads = &twice->bucket[2 * index];
  _Atomic(uint64_t) *at[2] = {heads[0].cells, heads[1].cells};
  lrd_table_make_ready_to(twice, 2 * index + 2);
  for (; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    split(bucket, twice, index, at, false);
  }
}

/// Copies the entries of a chain to a table of any size.
static void copy(lrd_table *root, lrd_bucket *head, lrd_table *next) {
  // The last bucket of the successor that a hash of this bucket can belong to.
  unsigned __int128 scaled = (unsigned __int128)(root->moved + 1) * next->buckets;
  bool small = !(scaled >> 64); // the usual case, whose division is short
  uint64_t last = small ? (uint64_t)scaled / root->buckets : (uint64_t)(scaled / root->buckets);
  lrd_table_make_ready_to(next, last < next->buckets ? last + 1 : next->buckets);
  for (lrd_bucket *bucket = head; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      uint64_t word = LRD_LOAD(&bucket->cells[i]);
      if (word) add_word(next, lrd_entry_hash48_locked(lrd_table_entry(word)), word);
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

bool lrd_table_move_bucket_locked(lrd_table *root) {
  lrd_table *next = LRD_LOAD(&root->next);
  lrd_bucket *head = &root->bucket[root->moved];
  if (root->buckets >= far_buckets && root->moved + 1 < root->buckets) {
    // Begins to load the entries of the bucket after this one: moving it will read their hashes.
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      LRD_PREFETCH(lrd_table_entry(LRD_LOAD(&head[1].cells[i])));
    }
  }
  uint64_t link = LRD_LOAD(&head->link);
  bool alone = !(link & LRD_LINK_OVERFLOW), doubles = next->buckets == 2 * root->buckets;
  if (LRD_LIKELY(alone && doubles)) {
    lrd_table_make_ready_to(next, 2 * root->moved + 2);
    lrd_table_split(head, next, root->moved);
  } else {
    if (!has_room(root, head, next)) return false;
    (doubles ? split_chain : copy)(root, head, next);
  }
  atomic_store_explicit(&head->link, link | LRD_LINK_MOVED, memory_order_release);
  for (lrd_bucket *bucket = head; bucket; bucket = lrd_table_next_bucket(root, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      atomic_store_explicit(&bucket->cells[i], 0, memory_order_release);
    }
  }
  root->moved++;
  return true;
}
