// SPDX-License-Identifier: Apache-2.0
#include "lrd_table.h"

#include "lrd_alloc.h"

#include <string.h>

_Static_assert(sizeof(lrd_table) % 64 == 0, "buckets follow the table without a gap");

// One main bucket, so that the index of every hash is 0.
lrd_table lrd_table_empty = {
    .buckets = 1, .references = &(lrd_references){0}, .ready = 1, .bucket = {{.link = 0}}};

lrd_table *lrd_table_create(uint64_t buckets, const lrd_references *references) {
  uint64_t overflow = buckets / 8 < 4 ? 4 : buckets / 8;
  if (overflow > (1u << 26)) overflow = 1u << 26;
  size_t hints = sizeof(lrd_table) + (size_t)(buckets + overflow) * sizeof(lrd_bucket);
  size_t bytes = hints + (size_t)buckets * references->count * sizeof(lrd_hints);
  lrd_table *table = lrd_alloc_piecemeal(bytes, _Alignof(lrd_table));
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

void lrd_table_prefault(lrd_table *table, void (*between)(void *context), void *context) {
  enum { piece = 2 << 20 };
  char *end = (char *)table + table->bytes;
  // But for the first one, whose header has been written.
  lrd_alloc_at_once(table, table->bytes, _Alignof(lrd_table));
  for (char *start = (char *)table->bucket; start < end; start += piece) {
    lrd_prefault(start, end - start < piece ? (size_t)(end - start) : piece);
    between(context);
  }
}

void lrd_table_destroy(lrd_table *table) {
  if (table == &lrd_table_empty) return;
  uint64_t size = table->base_overflow;
  for (uint32_t i = 0; i < table->chunks; i++, size *= 2) {
    lrd_free(LRD_LOAD(&table->chunk[i]), (size_t)size * sizeof(lrd_bucket), _Alignof(lrd_bucket));
  }
  lrd_free(table, table->bytes, _Alignof(lrd_table));
}

void lrd_table_destroy_all(lrd_table *tables) {
  for (lrd_table *next; tables; tables = next) {
    next = tables->retired_next;
    lrd_table_destroy(tables);
  }
}

size_t lrd_table_next_chunk_bytes(const lrd_table *table) {
  uint64_t more = table->base_overflow << table->chunks;
  bool room = table->overflow_capacity + more < LRD_LINK_OVERFLOW;
  return room && table->chunks < LRD_OVERFLOW_CHUNKS ? (size_t)more * sizeof(lrd_bucket) : 0;
}

bool lrd_table_add_overflow_locked(lrd_table *table, lrd_bucket *chunk, size_t bytes) {
  if (!bytes || bytes != lrd_table_next_chunk_bytes(table)) return false;
  atomic_store_explicit(&table->chunk[table->chunks++], chunk, memory_order_release);
  table->overflow_capacity += (uint32_t)(bytes / sizeof(lrd_bucket));
  return true;
}

static void store_link(lrd_bucket *bucket, uint64_t link) {
  atomic_store_explicit(&bucket->link, link, memory_order_release);
}

/// Makes a link name another overflow bucket, and raises its version.
static void relink(lrd_bucket *bucket, uint64_t overflow) {
  uint64_t kept = LRD_LOAD(&bucket->link) & ~(LRD_LINK_OVERFLOW | LRD_LINK_MOVED);
  store_link(bucket, ((kept + LRD_LINK_VERSION) & ~LRD_LINK_MOVED) | overflow);
}

/// Raises the version in the head of a chain, so that readers notice a change.
static void raise_version(lrd_bucket *head) {
  relink(head, LRD_LOAD(&head->link) & LRD_LINK_OVERFLOW);
}

static void clear_bucket(lrd_bucket *bucket) {
  lrd_bucket_clear_cells(bucket);
  // Release: a reader may still be here by the chain that the bucket was in before. It sees that
  // chain's head changed.
  store_link(bucket, 0);
}

void lrd_table_make_ready_to(lrd_table *table, uint64_t end) {
  for (; table->ready < end; table->ready++) clear_bucket(&table->bucket[table->ready]);
}

void lrd_table_make_ready(lrd_table *table) {
  lrd_table_make_ready_to(table, table->buckets);
}

static lrd_bucket *take_overflow(lrd_table *table, uint64_t *overflow) {
  LRD_ASSERT(lrd_table_overflow_left_locked(table) > 0);
  table->overflow_used++;
  bool used = table->overflow_free_head;
  *overflow = used ? table->overflow_free_head : ++table->overflow_fresh;
  lrd_bucket *bucket = lrd_table_overflow(table, *overflow - 1);
  if (used) table->overflow_free_head = (uint32_t)(LRD_LOAD(&bucket->link) & LRD_LINK_OVERFLOW);
  clear_bucket(bucket);
  return bucket;
}

bool lrd_table_holds_locked(lrd_table *root, lrd_slots slots, const lrd_entry *entry,
                            uint64_t hash) {
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *bucket = &table->bucket[lrd_table_index(table, hash)];
  uint8_t tag = lrd_table_tag(hash);
  for (; bucket; bucket = lrd_table_next_bucket(table, bucket)) {
    for (uint32_t bits = lrd_bucket_match(bucket, tag); bits; bits &= bits - 1) {
      uint32_t id = lrd_bucket_id(bucket, __builtin_ctz(bits));
      if (lrd_slots_entry(slots, id) == entry) return true;
    }
  }
  return false;
}

bool lrd_table_find_locked(lrd_table *root, uint32_t id, uint64_t hash, lrd_cell *found) {
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *head = &table->bucket[lrd_table_index(table, hash)], *bucket = head;
  uint8_t tag = lrd_table_tag(hash);
  int number;
  while ((number = lrd_bucket_cell_of(bucket, tag, id)) < 0) {
    bucket = lrd_table_next_bucket(table, bucket);
    if (!bucket) return false;
  }
  *found = (lrd_cell){.table = table, .head = head, .bucket = bucket, .number = number};
  return true;
}

void lrd_table_hint(lrd_table *table, const lrd_bucket *bucket, int cell, const lrd_entry *entry) {
  // A bucket that is no main bucket has a higher number than these, wherever it lies.
  uint64_t index = ((uintptr_t)bucket - (uintptr_t)table->bucket) / sizeof *bucket;
  if (index < table->buckets) lrd_table_hint_at(table, index, cell, entry);
}

void lrd_table_extend_locked(lrd_table *table, lrd_bucket *last, lrd_item item) {
  uint64_t overflow;
  lrd_bucket *fresh = take_overflow(table, &overflow);
  lrd_table_publish(table, fresh, 0, item);
  relink(last, overflow);
}

void lrd_table_insert_locked(lrd_table *root, lrd_item item, uint64_t hash) {
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *last = &table->bucket[lrd_table_index(table, hash)];
  for (lrd_bucket *next; (next = lrd_table_next_bucket(table, last));) last = next;
  lrd_table_add_locked(table, last, item);
}

bool lrd_table_replace_locked(lrd_table *root, uint32_t old, lrd_item item, uint64_t hash) {
  lrd_cell found;
  if (!lrd_table_find_locked(root, old, hash, &found)) return false;
  lrd_table_publish(found.table, found.bucket, found.number, item);
  return true;
}

/// Puts an overflow bucket, number + 1, back among the free ones.
static void give_overflow(lrd_table *table, lrd_bucket *bucket, uint64_t overflow) {
  store_link(bucket, table->overflow_free_head);
  table->overflow_free_head = (uint32_t)overflow;
  table->overflow_used--;
}

/// Fills the hole from the end of a chain of several buckets.
static void remove_from_chain(const lrd_cell *found, lrd_slots slots) {
  lrd_bucket *before = found->head;
  lrd_bucket *last = lrd_table_next_bucket(found->table, before);
  for (lrd_bucket *next; (next = lrd_table_next_bucket(found->table, last)); last = next)
    before = last;
  int end = 31 - __builtin_clz(lrd_bucket_full(last));
  uint64_t overflow = LRD_LOAD(&before->link) & LRD_LINK_OVERFLOW;
  if (found->bucket != last || found->number != end) {
    lrd_item moved = lrd_bucket_item(last, end, slots);
    lrd_table_publish(found->table, found->bucket, found->number, moved);
    raise_version(found->head);
  }
  // Readers that find this cell empty also see the version raised above.
  lrd_bucket_clear_cell(last, end);
  if (end > 0) return;
  relink(before, 0);
  if (before != found->head) raise_version(found->head);
  give_overflow(found->table, last, overflow);
}

void lrd_table_leave_locked(lrd_table *table, lrd_bucket *head) {
  uint64_t link = LRD_LOAD(&head->link), overflow = link & LRD_LINK_OVERFLOW;
  store_link(head, (link ^ overflow) | LRD_LINK_MOVED);
  lrd_bucket_clear_cells(head);
  while (overflow) {
    uint64_t number = overflow;
    lrd_bucket *bucket = lrd_table_overflow(table, number - 1);
    overflow = LRD_LOAD(&bucket->link) & LRD_LINK_OVERFLOW;
    lrd_bucket_clear_cells(bucket);
    give_overflow(table, bucket, number);
  }
}

bool lrd_table_remove_slow_locked(lrd_table *root, lrd_slots slots, uint32_t id, uint64_t hash) {
  lrd_cell found;
  if (!lrd_table_find_locked(root, id, hash, &found)) return false;
  remove_from_chain(&found, slots);
  return true;
}

uint64_t lrd_table_chain_length_locked(lrd_table *table, uint64_t index) {
  uint64_t length = 0;
  lrd_bucket *bucket = &table->bucket[index];
  for (; bucket; bucket = lrd_table_next_bucket(table, bucket)) {
    length += (uint64_t)__builtin_popcount(lrd_bucket_full(bucket));
  }
  return length;
}
