// SPDX-License-Identifier: Apache-2.0
#include "lrd_pool.h"

#include "lrd_alloc.h"

#include <string.h>

static const size_t smallest_page = 4096, largest_page = (size_t)2 << 20, page_alignment = 64;
/// With fewer pages than this a reserve page would be large beside those in use.
static const size_t pages_before_reserve = 2;

/// The bytes of a page before its slots.
static size_t page_header(const lrd_pool *pool) {
  return pool->first_slot - pool->prefix;
}

static uint32_t slots_in(const lrd_pool *pool, size_t page_bytes) {
  size_t header = page_header(pool);
  return page_bytes < header ? 0 : (uint32_t)((page_bytes - header) / pool->stride);
}

static size_t alignment_of_pages(const lrd_pool *pool) {
  return pool->alignment > page_alignment ? pool->alignment : page_alignment;
}

bool lrd_pool_open(lrd_pool *pool, lrd_layout layout) {
  memset(pool, 0, sizeof *pool);
  pool->alignment = layout.alignment < 8 ? 8 : layout.alignment;
  pool->odd = (layout.costed ? 0 : LRD_HAS_COST) | (layout.timed ? 0 : LRD_IS_TIMED);
  size_t fields = (layout.costed ? LRD_COST_BYTES : 0) + (layout.timed ? LRD_TIME_BYTES : 0);
  pool->prefix = lrd_round_up(fields, pool->alignment);
  pool->stride = lrd_round_up(pool->prefix + layout.bytes, pool->alignment);
  // Before a wide entry lie `hard`, the cost and the time, from far to near.
  const size_t before = sizeof(uint64_t) + LRD_COST_BYTES + LRD_TIME_BYTES;
  size_t lacking = before > pool->prefix ? before - pool->prefix : 0;
  pool->wide = layout.timed ? 1 : 1 + (uint32_t)((lacking + pool->stride - 1) / pool->stride);
  pool->hard = layout.timed ? 0 : -(ptrdiff_t)before;
  LRD_ASSERT(pool->wide <= LRD_STEP_MOST);
  // At the start of a line: slots that fit in one, and whose size divides it, are then in one.
  pool->first_slot = lrd_round_up(sizeof(lrd_page), alignment_of_pages(pool)) + pool->prefix;
  pool->page_shift = 1; // at least one pair; slots so large that there is no more are wide then
  while (((uint32_t)1 << pool->page_shift) < slots_in(pool, largest_page)) pool->page_shift++;
  pool->slot_mask = ((uint32_t)1 << pool->page_shift) - 1;
  LRD_STORE(&pool->directory, lrd_directory_create(4));
  return LRD_LOAD(&pool->directory);
}

static lrd_page *page_of_slots(const lrd_pool *pool, char *slots) {
  return (lrd_page *)(void *)(slots - pool->first_slot);
}

void lrd_pool_free_page(const lrd_pool *pool, lrd_page *page) {
  LRD_UNPOISON(page, page->bytes);
  lrd_free(page, page->bytes, alignment_of_pages(pool));
}

void lrd_pool_close(lrd_pool *pool) {
  if (pool->reserve) lrd_pool_free_page(pool, pool->reserve);
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  for (uint32_t i = 0; i < pool->pages; i++) {
    if (directory->slots[i]) lrd_pool_free_page(pool, page_of_slots(pool, directory->slots[i]));
  }
  lrd_directory_destroy_all(directory);
}

static void link_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  lrd_page **first = &pool->with_room[page->step - 1];
  page->next = *first;
  page->link = first;
  if (page->next) page->next->link = &page->next;
  *first = page;
}

static void unlink_page(lrd_page *page) {
  *page->link = page->next;
  if (page->next) page->next->link = page->link;
}

/// The bytes of an entry's slot, or pair, before it.
static size_t bytes_before(const lrd_pool *pool, uint32_t step) {
  return pool->prefix + (step - 1) * pool->stride;
}

static uint32_t take_locked(lrd_pool *pool, uint32_t step, uint32_t *ids, uint32_t wanted)
    LRD_REQUIRES(pool->lock) {
  uint32_t taken = 0;
  while (taken < wanted && pool->with_room[step - 1]) {
    lrd_page *page = pool->with_room[step - 1];
    if (step == 1 && page->free == page->slots) {
      pool->empty_pages--;
      bool wants = pool->mapped >= pages_before_reserve * largest_page;
      LRD_STORE(&pool->wants_reserve, wants);
    }
    uint32_t before = taken, id;
    for (; taken < wanted && (id = page->free_head) != LRD_NIL; ids[taken++] = id) {
      lrd_entry *entry = lrd_pool_entry(pool, id);
      page->free_head = entry->next;
      LRD_UNPOISON((char *)entry - bytes_before(pool, step), step * pool->stride);
    }
    id = page->number << pool->page_shift | (page->fresh * step + step - 1);
    uint32_t fresh = page->slots - page->fresh;
    for (; taken < wanted && fresh; fresh--, id += step) ids[taken++] = id;
    page->fresh = page->slots - fresh;
    page->free -= taken - before;
    if (!page->free) unlink_page(page);
  }
  return taken;
}

/// The size the next page should have: as much again as there is, within the bounds.
static size_t next_page_bytes(const lrd_pool *pool, uint32_t step, size_t mapped) {
  size_t bytes = smallest_page;
  while (bytes < largest_page && (bytes < mapped || slots_in(pool, bytes) < 8)) bytes *= 2;
  size_t least = page_header(pool) + step * pool->stride;
  return bytes < least ? least : bytes;
}

lrd_page *lrd_pool_create_page(const lrd_pool *pool, uint32_t step, size_t mapped, bool prefault) {
  size_t bytes = next_page_bytes(pool, step, mapped);
  lrd_page *page = lrd_alloc(bytes, alignment_of_pages(pool));
  if (!page) return NULL;
  if ((uint64_t)(uintptr_t)page >> LRD_ADDRESS_BITS) {
    // The allocator keeps marks in the upper bits of addresses. Tables have no room for them.
    lrd_free(page, bytes, alignment_of_pages(pool));
    return NULL;
  }
  if (prefault) lrd_prefault(page, bytes);
  memset(page, 0, sizeof *page);
  page->bytes = bytes;
  page->step = step;
  page->slots = page->free = slots_in(pool, bytes) / step;
  page->free_head = LRD_NIL;
  return page;
}

/// Adds a page with room. Without memory, or with all page numbers in use, frees it: false.
static bool install_page(lrd_pool *pool, lrd_page *page) LRD_EXCLUDES(pool->lock) {
  lrd_directory *grown = NULL;
  bool added = false;
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t number = pool->holes ? 0 : pool->pages;
    while (number < pool->pages && LRD_LOAD(&pool->directory)->slots[number]) number++;
    bool numbered = number <= (LRD_NIL >> pool->page_shift) - 1;
    added = numbered && lrd_directory_reaches(&pool->directory, number, &grown);
    if (added) {
      bool reused = number < pool->pages;
      pool->holes -= reused;
      pool->pages += !reused;
      page->number = number;
      LRD_LOAD(&pool->directory)->slots[number] = (char *)page + pool->first_slot;
      pool->mapped += page->bytes;
      pool->empty_pages += page->step == 1;
      link_page_locked(pool, page);
    }
    lrd_lock_release(&pool->lock);
    if (added || !numbered) break;
    lrd_directory_destroy(grown);
    grown = lrd_directory_create(2 * (number + 1));
    if (!grown) break;
  }
  lrd_directory_destroy(grown);
  if (!added) lrd_pool_free_page(pool, page);
  return added;
}

static uint32_t take(lrd_pool *pool, uint32_t step, uint32_t *ids, uint32_t wanted) {
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t taken = take_locked(pool, step, ids, wanted);
    size_t mapped = pool->mapped;
    lrd_page *page = taken || step > 1 ? NULL : pool->reserve;
    if (page) pool->reserve = NULL;
    lrd_lock_release(&pool->lock);
    if (taken) return taken;
    if (!page) page = lrd_pool_create_page(pool, step, mapped, false);
    if (!page || !install_page(pool, page)) return 0;
  }
}

uint32_t lrd_pool_take(lrd_pool *pool, uint32_t *ids, uint32_t wanted) {
  return take(pool, 1, ids, wanted);
}
bool lrd_pool_take_pair(lrd_pool *pool, uint32_t *id) {
  return take(pool, 2, id, 1);
}

bool lrd_pool_take_wide(lrd_pool *pool, uint32_t *id) {
  return take(pool, pool->wide, id, 1);
}

bool lrd_pool_is_wide(lrd_pool *pool, uint32_t id) {
  lrd_directory *directory = atomic_load_explicit(&pool->directory, memory_order_acquire);
  return page_of_slots(pool, directory->slots[id >> pool->page_shift])->step >= pool->wide;
}

void lrd_pool_remove_page_locked(lrd_pool *pool, lrd_page *page) {
  unlink_page(page);
  LRD_LOAD(&pool->directory)->slots[page->number] = NULL;
  pool->holes++;
  pool->mapped -= page->bytes;
}

/// Puts one slot back. Returns its page if that is empty now and must be freed.
static lrd_page *give_locked(lrd_pool *pool, uint32_t id) LRD_REQUIRES(pool->lock) {
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  lrd_page *page = page_of_slots(pool, directory->slots[id >> pool->page_shift]);
  lrd_entry *entry = lrd_pool_entry(pool, id);
  entry->next = page->free_head;
  entry->state = LRD_ENTRY_FREE;
  size_t before = bytes_before(pool, page->step);
  LRD_POISON((char *)entry - before, before);
  LRD_POISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  page->free_head = id;
  if (page->free++ == 0) link_page_locked(pool, page);
  if (page->free < page->slots) return NULL;
  if (page->step == 1 && pool->empty_pages == 0 && !pool->reserve) {
    pool->empty_pages = 1;
    return NULL;
  }
  lrd_pool_remove_page_locked(pool, page);
  return page;
}

void lrd_pool_give(lrd_pool *pool, const uint32_t *ids, uint32_t count) {
  lrd_page *emptied = NULL;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < count; i++) {
    lrd_page *page = give_locked(pool, ids[i]);
    if (!page) continue;
    page->next = emptied;
    emptied = page;
  }
  lrd_lock_release(&pool->lock);
  for (lrd_page *next; emptied; emptied = next) {
    next = emptied->next;
    lrd_pool_free_page(pool, emptied);
  }
}

size_t lrd_pool_bytes(lrd_pool *pool) {
  lrd_lock_acquire(&pool->lock);
  size_t bytes = pool->mapped + (pool->reserve ? pool->reserve->bytes : 0);
  lrd_lock_release(&pool->lock);
  return bytes;
}
