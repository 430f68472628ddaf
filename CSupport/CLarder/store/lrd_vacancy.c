// SPDX-License-Identifier: Apache-2.0
#include "lrd_vacancy.h"

#include "lrd_alloc.h"
#include "lrd_hollow.h"

#include <stdlib.h>
#include <string.h>

/// Pages are told apart by how full they are, in parts of this many. An empty one is in none.
enum { CLASSES = 64 };

/// A page is kept, and no new one made in its place, if at most this part of it is too much.
enum { spare_part = 8 };

/// What to do with the pages whose entries take `step` slots each.
typedef struct choice {
  uint32_t step;
  uint64_t slots[CLASSES + 1];    // of the pages of each class. Slots are those of an entry, here
  uint64_t wanted;                // slots that are needed, with a few for what comes
  int worst;                      // class of which pages are kept as long as they are needed
  uint64_t fresh;                 // slots of a new page
  size_t freed;                   // bytes of the pages that are vacated, or would be
  const lrd_page *_Nullable page; // the new page, which is kept
} choice;

static int class_of(const lrd_page *page) {
  uint64_t used = page->capacity - page->free;
  return (int)((used * CLASSES + page->capacity - 1) / page->capacity);
}

/// True for pages that are weighed.
static bool is_weighed(const lrd_page *page, uint32_t step) {
  return page && page->step == step && !page->vacated && page->free < page->capacity;
}

static void vacate_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  if (page->free) lrd_pool_unlink_page_locked(pool, page);
  page->vacated = true;
  page->awaits = false;
  pool->vacated++;
  pool->slots -= (uint64_t)page->capacity * page->step;
  pool->idle -= (uint64_t)page->free * page->step;
}

static void reprieve_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock) {
  page->vacated = false;
  pool->vacated--;
  pool->slots += (uint64_t)page->capacity * page->step;
  pool->idle += (uint64_t)page->free * page->step;
  if (page->free) lrd_pool_link_page_locked(pool, page);
}

/// Sums up the pages, and finds the class of the worst that are kept.
static void weigh_locked(lrd_pool *pool, choice *choice) LRD_REQUIRES(pool->lock) {
  uint64_t used = 0;
  memset(choice->slots, 0, sizeof choice->slots);
  for (uint32_t i = 0; i < pool->pages; i++) {
    const lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || page->step != choice->step) continue;
    // What was left in vacated pages will move as well.
    used += page->capacity - page->free;
    if (is_weighed(page, choice->step)) choice->slots[class_of(page)] += page->capacity;
  }
  choice->wanted = used + used / 64 + LRD_SLOTS_BESIDES;
  uint64_t kept = 0;
  for (choice->worst = CLASSES; choice->worst > 0; choice->worst--) {
    if (kept + choice->slots[choice->worst] > choice->wanted) break;
    kept += choice->slots[choice->worst];
  }
}

/// Decides on each page: keeps it or, unless this is only to find out, vacates it.
static void divide_locked(lrd_pool *pool, choice *choice, bool vacates) LRD_REQUIRES(pool->lock) {
  uint64_t kept = 0;
  for (int i = CLASSES; i > choice->worst; i--) kept += choice->slots[i];
  choice->freed = 0;
  for (uint32_t i = 0; i < pool->pages; i++) {
    lrd_page *page = lrd_pool_page_locked(pool, i);
    // Of a hollow page, what is left.
    bool vacated = page && page->step == choice->step && page->vacated;
    if (vacated) choice->freed += page->bytes - page->released;
    if (!is_weighed(page, choice->step) || page == choice->page) continue;
    if (class_of(page) > choice->worst) continue;
    bool fits = kept + page->capacity <= choice->wanted + page->capacity / spare_part;
    if (class_of(page) == choice->worst && fits) {
      kept += page->capacity;
      continue;
    }
    choice->freed += page->bytes;
    if (vacates) vacate_locked(pool, page);
  }
  choice->fresh = kept < choice->wanted ? choice->wanted - kept : 0;
}

/// Vacates pages whose entries take `step` slots each, if that is worth it and there is memory.
static bool make(lrd_pool *pool, uint32_t step, size_t least) {
  choice choice = {.step = step};
  lrd_lock_acquire(&pool->lock);
  weigh_locked(pool, &choice);
  divide_locked(pool, &choice, false);
  lrd_lock_release(&pool->lock);
  lrd_shape shape = lrd_pool_shape(pool);
  size_t taken = choice.fresh ? lrd_page_bytes_for(shape, step, choice.fresh) : 0;
  if (!choice.freed || choice.freed < taken + least) return false;
  lrd_page *page = choice.fresh ? lrd_page_create_for(shape, step, choice.fresh) : NULL;
  if (choice.fresh && !page) return false;
  if (page) page->awaits = true;
  if (page && !lrd_pool_install(pool, page)) return false;
  // Others may have changed pages meanwhile, a little.
  choice.page = page;
  lrd_lock_acquire(&pool->lock);
  divide_locked(pool, &choice, true);
  lrd_lock_release(&pool->lock);
  return true;
}

bool lrd_vacancy_make(lrd_pool *pool, size_t least) {
  bool any = false;
  for (uint32_t step = 1; step <= LRD_STEP_MOST; step++) any |= make(pool, step, least);
  uint64_t moving = 0;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages && pool->vacated; i++) {
    const lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || !page->vacated || page->hollow) continue;
    moving += (uint64_t)(page->capacity - page->free) * page->step;
    any = true;
  }
  pool->left = pool->idle > moving ? pool->idle - moving : 0;
  lrd_lock_release(&pool->lock);
  return any;
}

static int compare(const void *a, const void *b) {
  uintptr_t first = ((const lrd_vacancy *)a)->start, second = ((const lrd_vacancy *)b)->start;
  return (first > second) - (first < second);
}

uint32_t lrd_vacancy_list(lrd_pool *pool, lrd_vacancy *vacancies, uint32_t room) {
  uint32_t count = 0;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages && pool->vacated; i++) {
    const lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || !page->vacated) continue;
    uintptr_t start = (uintptr_t)page;
    if (count < room) vacancies[count] = (lrd_vacancy){start, start + page->bytes, page->step};
    count++;
  }
  lrd_lock_release(&pool->lock);
  if (count && count <= room) qsort(vacancies, count, sizeof *vacancies, compare);
  return count;
}

const lrd_vacancy *lrd_vacancy_of(const lrd_vacancy *vacancies, uint32_t count,
                                  const lrd_entry *entry) {
  uint32_t first = 0, end = count;
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    const lrd_vacancy *vacancy = &vacancies[middle];
    if ((uintptr_t)entry >= vacancy->end) {
      first = middle + 1;
    } else if ((uintptr_t)entry < vacancy->start) {
      end = middle;
    } else {
      return vacancy;
    }
  }
  return NULL;
}

/// Hollows a page out, which is kept meanwhile. Returns it if it must be freed.
static lrd_page *hollow_out(lrd_pool *pool, lrd_page *page, uint32_t head) {
  lrd_hollow hollow;
  size_t released = lrd_hollow_measure(&hollow, pool, page, head);
  if (released) {
    // Before the chain is gone: a child of fork() must not walk it.
    lrd_lock_acquire(&pool->lock);
    page->hollow = true;
    page->released = released;
    pool->mapped -= released;
    page->free_head = LRD_NIL;
    lrd_lock_release(&pool->lock);
    lrd_hollow_release(&hollow, page);
  }
  lrd_lock_acquire(&pool->lock);
  page->kept = false;
  bool empty = page->free == page->capacity;
  if (empty) {
    lrd_pool_remove_page_locked(pool, page);
  } else if (!released) {
    reprieve_locked(pool, page);
  }
  lrd_lock_release(&pool->lock);
  return empty ? page : NULL;
}

/// Keeps no page any more that is empty.
static void let_go(lrd_pool *pool) {
  lrd_page *emptied = NULL;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages; i++) {
    lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || !(page->awaits || page->kept)) continue;
    bool awaited = page->awaits;
    // A thread that keeps one is gone, by fork().
    page->awaits = page->kept = false;
    if (page->free < page->capacity) continue;
    pool->empty_pages -= awaited && page->step == 1;
    lrd_pool_remove_page_locked(pool, page);
    page->next = emptied;
    emptied = page;
  }
  lrd_lock_release(&pool->lock);
  lrd_page_free_all(lrd_pool_shape(pool), emptied);
}

bool lrd_vacancy_cancel(lrd_pool *pool) {
  bool any = false;
  let_go(pool);
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages && pool->vacated; i++) {
    lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || !page->vacated || page->hollow) continue;
    reprieve_locked(pool, page);
    any = true;
  }
  lrd_lock_release(&pool->lock);
  return any;
}

void lrd_vacancy_end(lrd_pool *pool) {
  let_go(pool);
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages && pool->vacated; i++) {
    lrd_page *page = lrd_pool_page_locked(pool, i);
    if (!page || !page->vacated || page->hollow) continue;
    if (!page->free) {
      reprieve_locked(pool, page);
      continue;
    }
    page->kept = true;
    uint32_t head = page->free_head;
    lrd_lock_release(&pool->lock);
    lrd_page *empty = hollow_out(pool, page, head);
    if (empty) lrd_page_free(lrd_pool_shape(pool), empty);
    lrd_lock_acquire(&pool->lock);
  }
  lrd_pool_note_sparse_locked(pool);
  lrd_lock_release(&pool->lock);
}
