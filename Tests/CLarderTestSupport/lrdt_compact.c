// SPDX-License-Identifier: Apache-2.0
#include "lrdt_compact.h"

#include "lrd_alloc.h"
#include "lrd_pass.h"

#include <unistd.h>

/// The hook that is replaced, and how far the thread is that is stopped.
static struct {
  _Atomic(void (*)(void *context, lrd_entry *entry, void **batch)) destroy;
  _Atomic(bool) stopped, let_go;
} stop;

static _Thread_local bool stops;

static void destroy_stopped(void *context, lrd_entry *entry, void **batch) {
  if (stops) {
    stops = false;
    atomic_store(&stop.stopped, true);
    while (!atomic_load(&stop.let_go)) usleep(1000);
  }
  atomic_load (&stop.destroy)(context, entry, batch);
}

void lrdt_destruction_watch(lrd_cache *cache) {
  atomic_store(&stop.stopped, false);
  atomic_store(&stop.let_go, false);
  atomic_store(&stop.destroy, cache->hooks.destroy);
  cache->hooks.destroy = destroy_stopped;
}

void lrdt_destruction_stop(void) {
  stops = true;
}

bool lrdt_destruction_is_stopped(void) {
  return atomic_load(&stop.stopped);
}

void lrdt_destruction_let_go(void) {
  stops = false;
  atomic_store(&stop.let_go, true);
}

int64_t lrdt_pass_left(lrd_cache *cache) {
  lrd_pool *pool = &cache->pool;
  int64_t left = 0;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages; i++) {
    const lrd_page *page = lrd_pool_page_locked(pool, i);
    if (page && page->vacated && !page->hollow) left += page->capacity - page->free;
  }
  lrd_lock_release(&pool->lock);
  // After the pages: what others move or destroy meanwhile makes the result larger, never smaller.
  lrd_lock_acquire(&cache->shards->lock);
  left -= cache->moved_free.count;
  lrd_lock_release(&cache->shards->lock);
  return left;
}

void lrdt_pass_close(lrd_cache *cache) {
  lrd_pass_close(cache);
}

/// Begins a pass. False, and `compacting` is given back, if the background thread has moved all.
static bool begin(lrd_pass *pass, lrd_cache *cache) {
  lrd_pass_take(cache);
  bool any = lrd_vacancy_make(&cache->pool, 1) && lrd_pass_begin(pass, cache);
  if (!any) lrd_pass_give(cache);
  return any;
}

bool lrdt_pass_begin_busy(lrd_cache *cache) {
  lrd_pass pass;
  lrd_sweep sweep = {.room = LRD_MOVES_PER_LOCK};
  if (!begin(&pass, cache)) return false;
  lrd_lock_acquire(&cache->shards->lock);
  LRD_CHECK(lrd_pass_slice(&pass, cache->shards, &sweep, true) == LRD_PASS_BUSY);
  lrd_lock_release(&cache->shards->lock);
  lrd_pass_end(&pass);
  return true;
}

void lrdt_pass_lose(lrd_cache *cache) {
  lrd_pass pass;
  lrd_sweep sweep = {.room = LRD_MOVES_PER_LOCK};
  LRD_CHECK(begin(&pass, cache));
  while (lrd_pass_slice(&pass, cache->shards, &sweep, false) == LRD_PASS_MORE) {
  }
  lrd_free(pass.vacancies, pass.room * sizeof *pass.vacancies, _Alignof(lrd_vacancy));
  lrd_pass_give(cache);
}

void lrdt_hollow_lose(lrd_cache *cache) {
  lrd_pool *pool = &cache->pool;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages; i++) {
    lrd_page *page = lrd_pool_page_locked(pool, i);
    if (page && page->vacated) page->kept = true;
  }
  lrd_lock_release(&pool->lock);
}

uint32_t lrdt_hollow_kept(lrd_cache *cache) {
  lrd_pool *pool = &cache->pool;
  uint32_t kept = 0;
  lrd_lock_acquire(&pool->lock);
  for (uint32_t i = 0; i < pool->pages; i++) {
    const lrd_page *page = lrd_pool_page_locked(pool, i);
    kept += page && page->kept;
  }
  lrd_lock_release(&pool->lock);
  return kept;
}

uint32_t lrdt_pass_go_on(lrd_cache *cache, bool stale) {
  lrd_pass pass;
  lrd_sweep sweep = {.room = LRD_MOVES_PER_LOCK};
  lrd_pass_take(cache);
  LRD_CHECK(lrd_pass_begin(&pass, cache));
  for (uint32_t i = 0; stale && i < pass.count; i++) pass.vacancies[i].step = 1;
  while (lrd_pass_slice(&pass, cache->shards, &sweep, false) == LRD_PASS_MORE) {
  }
  return lrd_pass_end(&pass);
}
