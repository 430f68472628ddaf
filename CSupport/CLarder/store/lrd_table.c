// SPDX-License-Identifier: Apache-2.0
#include "lrd_table.h"

#include "lrd_alloc.h"

#include <string.h>

_Static_assert(sizeof(lrd_table) % 64 == 0, "buckets follow the table without a gap");

static const lrd_references no_references;

// One main bucket, so that the index of every hash is 0.
lrd_table lrd_table_empty = {
    .buckets = 1, .references = &no_references, .ready = 1, .bucket = {{.link = 0}}};

lrd_table *lrd_table_create(uint64_t buckets, const lrd_references *references) {
  uint64_t overflow = buckets / 8 < 4 ? 4 : buckets / 8;
  if (overflow > (1u << 26)) overflow = 1u << 26;
  size_t bytes = sizeof(lrd_table) + (size_t)(buckets + overflow) * sizeof(lrd_bucket);
  size_t hints = bytes;
  bytes += (size_t)buckets * references->count * sizeof(lrd_hints);
  lrd_table *table = lrd_alloc(bytes, _Alignof(lrd_table));
  if (!table) return NULL;
  memset(table, 0, sizeof *table);
  table->buckets = buckets;
  table->hints = references->count ? (lrd_hints *)(void *)((char *)table + hints) : NULL;
  table->references = references;
  table->base_overflow = overflow;
  table->overflow_capacity = (uint32_t)overflow;
  table->bytes = bytes;
  return table;
}

static void prefault(void *memory, size_t bytes, void (*between)(void *context), void *context) {
  enum { piece = 2 << 20 };
  for (size_t done = 0; done < bytes; done += piece) {
    lrd_prefault((char *)memory + done, bytes - done < piece ? bytes - done : piece);
    between(context);
  }
}

void lrd_table_prefault(lrd_table *table, void (*between)(void *context), void *context) {
  prefault(table->bucket, (size_t)table->buckets * sizeof(lrd_bucket), between, context);
  size_t hints = (size_t)table->buckets * table->references->count * sizeof(lrd_hints);
  if (hints) prefault(table->hints, hints, between, context);
}

void lrd_table_destroy(lrd_table *table) {
  if (table == &lrd_table_empty) return;
  uint64_t size = table->base_overflow;
  for (uint32_t i = 0; i < table->chunks; i++, size *= 2) {
    lrd_free(atomic_load_explicit(&table->chunk[i], memory_order_relaxed),
             (size_t)size * sizeof(lrd_bucket), _Alignof(lrd_bucket));
  }
  lrd_free(table, table->bytes, _Alignof(lrd_table));
}

size_t lrd_table_next_chunk_bytes(const lrd_table *table) {
  uint64_t more = table->base_overflow << table->chunks;
  bool full = table->chunks == LRD_OVERFLOW_CHUNKS;
  if (full || table->overflow_capacity + more >= LRD_LINK_OVERFLOW) return 0;
  return (size_t)(table->base_overflow << table->chunks) * sizeof(lrd_bucket);
}

bool lrd_table_add_overflow_locked(lrd_table *table, lrd_bucket *chunk, size_t bytes) {
  if (!bytes || bytes != lrd_table_next_chunk_bytes(table)) return false;
  uint64_t more = bytes / sizeof(lrd_bucket);
  atomic_store_explicit(&table->chunk[table->chunks++], chunk, memory_order_release);
  table->overflow_capacity += (uint32_t)more;
  return true;
}

static uint64_t load_link(lrd_bucket *bucket) {
  return atomic_load_explicit(&bucket->link, memory_order_relaxed);
}

static void store_link(lrd_bucket *bucket, uint64_t link) {
  atomic_store_explicit(&bucket->link, link, memory_order_release);
}

static lrd_bucket *next_bucket(lrd_table *table, lrd_bucket *bucket) {
  uint64_t overflow = load_link(bucket) & LRD_LINK_OVERFLOW;
  return overflow ? lrd_table_overflow(table, overflow - 1) : NULL;
}

/// The link that names overflow bucket `number + 1`, with the next version. The version only
/// matters in a chain's head, and there it changes with every link, so that readers notice.
static uint64_t relinked(uint64_t link, uint64_t overflow) {
  uint64_t kept = link & ~(LRD_LINK_OVERFLOW | LRD_LINK_MOVED);
  return ((kept + LRD_LINK_VERSION) & ~LRD_LINK_MOVED) | overflow;
}

static void clear_bucket(lrd_bucket *bucket) {
  for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
    atomic_store_explicit(&bucket->cells[i], 0, memory_order_relaxed);
  }
  atomic_store_explicit(&bucket->link, 0, memory_order_relaxed);
}

static void make_ready(lrd_table *table, uint64_t end) {
  if (end > table->buckets) end = table->buckets;
  for (; table->ready < end; table->ready++) clear_bucket(&table->bucket[table->ready]);
}

void lrd_table_make_ready(lrd_table *table) {
  make_ready(table, table->buckets);
}

static lrd_bucket *take_overflow(lrd_table *table, uint64_t *overflow) {
  LRD_ASSERT(lrd_table_overflow_left_locked(table) > 0);
  table->overflow_used++;
  lrd_bucket *bucket;
  if (table->overflow_free_head) {
    *overflow = table->overflow_free_head;
    bucket = lrd_table_overflow(table, *overflow - 1);
    table->overflow_free_head = (uint32_t)(load_link(bucket) & LRD_LINK_OVERFLOW);
  } else {
    *overflow = ++table->overflow_fresh;
    bucket = lrd_table_overflow(table, *overflow - 1);
  }
  clear_bucket(bucket);
  return bucket;
}

static void give_overflow(lrd_table *table, lrd_bucket *bucket, uint64_t overflow) {
  store_link(bucket, table->overflow_free_head);
  table->overflow_free_head = (uint32_t)overflow;
  table->overflow_used--;
}

bool lrd_table_find_locked(lrd_table *root, const lrd_entry *entry, uint64_t hash,
                           lrd_cell *found) {
  found->table = lrd_table_home_locked(root, hash);
  found->head = &found->table->bucket[lrd_table_index(found->table, hash)];
  for (lrd_bucket *bucket = found->head; bucket; bucket = next_bucket(found->table, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      uint64_t word = atomic_load_explicit(&bucket->cells[i], memory_order_relaxed);
      if (lrd_table_entry(word) != entry) continue;
      found->cell = &bucket->cells[i];
      return true;
    }
  }
  return false;
}

/// Stores the hints of an entry's references, if `cell` is in a main bucket.
static void store_hints(lrd_table *table, const _Atomic(uint64_t) *cell, const lrd_entry *entry) {
  uint64_t index = ((uintptr_t)cell - (uintptr_t)table->bucket) / sizeof(lrd_bucket);
  if (index >= table->buckets) return;
  uint32_t count = table->references->count;
  int index_in_bucket = (int)(cell - table->bucket[index].cells);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t address = lrd_entry_refers_to(entry, table->references->at[i]);
    lrd_hints *hints = &table->hints[index * count + i];
    atomic_store_explicit(&hints->low[index_in_bucket], (uint32_t)(address >> 4),
                          memory_order_relaxed);
    atomic_store_explicit(&hints->high, (uint32_t)(address >> 36), memory_order_relaxed);
  }
}

/// Stores an entry in a cell, after its hints. Release: whoever finds the entry sees what was
/// written to it, and a reader of an older chain with this bucket may find it, too.
static void publish(lrd_table *table, _Atomic(uint64_t) *cell, uint64_t word) {
  if (table->hints) store_hints(table, cell, lrd_table_entry(word));
  atomic_store_explicit(cell, word, memory_order_release);
}

static void insert_word(lrd_table *table, lrd_bucket *head, uint64_t word) {
  lrd_bucket *bucket = head;
  for (;;) {
    uint32_t empty = lrd_bucket_match(bucket, 0);
    if (LRD_LIKELY(empty)) {
      publish(table, &bucket->cells[__builtin_ctz(empty) / 4], word);
      return;
    }
    lrd_bucket *next = next_bucket(table, bucket);
    if (!next) break;
    bucket = next;
  }
  uint64_t overflow;
  lrd_bucket *fresh = take_overflow(table, &overflow);
  publish(table, &fresh->cells[0], word);
  store_link(bucket, relinked(load_link(bucket), overflow));
}

void lrd_table_insert_locked(lrd_table *root, lrd_entry *entry, uint64_t hash) {
  lrd_table *table = lrd_table_home_locked(root, hash);
  insert_word(table, &table->bucket[lrd_table_index(table, hash)],
              lrd_table_word(entry, lrd_table_tag(hash)));
}

void lrd_table_replace_locked(const lrd_cell *found, lrd_entry *entry, uint64_t hash) {
  publish(found->table, found->cell, lrd_table_word(entry, lrd_table_tag(hash)));
}

/// Fills the hole from the end of a chain of several buckets.
static void remove_from_chain(const lrd_cell *found) {
  lrd_bucket *before = found->head;
  lrd_bucket *last = next_bucket(found->table, before);
  for (lrd_bucket *next; (next = next_bucket(found->table, last)); last = next) before = last;
  int end = LRD_BUCKET_CELLS - 1;
  while (atomic_load_explicit(&last->cells[end], memory_order_relaxed) == 0) end--;
  uint64_t moved = atomic_load_explicit(&last->cells[end], memory_order_relaxed);
  uint64_t overflow = load_link(before) & LRD_LINK_OVERFLOW;
  if (found->cell != &last->cells[end]) {
    publish(found->table, found->cell, moved);
    uint64_t link = load_link(found->head);
    store_link(found->head, relinked(link, link & LRD_LINK_OVERFLOW));
  }
  // Readers that load this 0 also see the version raised above.
  atomic_store_explicit(&last->cells[end], 0, memory_order_release);
  if (end > 0) return;
  store_link(before, relinked(load_link(before), 0));
  if (before != found->head) {
    uint64_t link = load_link(found->head);
    store_link(found->head, relinked(link, link & LRD_LINK_OVERFLOW));
  }
  give_overflow(found->table, last, overflow);
}

void lrd_table_remove_locked(lrd_cell *found) {
  if (LRD_LIKELY(!(load_link(found->head) & LRD_LINK_OVERFLOW))) {
    atomic_store_explicit(found->cell, 0, memory_order_release);
  } else {
    remove_from_chain(found);
  }
}

uint64_t lrd_table_chain_length_locked(lrd_table *table, uint64_t index) {
  uint64_t length = 0;
  for (lrd_bucket *bucket = &table->bucket[index]; bucket; bucket = next_bucket(table, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      length += atomic_load_explicit(&bucket->cells[i], memory_order_relaxed) != 0;
    }
  }
  return length;
}

/// Starts loading the entries of one bucket: moving it will read their hashes.
static void prefetch_entries(lrd_bucket *bucket) {
  for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
    LRD_PREFETCH(lrd_table_entry(atomic_load_explicit(&bucket->cells[i], memory_order_relaxed)));
  }
}

bool lrd_table_move_bucket_locked(lrd_table *root) {
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  lrd_bucket *head = &root->bucket[root->moved];
  if (root->moved + 1 < root->buckets) prefetch_entries(head + 1);
  uint64_t length = lrd_table_chain_length_locked(root, root->moved);
  if (lrd_table_overflow_left_locked(next) < (length + LRD_BUCKET_CELLS - 1) / LRD_BUCKET_CELLS) {
    return false;
  }
  // The last bucket of the successor that a hash of this bucket can belong to.
  unsigned __int128 scaled = (unsigned __int128)(root->moved + 1) * next->buckets;
  make_ready(next, (uint64_t)(scaled / root->buckets) + 1);
  for (lrd_bucket *bucket = head; bucket; bucket = next_bucket(root, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      uint64_t word = atomic_load_explicit(&bucket->cells[i], memory_order_relaxed);
      if (!word) continue;
      uint64_t hash = lrd_entry_hash48(lrd_table_entry(word));
      insert_word(next, &next->bucket[lrd_table_index(next, hash)], word);
    }
  }
  uint64_t link = load_link(head);
  store_link(head, link | LRD_LINK_MOVED);
  for (lrd_bucket *bucket = head; bucket; bucket = next_bucket(root, bucket)) {
    for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
      atomic_store_explicit(&bucket->cells[i], 0, memory_order_release);
    }
  }
  root->moved++;
  return true;
}
