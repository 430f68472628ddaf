// SPDX-License-Identifier: Apache-2.0
#include "lrd_pool.h"

#include "lrd_alloc.h"

#include <string.h>

static const size_t smallest_page = 4096, largest_page = (size_t)2 << 20, page_alignment = 64;
/// With fewer pages than this a reserve page would be large beside those in use.
static const size_t pages_before_reserve = 2;

static uint32_t slots_in(const lrd_pool *pool, size_t page_bytes) {
  if (page_bytes < pool->first_slot + pool->stride) return 0;
  return (uint32_t)((page_bytes - pool->first_slot) / pool->stride);
}

static size_t alignment_of_pages(const lrd_pool *pool) {
  return pool->alignment > page_alignment ? pool->alignment : page_alignment;
}

/// A directory for so many pages, cleared; NULL without memory.
static lrd_directory *create_directory(uint32_t capacity) {
  size_t bytes = sizeof(lrd_directory) + capacity * sizeof(char *);
  lrd_directory *directory = lrd_alloc_zeroed(bytes, _Alignof(lrd_directory));
  if (directory) directory->capacity = capacity;
  return directory;
}

static void free_directory(lrd_directory *directory) {
  size_t bytes = directory ? sizeof *directory + directory->capacity * sizeof(char *) : 0;
  lrd_free(directory, bytes, _Alignof(lrd_directory));
}

bool lrd_pool_open(lrd_pool *pool, size_t entry_bytes, size_t alignment) {
  memset(pool, 0, sizeof *pool);
  pool->alignment = alignment < 8 ? 8 : alignment;
  pool->stride = lrd_round_up(entry_bytes, pool->alignment);
  pool->first_slot = lrd_round_up(sizeof(lrd_page), pool->alignment);
  while (((uint32_t)1 << pool->page_shift) < slots_in(pool, largest_page)) pool->page_shift++;
  pool->slot_mask = ((uint32_t)1 << pool->page_shift) - 1;
  LRD_STORE(&pool->directory, create_directory(4));
  return LRD_LOAD(&pool->directory);
}

static lrd_page *page_of_slots(const lrd_pool *pool, char *slots) {
  return (lrd_page *)(void *)(slots - pool->first_slot);
}

static void free_page(const lrd_pool *pool, lrd_page *page) {
  LRD_UNPOISON(page, page->bytes);
  lrd_free(page, page->bytes, alignment_of_pages(pool));
}

void lrd_pool_close(lrd_pool *pool) {
  if (pool->reserve) free_page(pool, pool->reserve);
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  for (uint32_t i = 0; i < pool->pages; i++) {
    if (directory->slots[i]) free_page(pool, page_of_slots(pool, directory->slots[i]));
  }
  for (lrd_directory *smaller; directory; directory = smaller) {
    smaller = directory->smaller;
    free_directory(directory);
  }
}

static void link_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  page->next = pool->with_room;
  page->link = &pool->with_room;
  if (page->next) page->next->link = &page->next;
  pool->with_room = page;
}

static void unlink_page(lrd_page *page) {
  *page->link = page->next;
  if (page->next) page->next->link = page->link;
}

static uint32_t take_locked(lrd_pool *pool, uint32_t *ids, uint32_t wanted)
    LRD_REQUIRES(pool->lock) {
  uint32_t taken = 0;
  while (taken < wanted && pool->with_room) {
    lrd_page *page = pool->with_room;
    if (page->free == page->slots) {
      pool->empty_pages--;
      bool wants = pool->mapped >= pages_before_reserve * largest_page;
      LRD_STORE(&pool->wants_reserve, wants);
    }
    uint32_t before = taken, id;
    for (; taken < wanted && (id = page->free_head) != LRD_NIL; ids[taken++] = id) {
      lrd_entry *entry = lrd_pool_entry(pool, id);
      page->free_head = entry->next;
      LRD_UNPOISON(entry, pool->stride);
    }
    id = page->number << pool->page_shift | page->fresh;
    uint32_t fresh = page->slots - page->fresh;
    for (; taken < wanted && fresh; fresh--) ids[taken++] = id++;
    page->fresh = page->slots - fresh;
    page->free -= taken - before;
    if (!page->free) unlink_page(page);
  }
  return taken;
}

/// The size the next page should have: as much again as there is, within the bounds.
static size_t next_page_bytes(const lrd_pool *pool, size_t mapped) {
  size_t bytes = smallest_page;
  while (bytes < largest_page && (bytes < mapped || slots_in(pool, bytes) < 8)) bytes *= 2;
  size_t least = pool->first_slot + pool->stride;
  return bytes < least ? least : bytes;
}

/// Makes room in the directory for a page of this number. Uses the larger directory `*grown` if it
/// is needed, and sets it to NULL. False when one is needed and missing.
static bool install_directory_locked(lrd_pool *pool, uint32_t number, lrd_directory **grown)
    LRD_REQUIRES(pool->lock) {
  lrd_directory *current = LRD_LOAD(&pool->directory);
  if (number < current->capacity) return true;
  if (!*grown || (*grown)->capacity <= number) return false;
  memcpy((*grown)->slots, current->slots, current->capacity * sizeof(char *));
  (*grown)->smaller = current;
  atomic_store_explicit(&pool->directory, *grown, memory_order_release);
  *grown = NULL;
  return true;
}

/// A page in no list yet; NULL without memory. `prefault`: the system provides its memory now.
static lrd_page *create_page(const lrd_pool *pool, size_t bytes, bool prefault) {
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
  page->slots = page->free = slots_in(pool, bytes);
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
    added = numbered && install_directory_locked(pool, number, &grown);
    if (added) {
      bool reused = number < pool->pages;
      pool->holes -= reused;
      pool->pages += !reused;
      page->number = number;
      LRD_LOAD(&pool->directory)->slots[number] = (char *)page + pool->first_slot;
      pool->mapped += page->bytes;
      pool->empty_pages++;
      link_page_locked(pool, page);
    }
    lrd_lock_release(&pool->lock);
    if (added || !numbered) break;
    free_directory(grown);
    grown = create_directory(2 * (number + 1));
    if (!grown) break;
  }
  free_directory(grown);
  if (!added) free_page(pool, page);
  return added;
}

uint32_t lrd_pool_take(lrd_pool *pool, uint32_t *ids, uint32_t wanted) {
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t taken = take_locked(pool, ids, wanted);
    size_t mapped = pool->mapped;
    lrd_page *page = taken ? NULL : pool->reserve;
    if (page) pool->reserve = NULL;
    lrd_lock_release(&pool->lock);
    if (taken) return taken;
    if (!page) page = create_page(pool, next_page_bytes(pool, mapped), false);
    if (!page || !install_page(pool, page)) return 0;
  }
}

bool lrd_pool_prepare(lrd_pool *pool, uint64_t slots_most) {
  if (!atomic_exchange_explicit(&pool->wants_reserve, false, memory_order_relaxed)) return false;
  lrd_lock_acquire(&pool->lock);
  size_t mapped = pool->mapped;
  bool wanted = !pool->reserve && !pool->empty_pages && mapped / pool->stride < slots_most;
  lrd_lock_release(&pool->lock);
  lrd_page *page = wanted ? create_page(pool, next_page_bytes(pool, mapped), true) : NULL;
  if (!page) return false;
  lrd_lock_acquire(&pool->lock);
  LRD_ASSERT(!pool->reserve);
  wanted = !pool->empty_pages;
  if (wanted) pool->reserve = page;
  lrd_lock_release(&pool->lock);
  if (!wanted) free_page(pool, page);
  return wanted;
}

/// Puts one slot back. Returns its page if that is empty now and must be freed.
static lrd_page *give_locked(lrd_pool *pool, uint32_t id) LRD_REQUIRES(pool->lock) {
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  lrd_page *page = page_of_slots(pool, directory->slots[id >> pool->page_shift]);
  lrd_entry *entry = lrd_pool_entry(pool, id);
  entry->next = page->free_head;
  entry->state = LRD_ENTRY_FREE;
  LRD_POISON(entry + 1, pool->stride - sizeof *entry);
  page->free_head = id;
  if (page->free++ == 0) link_page_locked(pool, page);
  if (page->free < page->slots) return NULL;
  if (pool->empty_pages == 0 && !pool->reserve) {
    pool->empty_pages = 1;
    return NULL;
  }
  unlink_page(page);
  directory->slots[page->number] = NULL;
  pool->holes++;
  pool->mapped -= page->bytes;
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
    free_page(pool, emptied);
  }
}

size_t lrd_pool_bytes(lrd_pool *pool) {
  lrd_lock_acquire(&pool->lock);
  size_t bytes = pool->mapped + (pool->reserve ? pool->reserve->bytes : 0);
  lrd_lock_release(&pool->lock);
  return bytes;
}
