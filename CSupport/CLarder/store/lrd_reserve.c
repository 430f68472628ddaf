// SPDX-License-Identifier: Apache-2.0
#include "lrd_reserve.h"

bool lrd_reserve_prepare(lrd_pool *pool) {
  if (!atomic_exchange_explicit(&pool->wants_reserve, false, memory_order_relaxed)) return false;
  lrd_lock_acquire(&pool->lock);
  size_t mapped = pool->mapped;
  uint64_t expected = LRD_LOAD(&pool->expected);
  bool wanted =
      !pool->reserve && !pool->empty_pages && (!expected || mapped / pool->stride < expected);
  lrd_lock_release(&pool->lock);
  lrd_page *page = wanted ? lrd_page_create(lrd_pool_shape(pool), 1, mapped, expected, true) : NULL;
  if (!page) return false;
  lrd_lock_acquire(&pool->lock);
  LRD_ASSERT(!pool->reserve);
  wanted = !pool->empty_pages;
  if (wanted) pool->reserve = page;
  lrd_lock_release(&pool->lock);
  if (!wanted) lrd_page_free(lrd_pool_shape(pool), page);
  return wanted;
}

void lrd_reserve_drop(lrd_pool *pool) {
  lrd_page *emptied = NULL;
  lrd_lock_acquire(&pool->lock);
  lrd_page *reserve = pool->reserve;
  pool->reserve = NULL;
  for (lrd_page *page = pool->with_room[0], *next; page && pool->empty_pages; page = next) {
    next = page->next;
    if (page->free < page->capacity || page->awaits) continue;
    pool->empty_pages--;
    lrd_pool_remove_page_locked(pool, page);
    page->next = emptied;
    emptied = page;
  }
  lrd_lock_release(&pool->lock);
  if (reserve) lrd_page_free(lrd_pool_shape(pool), reserve);
  lrd_page_free_all(lrd_pool_shape(pool), emptied);
}
