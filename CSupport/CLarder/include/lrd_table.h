// SPDX-License-Identifier: Apache-2.0
/* lrd_table.h — a shard's hash table: buckets of slot ids (lrd_bucket.h), moved bit by bit.
 *
 * A miss normally reads one line and, three times in a hundred, an entry of the same tag. A hit
 * reads one line, the line of its hints if there are any, and one entry. The bucket of a hash is
 * the high half of its upper 48 bits times the number of buckets. So any number of buckets will do,
 * and the entries of a bucket move to neighbouring buckets.
 *
 * WRITERS hold the shard's lock. READERS hold none: a hazard protects the table.
 *   Inserting, removing and replacing change one cell, whose id decides what it holds.
 *   Removing from a chain of several buckets fills the hole from the chain's end: stores the last
 *   entry in the hole, raises the version in the head, then empties the last cell. A reader that
 *   found nothing loads the head's link again. If it has changed, an entry may have moved past the
 *   reader, which searches again. The version has 35 bits: only a reader that sleeps through
 *   exactly 2^35 moves of one bucket errs.
 *   A table moves bucket by bucket (lrd_move.h).
 *
 * HINTS
 *   A hit on a large cache waits for the bucket, then for the entry, then for the memory that the
 *   entry refers to: the bytes of a string, an object. If entries have such references, each main
 *   bucket has hints where these lead, a line for each reference. The hints load together with the
 *   bucket, and then entry, string and object load together. A hint is stored before its cell. A
 *   wrong one only loads in vain.
 *
 * FIELDS
 *   tags, ids, link  shard's lock to write (release), readers load (acquire)
 *   hints          shard's lock to write, readers load (both relaxed)
 *   next           set once under the lock (release) before the first MOVED; readers load (acquire)
 *   all others     shard's lock; `buckets`, `hints` and the chunks' addresses are constant once
 *                  readable, `references` always */
#pragma once

#include "lrd_bucket.h"
#include "lrd_lock.h"

#pragma clang assume_nonnull begin

/// Entries per bucket at which a table grows: one bucket in nine then has an overflow bucket.
#define LRD_TABLE_LOAD 8
#define LRD_OVERFLOW_CHUNKS 24

/// Where one reference of the entries of a bucket leads, as addresses in units of 16 bytes: the
/// lower 32 bits for each cell, and the upper 32 bits, which a program's objects mostly share.
typedef struct lrd_hints {
  _Alignas(64) _Atomic(uint32_t) low[LRD_BUCKET_CELLS];
  _Atomic(uint32_t) high;
} lrd_hints;

typedef struct lrd_table {
  _Alignas(64) uint64_t buckets; // main buckets
  lrd_hints *_Nullable hints;    // one for each reference of each main bucket, behind all buckets
  const lrd_references *references;
  uint64_t base_overflow; // overflow buckets right behind the main buckets
  _Atomic(struct lrd_table *_Nullable) next;
  struct lrd_table *_Nullable retired_next;
  uint64_t moved; // buckets below are in `next` already
  uint64_t ready; // buckets below are cleared and may be reached
  size_t bytes;
  uint32_t overflow_capacity;  // all chunks together
  uint32_t overflow_fresh;     // numbers from here on were never used
  uint32_t overflow_free_head; // number + 1, chained by `link`
  uint32_t overflow_used;
  uint32_t chunks;
  _Atomic(lrd_bucket *_Nullable) chunk[LRD_OVERFLOW_CHUNKS];
  lrd_bucket bucket[];
} lrd_table;

/// The table of an empty shard: one empty bucket, shared by all, never written.
extern lrd_table lrd_table_empty;

LRD_INLINE uint64_t lrd_table_index(const lrd_table *table, uint64_t hash) LRD_NONBLOCKING {
  return lrd_bucket_of(hash, table->buckets);
}

/// Overflow bucket `number` (from 0), which a link that the caller has read names.
static inline lrd_bucket *lrd_table_overflow(lrd_table *table, uint64_t number) LRD_NONBLOCKING {
  if (number < table->base_overflow) return &table->bucket[table->buckets + number];
  number -= table->base_overflow;
  uint64_t size = table->base_overflow;
  int chunk = 0;
  while (number >= size) {
    number -= size;
    size *= 2;
    chunk++;
  }
  return atomic_load_explicit(&table->chunk[chunk], memory_order_acquire) + number;
}

/// The overflow bucket behind `bucket` in its chain, NULL at the end.
static inline lrd_bucket *_Nullable lrd_table_next_bucket(lrd_table *table, lrd_bucket *bucket) {
  uint64_t overflow = LRD_LOAD(&bucket->link) & LRD_LINK_OVERFLOW;
  return LRD_UNLIKELY(overflow) ? lrd_table_overflow(table, overflow - 1) : NULL;
}

/// Begins to load the memory that a hint names.
LRD_INLINE void lrd_hints_prefetch(const lrd_hints *hints, int cell) LRD_NONBLOCKING {
  uint64_t high = LRD_LOAD(&hints->high);
  uint64_t low = LRD_LOAD(&hints->low[cell]);
  LRD_PREFETCH((const void *)(uintptr_t)((high << 32 | low) << 4));
}

/// True for a table whose memory the system takes long to provide or to take back. The background
/// thread makes and frees such tables.
static inline bool lrd_table_is_large(uint64_t buckets) {
  return buckets >= 16384;
}

/// A table of `buckets` main buckets, not cleared yet, for entries with such references. NULL
/// without memory.
lrd_table *_Nullable lrd_table_create(uint64_t buckets, const lrd_references *references);

/// Touches all memory of a new table. Calls `between` after each huge page: the system may take
/// milliseconds for one.
void lrd_table_prefault(lrd_table *table, void (*between)(void *_Nullable context),
                        void *_Nullable context);

/// Clears the main buckets before `end`, which nobody can have reached yet.
void lrd_table_make_ready_to(lrd_table *table, uint64_t end);

/// Clears all main buckets at once: for a shard's first table, which no other table moves to.
void lrd_table_make_ready(lrd_table *table);

/// Frees a table that no reader can be inside.
void lrd_table_destroy(lrd_table *table);

/// Does so with a list of tables, chained by `retired_next`.
void lrd_table_destroy_all(lrd_table *_Nullable tables);

/// The bytes of the next chunk of overflow buckets for `table`, 0 when it can have no more. The
/// caller allocates it with lrd_alloc(…, 64) without the lock.
size_t lrd_table_next_chunk_bytes(const lrd_table *table);
bool lrd_table_add_overflow_locked(lrd_table *table, lrd_bucket *chunk, size_t bytes);

/// Overflow buckets that are free.
static inline uint64_t lrd_table_overflow_left_locked(const lrd_table *table) {
  return table->overflow_capacity - table->overflow_used;
}

/// A cell found under the lock. Valid while the lock is held and nothing is removed.
typedef struct lrd_cell {
  lrd_table *table;
  lrd_bucket *head; // of the chain that `bucket` is in
  lrd_bucket *bucket;
  int number;
} lrd_cell;

/// The table that `hash` belongs in now: the root, or the one that it moves to.
static inline lrd_table *lrd_table_home_locked(lrd_table *root, uint64_t hash) {
  return lrd_table_index(root, hash) < root->moved ? LRD_LOAD(&root->next) : root;
}

/// What is stored in a cell.
typedef struct lrd_item {
  const lrd_entry *entry;
  uint32_t id; // of its slot
  uint8_t tag;
} lrd_item;

LRD_INLINE lrd_item lrd_item_of(const lrd_entry *entry, uint32_t id, uint64_t hash) {
  return (lrd_item){.entry = entry, .id = id, .tag = lrd_table_tag(hash)};
}

/// What a full cell holds. The entry is not touched.
LRD_INLINE lrd_item lrd_bucket_item(const lrd_bucket *bucket, int cell, lrd_slots slots) {
  uint32_t id = lrd_bucket_id(bucket, cell);
  return (lrd_item){lrd_slots_entry(slots, id), id, LRD_LOAD(&bucket->tags[cell])};
}

/// True when a table holds `entry`. One that is not linked is not touched.
bool lrd_table_holds_locked(lrd_table *root, lrd_slots slots, const lrd_entry *entry,
                            uint64_t hash);

/// Finds the cell of the entry in slot `id`. False when it is not linked.
bool lrd_table_find_locked(lrd_table *root, uint32_t id, uint64_t hash, lrd_cell *found);

/// Stores the hints of an entry's references, for a cell of main bucket `index`.
LRD_INLINE void lrd_table_hint_at(lrd_table *table, uint64_t index, int cell,
                                  const lrd_entry *entry) {
  const lrd_references *references = table->references;
  lrd_hints *hints = &table->hints[index * references->count];
  for (uint32_t i = 0; i < references->count; i++) {
    uint64_t address = lrd_entry_refers_to(entry, references->at[i]);
    LRD_STORE(&hints[i].low[cell], (uint32_t)(address >> 4));
    LRD_STORE(&hints[i].high, (uint32_t)(address >> 36));
  }
}

/// The same for a cell of any bucket, if that is a main bucket.
void lrd_table_hint(lrd_table *table, const lrd_bucket *bucket, int cell, const lrd_entry *entry);

/// Stores an entry in a cell, after its hints. A reader still in an older chain with this bucket
/// may find it, too.
LRD_INLINE void lrd_table_publish(lrd_table *table, lrd_bucket *bucket, int cell, lrd_item item) {
  if (table->hints) lrd_table_hint(table, bucket, cell, item.entry);
  lrd_bucket_fill(bucket, cell, item.tag, item.id);
}

/// The same in a cell of main bucket `index`.
LRD_INLINE void lrd_table_publish_at(lrd_table *table, uint64_t index, int cell, lrd_item item) {
  if (table->hints) lrd_table_hint_at(table, index, cell, item.entry);
  lrd_bucket_fill(&table->bucket[index], cell, item.tag, item.id);
}

/// lrd_table_add_locked() in a new overflow bucket.
void lrd_table_extend_locked(lrd_table *table, lrd_bucket *last, lrd_item item);

/// Publishes an entry at the end of a chain, whose last bucket is `last`. (Only that one has empty
/// cells.) The table must have a free overflow bucket.
LRD_INLINE void lrd_table_add_locked(lrd_table *table, lrd_bucket *last, lrd_item item) {
  uint32_t empty = lrd_bucket_empty(last);
  if (LRD_UNLIKELY(!empty)) {
    lrd_table_extend_locked(table, last, item);
  } else {
    lrd_table_publish(table, last, __builtin_ctz(empty), item);
  }
}

/// Publishes an entry. The table that the hash belongs in must have a free overflow bucket.
void lrd_table_insert_locked(lrd_table *root, lrd_item item, uint64_t hash);

/// Publishes an entry in the cell of the one in slot `old`. False when that is not linked.
bool lrd_table_replace_locked(lrd_table *root, uint32_t old, lrd_item item, uint64_t hash);

/// lrd_table_remove_locked() in a chain of several buckets.
bool lrd_table_remove_slow_locked(lrd_table *root, lrd_slots slots, uint32_t id, uint64_t hash);

/// Removes the entry in slot `id`, and fills the hole from the end of the chain. False when it is
/// not linked.
LRD_INLINE bool lrd_table_remove_locked(lrd_table *root, lrd_slots slots, uint32_t id,
                                        uint64_t hash) {
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *head = &table->bucket[lrd_table_index(table, hash)];
  if (LRD_LOAD(&head->link) & LRD_LINK_OVERFLOW) {
    return lrd_table_remove_slow_locked(root, slots, id, hash);
  }
  int cell = lrd_bucket_cell_of(head, lrd_table_tag(hash), id);
  if (cell >= 0) lrd_bucket_clear_cell(head, cell);
  return cell >= 0;
}

/// Marks a chain as MOVED and empties it. Its overflow buckets are free again: a reader that is in
/// one sees that the head's link has changed before it goes on.
void lrd_table_leave_locked(lrd_table *table, lrd_bucket *head);

/// The number of entries in the chain of bucket `index`, for checks.
uint64_t lrd_table_chain_length_locked(lrd_table *table, uint64_t index);

#pragma clang assume_nonnull end
