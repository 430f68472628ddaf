// SPDX-License-Identifier: Apache-2.0
#include "lrd_local_slots.h"

static const size_t smallest_page = 4096;
enum { slots_least = 8, slots_of_pair = 2 };

/// The bytes of a page by its number.
static size_t page_bytes(const lrd_pool *pool, uint32_t number) {
  size_t bytes = smallest_page, most = LRD_PAGE_BYTES_MOST;
  while (bytes < slots_least * pool->stride && bytes < most) bytes *= 2;
  while (bytes < slots_of_pair * pool->stride) bytes *= 2;
  if (most < bytes) most = bytes;
  for (; number > 1 && bytes < most; number--) bytes *= 2;
  return bytes;
}

void lrd_local_slots_open(lrd_local_slots *slots) {
  *slots = (lrd_local_slots){0};
}

void lrd_local_slots_close(lrd_local_slots *slots, lrd_pool *pool) {
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  LRD_ASSERT(!slots->used);
  for (uint32_t i = 1; i <= slots->pages; i++) {
    char *page = LRD_LOAD(&directory->slots[i]) - pool->prefix;
    LRD_UNPOISON(page, page_bytes(pool, i));
    lrd_free(page, page_bytes(pool, i), lrd_page_alignment(pool->alignment));
    LRD_STORE(&directory->slots[i], NULL);
  }
  lrd_local_slots_open(slots);
}

/// False without memory, or with all page numbers in use.
static bool add_page(lrd_local_slots *slots, lrd_pool *pool) {
  uint32_t number = slots->pages + 1; // no page has number 0
  if (number >= LRD_PAGES_END) return false;
  lrd_directory *larger = NULL;
  if (!lrd_directory_reaches(&pool->directory, number, &larger)) {
    larger = lrd_directory_create(2 * (number + 1));
    if (!larger || !lrd_directory_reaches(&pool->directory, number, &larger)) return false;
  }
  size_t bytes = page_bytes(pool, number);
  char *page = lrd_alloc(bytes, lrd_page_alignment(pool->alignment));
  if (!page) return false;
  LRD_STORE(&LRD_LOAD(&pool->directory)->slots[number], page + pool->prefix);
  uint64_t count = bytes / pool->stride;
  slots->fresh_id = number << LRD_SLOT_BITS;
  slots->fresh = lrd_pool_entry(pool, slots->fresh_id);
  slots->end = slots->fresh_id + (uint32_t)count;
  slots->pages++;
  slots->bytes += bytes;
  return true;
}

static void skip_fresh(lrd_local_slots *slots, const lrd_pool *pool) {
  slots->fresh = (lrd_entry *)(void *)((char *)slots->fresh + pool->stride);
  slots->fresh_id++;
}

/// Gives back the fresh slots, which are fewer than wanted.
static void give_fresh(lrd_local_slots *slots, lrd_pool *pool) {
  for (; slots->fresh_id < slots->end; skip_fresh(slots, pool)) {
    lrd_local_slots_push(&slots->free[0], slots->fresh, slots->fresh_id);
  }
}

lrd_entry *lrd_local_slots_take_slow(lrd_local_slots *slots, lrd_pool *pool, uint64_t cost) {
  bool pair = cost && pool->odd & LRD_HAS_COST;
  lrd_entry *entry;
  if (slots->free[pair]) {
    entry = lrd_local_slots_pop(&slots->free[pair]);
  } else {
    if (slots->end - slots->fresh_id < (pair ? slots_of_pair : 1)) {
      give_fresh(slots, pool);
      if (!add_page(slots, pool)) return NULL;
    }
    if (pair) skip_fresh(slots, pool); // the cost lies in the first of the two
    entry = slots->fresh;
    entry->prev = slots->fresh_id;
    skip_fresh(slots, pool);
  }
  slots->used++;
  LRD_UNPOISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  return entry;
}
