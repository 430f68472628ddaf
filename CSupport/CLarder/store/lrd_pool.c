// SPDX-License-Identifier: Apache-2.0
#include "lrd_pool.h"

#include "lrd_alloc.h"

#include <string.h>

/// With fewer pages than this a reserve page would be large beside those in use.
static const size_t pages_before_reserve = 2;

bool lrd_pool_open(lrd_pool *pool, lrd_layout layout) {
  memset(pool, 0, sizeof *pool);
  pool->alignment = layout.alignment < 8 ? 8 : layout.alignment;
  pool->odd = (layout.costed ? 0 : LRD_HAS_COST) | (layout.timed ? 0 : LRD_IS_TIMED);
  size_t fields = (layout.costed ? LRD_COST_BYTES : 0) + (layout.timed ? LRD_TIME_BYTES : 0);
  pool->prefix = lrd_round_up(fields, pool->alignment);
  pool->stride = lrd_round_up(pool->prefix + layout.bytes, pool->alignment);
  // Before a wide entry lie `hard`, the cost and the time, from far to near.
  const size_t before = sizeof(uint64_t) + LRD_COST_BYTES + LRD_TIME_BYTES;
  size_t lacking = before > pool->prefix && !layout.hard ? before - pool->prefix : 0;
  pool->wide = 1 + (uint32_t)((lacking + pool->stride - 1) / pool->stride);
  pool->hard = layout.hard ? layout.hard : -(ptrdiff_t)before;
  LRD_ASSERT(pool->wide <= LRD_STEP_MOST);
  // At the start of a line: slots that fit in one, and whose size divides it, are then in one.
  pool->first_slot =
      lrd_round_up(sizeof(lrd_page), lrd_page_alignment(pool->alignment)) + pool->prefix;
  LRD_ASSERT(lrd_page_slots(lrd_pool_shape(pool), LRD_PAGE_BYTES_MOST) <= LRD_SLOT_MASK);
  pool->pages = 1; // no page has number 0
  LRD_STORE(&pool->directory, lrd_directory_create(4));
  return LRD_LOAD(&pool->directory);
}

static lrd_page *page_of_slots(const lrd_pool *pool, char *slots) {
  return (lrd_page *)(void *)(slots - pool->first_slot);
}

/// The page of a slot in use.
static lrd_page *page_of(lrd_pool *pool, uint32_t id) {
  return page_of_slots(pool, LRD_LOAD(&lrd_pool_slots(pool).pages[id >> LRD_SLOT_BITS]));
}

void lrd_pool_close(lrd_pool *pool) {
  if (pool->reserve) lrd_page_free(lrd_pool_shape(pool), pool->reserve);
  lrd_directory *directory = LRD_LOAD(&pool->directory);
  for (uint32_t i = 1; i < pool->pages; i++) {
    char *slots = LRD_LOAD(&directory->slots[i]);
    if (slots) lrd_page_free(lrd_pool_shape(pool), page_of_slots(pool, slots));
  }
  lrd_directory_destroy_all(directory);
}

void lrd_pool_link_page_locked(lrd_pool *pool, lrd_page *page) {
  lrd_page **first = &pool->with_room[page->step - 1];
  page->next = *first;
  page->link = first;
  if (page->next) page->next->link = &page->next;
  *first = page;
}

void lrd_pool_unlink_page_locked(lrd_pool *pool, lrd_page *page) {
  (void)pool;
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
    if (step == 1 && page->free == page->capacity) {
      pool->empty_pages--;
      bool wants = pool->mapped >= pages_before_reserve * LRD_PAGE_BYTES_MOST;
      LRD_STORE(&pool->wants_reserve, wants);
    }
    uint32_t before = taken, id;
    for (; taken < wanted && (id = page->free_head) != LRD_NIL; ids[taken++] = id) {
      lrd_entry *entry = lrd_pool_entry(pool, id);
      page->free_head = entry->next;
      LRD_UNPOISON((char *)entry - bytes_before(pool, step), step * pool->stride);
    }
    id = page->number << LRD_SLOT_BITS | (page->fresh * step + step - 1);
    uint32_t fresh = page->capacity - page->fresh;
    for (; taken < wanted && fresh; fresh--, id += step) ids[taken++] = id;
    page->fresh = page->capacity - fresh;
    page->free -= taken - before;
    pool->idle -= (taken - before) * step;
    // What is in use again and leaves once more has left anew.
    if (pool->left > pool->idle) pool->left = pool->idle;
    if (!page->free) lrd_pool_unlink_page_locked(pool, page);
  }
  return taken;
}

/// Counts a change of a number that readers may know. Release: who counts it sees it.
static void count_change_locked(lrd_pool *pool) LRD_REQUIRES(pool->lock) {
  atomic_store_explicit(&pool->changes, LRD_LOAD(&pool->changes) + 1, memory_order_release);
}

bool lrd_pool_install(lrd_pool *pool, lrd_page *page) {
  lrd_directory *grown = NULL;
  bool added = false;
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t number = pool->holes ? 1 : pool->pages;
    while (number < pool->pages && lrd_pool_page_locked(pool, number)) number++;
    bool numbered = number < LRD_PAGES_END;
    added = numbered && lrd_directory_reaches(&pool->directory, number, &grown);
    if (added) {
      bool reused = number < pool->pages;
      if (reused) pool->holes--;
      pool->pages += !reused;
      page->number = number;
      LRD_STORE(&LRD_LOAD(&pool->directory)->slots[number], (char *)page + pool->first_slot);
      if (reused) count_change_locked(pool);
      pool->mapped += page->bytes;
      pool->slots += (uint64_t)page->capacity * page->step;
      pool->idle += (uint64_t)page->capacity * page->step;
      pool->empty_pages += page->step == 1;
      lrd_pool_link_page_locked(pool, page);
    }
    lrd_lock_release(&pool->lock);
    if (added || !numbered) break;
    lrd_directory_destroy(grown);
    grown = lrd_directory_create(2 * (number + 1));
    if (!grown) break;
  }
  lrd_directory_destroy(grown);
  if (!added) lrd_page_free(lrd_pool_shape(pool), page);
  return added;
}

uint32_t lrd_pool_take_of(lrd_pool *pool, uint32_t step, uint32_t *ids, uint32_t wanted,
                          bool grows) {
  for (;;) {
    lrd_lock_acquire(&pool->lock);
    uint32_t taken = take_locked(pool, step, ids, wanted);
    // What is moved into a new page makes no pool grow.
    if (!grows) LRD_STORE(&pool->wants_reserve, false);
    size_t mapped = pool->mapped;
    lrd_page *page = taken || step > 1 || !grows ? NULL : pool->reserve;
    if (page) pool->reserve = NULL;
    lrd_lock_release(&pool->lock);
    if (taken || !grows) return taken;
    if (!page)
      page = lrd_page_create(lrd_pool_shape(pool), step, mapped, LRD_LOAD(&pool->expected), false);
    if (!page || !lrd_pool_install(pool, page)) return 0;
  }
}

uint32_t lrd_pool_take(lrd_pool *pool, uint32_t *ids, uint32_t wanted) {
  return lrd_pool_take_of(pool, 1, ids, wanted, true);
}
bool lrd_pool_take_pair(lrd_pool *pool, uint32_t *id) {
  return lrd_pool_take_of(pool, 2, id, 1, true);
}

bool lrd_pool_take_wide(lrd_pool *pool, uint32_t *id) {
  return lrd_pool_take_of(pool, pool->wide, id, 1, true);
}

bool lrd_pool_is_wide(lrd_pool *pool, uint32_t id) {
  return page_of(pool, id)->step >= pool->wide;
}

void lrd_pool_remove_page_locked(lrd_pool *pool, lrd_page *page) {
  if (page->vacated) {
    pool->vacated--;
  } else {
    lrd_pool_unlink_page_locked(pool, page);
    pool->slots -= (uint64_t)page->capacity * page->step;
    pool->idle -= (uint64_t)page->capacity * page->step;
  }
  LRD_STORE(&LRD_LOAD(&pool->directory)->slots[page->number], NULL);
  count_change_locked(pool);
  pool->holes++;
  pool->mapped -= page->bytes - page->released;
}

/// Puts one slot back. Returns its page if that is empty now and must be freed.
static lrd_page *give_locked(lrd_pool *pool, uint32_t id) LRD_REQUIRES(pool->lock) {
  lrd_page *page = page_of(pool, id);
  lrd_entry *entry = lrd_pool_entry(pool, id);
  entry->next = page->free_head;
  entry->state = LRD_ENTRY_FREE;
  size_t before = bytes_before(pool, page->step);
  LRD_POISON((char *)entry - before, before);
  LRD_POISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  page->free_head = id;
  bool full = page->free++ == 0;
  if (!page->vacated) {
    if (full) lrd_pool_link_page_locked(pool, page);
    pool->idle += page->step;
  }
  if (page->free < page->capacity || page->kept) return NULL;
  if (page->awaits) {
    pool->empty_pages += page->step == 1;
    return NULL;
  }
  if (page->step == 1 && pool->empty_pages == 0 && !pool->reserve && !page->vacated) {
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
  lrd_pool_note_sparse_locked(pool);
  lrd_lock_release(&pool->lock);
  lrd_page_free_all(lrd_pool_shape(pool), emptied);
}

size_t lrd_pool_bytes(lrd_pool *pool) {
  lrd_lock_acquire(&pool->lock);
  size_t bytes = pool->mapped + (pool->reserve ? pool->reserve->bytes : 0);
  lrd_lock_release(&pool->lock);
  return bytes;
}
