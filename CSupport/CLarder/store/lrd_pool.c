// SPDX-License-Identifier: Apache-2.0
#include "lrd_pool.h"

#include "lrd_alloc.h"

#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define LRD_POISON(address, bytes) __asan_poison_memory_region((address), (bytes))
#define LRD_UNPOISON(address, bytes) __asan_unpoison_memory_region((address), (bytes))
#endif
#endif
#ifndef LRD_POISON
#define LRD_POISON(address, bytes) ((void)0)
#define LRD_UNPOISON(address, bytes) ((void)0)
#endif

static const size_t smallest_page = 4096;
static const size_t largest_page = (size_t)2 << 20;
static const size_t page_alignment = 64;
/// With fewer pages than that a reserve page would be much beside those in use.
static const size_t pages_before_reserve = 8;

static uint32_t slots_in(const lrd_pool *pool, size_t page_bytes) {
  if (page_bytes < pool->first_slot + pool->stride) return 0;
  return (uint32_t)((page_bytes - pool->first_slot) / pool->stride);
}

static size_t alignment_of_pages(const lrd_pool *pool) {
  return pool->alignment > page_alignment ? pool->alignment : page_alignment;
}

bool lrd_pool_open(lrd_pool *pool, size_t entry_bytes, size_t alignment) {
  memset(pool, 0, sizeof *pool);
  pool->alignment = alignment < 8 ? 8 : alignment;
  pool->stride = lrd_round_up(entry_bytes, pool->alignment);
  pool->first_slot = lrd_round_up(sizeof(lrd_page), pool->alignment);
  uint32_t most = slots_in(pool, largest_page);
  if (most == 0) most = 1;
  while (((uint32_t)1 << pool->page_shift) < most) pool->page_shift++;
  pool->slot_mask = ((uint32_t)1 << pool->page_shift) - 1;
  pool->free_number = LRD_NIL;
  uint32_t capacity = 4;
  lrd_directory *directory =
      lrd_alloc_zeroed(sizeof *directory + capacity * sizeof(char *), _Alignof(lrd_directory));
  if (!directory) return false;
  directory->capacity = capacity;
  atomic_store_explicit(&pool->directory, directory, memory_order_relaxed);
  return true;
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
  lrd_directory *directory = atomic_load_explicit(&pool->directory, memory_order_relaxed);
  for (uint32_t i = 0; i < pool->pages; i++) {
    if (!directory->slots[i]) continue;
    free_page(pool, page_of_slots(pool, directory->slots[i]));
  }
  while (directory) {
    lrd_directory *smaller = directory->smaller;
    lrd_free(directory, sizeof *directory + directory->capacity * sizeof(char *),
             _Alignof(lrd_directory));
    directory = smaller;
  }
}

static void link_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  page->roomier = NULL;
  page->fuller = pool->with_room;
  if (pool->with_room) pool->with_room->roomier = page;
  pool->with_room = page;
}

static void unlink_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  if (page->roomier) {
    page->roomier->fuller = page->fuller;
  } else {
    pool->with_room = page->fuller;
  }
  if (page->fuller) page->fuller->roomier = page->roomier;
}

static uint32_t take_locked(lrd_pool *pool, uint32_t *ids, uint32_t wanted)
    LRD_REQUIRES(pool->lock) {
  uint32_t taken = 0;
  while (taken < wanted && pool->with_room) {
    lrd_page *page = pool->with_room;
    if (page->free == page->slots) {
      pool->empty_pages--;
      bool wants = pool->mapped >= pages_before_reserve * largest_page;
      atomic_store_explicit(&pool->wants_reserve, wants, memory_order_relaxed);
    }
    while (taken < wanted && page->free) {
      uint32_t id;
      if (page->free_head != LRD_NIL) {
        id = page->free_head;
        lrd_entry *entry = lrd_pool_entry(pool, id);
        page->free_head = entry->next;
        LRD_UNPOISON(entry, pool->stride);
      } else {
        id = page->number << pool->page_shift | page->fresh++;
      }
      page->free--;
      ids[taken++] = id;
    }
    if (!page->free) unlink_page_locked(pool, page);
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

/// Makes room for page number `number` in the directory. `*grown` holds a larger directory that is
/// used if needed, and is then NULL; false when one is needed and missing.
static bool install_directory_locked(lrd_pool *pool, uint32_t number, lrd_directory **grown)
    LRD_REQUIRES(pool->lock) {
  lrd_directory *current = atomic_load_explicit(&pool->directory, memory_order_relaxed);
  if (number < current->capacity) return true;
  if (!*grown || (*grown)->capacity <= number) return false;
  memcpy((*grown)->slots, current->slots, current->capacity * sizeof(char *));
  (*grown)->smaller = current;
  atomic_store_explicit(&pool->directory, *grown, memory_order_release);
  *grown = NULL;
  return true;
}

static void free_directory(lrd_directory *directory) {
  if (!directory) return;
  lrd_free(directory, sizeof *directory + directory->capacity * sizeof(char *),
           _Alignof(lrd_directory));
}

/// A page in no list yet; NULL without memory. `prefault`: its memory is there, too.
static lrd_page *create_page(const lrd_pool *pool, size_t bytes, bool prefault) {
  lrd_page *page = lrd_alloc(bytes, alignment_of_pages(pool));
  if (!page) return NULL;
  if ((uint64_t)(uintptr_t)page >> LRD_ADDRESS_BITS) {
    // An allocator that keeps marks in the upper bits of addresses: tables have no room for them.
    lrd_free(page, bytes, alignment_of_pages(pool));
    return NULL;
  }
  if (prefault) lrd_prefault(page, bytes);
  memset(page, 0, sizeof *page);
  page->bytes = bytes;
  page->slots = slots_in(pool, bytes);
  page->free = page->slots;
  page->free_head = LRD_NIL;
  return page;
}

/// Adds a page with room. False without memory, or with all page numbers in use.
static bool install_page(lrd_pool *pool, lrd_page *page) LRD_EXCLUDES(pool->lock) {
  lrd_directory *grown = NULL;
  bool added = false;
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t number = pool->free_number != LRD_NIL ? pool->free_number : pool->pages;
    bool numbered = number <= (LRD_NIL >> pool->page_shift) - 1;
    if (numbered && install_directory_locked(pool, number, &grown)) {
      lrd_directory *directory = atomic_load_explicit(&pool->directory, memory_order_relaxed);
      if (number == pool->free_number) {
        pool->free_number = LRD_NIL;
        for (uint32_t i = 0; i < pool->pages; i++) {
          if (!directory->slots[i] && i != number) pool->free_number = i;
        }
      } else {
        pool->pages++;
      }
      page->number = number;
      directory->slots[number] = (char *)page + pool->first_slot;
      pool->mapped += page->bytes;
      pool->empty_pages++;
      link_page_locked(pool, page);
      added = true;
    }
    lrd_lock_release(&pool->lock);
    if (added || !numbered) break;
    free_directory(grown);
    uint32_t capacity = 2 * (number + 1);
    grown = lrd_alloc_zeroed(sizeof *grown + capacity * sizeof(char *), _Alignof(lrd_directory));
    if (!grown) break;
    grown->capacity = capacity;
  }
  free_directory(grown);
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
    if (!page) return 0;
    if (!install_page(pool, page)) {
      free_page(pool, page);
      return 0;
    }
  }
}

bool lrd_pool_prepare(lrd_pool *pool, uint64_t slots_most) {
  if (!atomic_exchange_explicit(&pool->wants_reserve, false, memory_order_relaxed)) return false;
  lrd_lock_acquire(&pool->lock);
  size_t mapped = pool->mapped;
  bool has_reserve = pool->reserve || pool->empty_pages;
  lrd_lock_release(&pool->lock);
  if (has_reserve || mapped / pool->stride >= slots_most) return false;
  lrd_page *page = create_page(pool, next_page_bytes(pool, mapped), true);
  if (!page) return false;
  lrd_lock_acquire(&pool->lock);
  LRD_ASSERT(!pool->reserve);
  has_reserve = pool->empty_pages;
  if (!has_reserve) pool->reserve = page;
  lrd_lock_release(&pool->lock);
  if (has_reserve) free_page(pool, page);
  return !has_reserve;
}

/// Puts one slot back; returns its page when that became empty and is to be freed.
static lrd_page *give_locked(lrd_pool *pool, uint32_t id) LRD_REQUIRES(pool->lock) {
  lrd_directory *directory = atomic_load_explicit(&pool->directory, memory_order_relaxed);
  char *slots = directory->slots[id >> pool->page_shift];
  lrd_page *page = page_of_slots(pool, slots);
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
  unlink_page_locked(pool, page);
  directory->slots[page->number] = NULL;
  pool->free_number = page->number;
  pool->mapped -= page->bytes;
  return page;
}

void lrd_pool_give(lrd_pool *pool, const uint32_t *ids, uint32_t count) {
  lrd_page *emptied = NULL;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < count; i++) {
    lrd_page *page = give_locked(pool, ids[i]);
    if (!page) continue;
    page->fuller = emptied;
    emptied = page;
  }
  lrd_lock_release(&pool->lock);
  while (emptied) {
    lrd_page *next = emptied->fuller;
    free_page(pool, emptied);
    emptied = next;
  }
}

size_t lrd_pool_bytes(lrd_pool *pool) {
  lrd_lock_acquire(&pool->lock);
  size_t bytes = pool->mapped + (pool->reserve ? pool->reserve->bytes : 0);
  lrd_lock_release(&pool->lock);
  return bytes;
}
