// SPDX-License-Identifier: Apache-2.0
#include "lrd_pass.h"

#include "lrd_alloc.h"
#include "lrd_copy.h"
#include "lrd_enter.h"
#include "lrd_garbage.h"
#include "lrd_hazards.h"
#include "lrd_thread.h"

enum {
  scanned_per_lock = 512,
  destroyed_at_once = 16, // slots in the hands of a thread that may be stopped: few, see lrd_pass.h
};

/// A cache whose moved entries this thread destroys. That may run code of users, which may call
/// reclaim() of another cache, and so on.
typedef struct destruction {
  const lrd_cache *cache;
  const struct destruction *outer;
} destruction;

static _Thread_local const destruction *innermost;

bool lrd_pass_destroys(const lrd_cache *cache) {
  const destruction *each = innermost;
  while (each && each->cache != cache) each = each->outer;
  return each;
}

bool lrd_pass_try(lrd_cache *cache) {
  // Acquire, partner: the release below. What the last one has done to pages and `density` is seen.
  return !atomic_exchange_explicit(&cache->compacting, true, memory_order_acquire);
}

void lrd_pass_take(lrd_cache *cache) {
  while (!lrd_pass_try(cache)) lrd_nap();
}

void lrd_pass_give(lrd_cache *cache) {
  atomic_store_explicit(&cache->compacting, false, memory_order_release);
}

bool lrd_pass_begin(lrd_pass *pass, lrd_cache *cache) {
  *pass = (lrd_pass){.cache = cache};
  while ((pass->count = lrd_vacancy_list(&cache->pool, pass->vacancies, pass->room)) > pass->room) {
    lrd_free(pass->vacancies, pass->room * sizeof *pass->vacancies, _Alignof(lrd_vacancy));
    pass->room = pass->count;
    pass->vacancies = lrd_alloc(pass->room * sizeof *pass->vacancies, _Alignof(lrd_vacancy));
    if (!pass->vacancies) pass->room = 0;
    if (!pass->room) return false;
  }
  if (!pass->count)
    lrd_free(pass->vacancies, pass->room * sizeof *pass->vacancies, _Alignof(lrd_vacancy));
  return pass->count;
}

/// Scans a part of what was moved under a lock: what a reader holds goes to a limbo. False at the
/// end.
static bool scan_some(lrd_cache *cache, const lrd_hazards *hazards) {
  lrd_shard *shard = cache->shards;
  lrd_chain held = {0};
  lrd_entry *entry = NULL;
  lrd_shard_enter(cache, NULL, shard);
  for (int i = 0; i < scanned_per_lock; i++) {
    entry = lrd_chain_take(&cache->moved_out, &cache->pool);
    if (!entry) break;
    lrd_chain_add(lrd_hazards_name(hazards, entry) ? &held : &cache->moved_free, entry);
  }
  bool waits = held.head;
  lrd_limbo_add_held_locked(&shard->limbo, &held);
  lrd_shard_leave(cache, shard);
  if (waits) lrd_request_visit(&cache->request);
  return entry;
}

/// Runs one fence and one scan for all that was moved: each fence interrupts all readers.
static void scan_all(lrd_cache *cache) {
  lrd_scan scan = {.unfenced = true};
  lrd_hazards hazards;
  lrd_scan_run(&scan, &hazards);
  while (scan_some(cache, &hazards)) {
  }
  lrd_hazards_discard(&hazards);
}

/// Destroys a few of those that no reader holds. False if there are none.
static bool destroy_some(lrd_cache *cache, void **batch) {
  lrd_chain some = {0};
  lrd_shard_enter(cache, NULL, cache->shards);
  for (int i = 0; i < destroyed_at_once && cache->moved_free.head; i++) {
    lrd_chain_add(&some, lrd_chain_take(&cache->moved_free, &cache->pool));
  }
  lrd_shard_leave(cache, cache->shards);
  bool any = some.head;
  lrd_garbage_destroy_chain(cache, &some, batch);
  return any;
}

/// Destroys all of them.
static void destroy_moved(lrd_cache *cache) {
  void *batch = NULL;
  destruction this = {.cache = cache, .outer = innermost};
  innermost = &this;
  while (destroy_some(cache, &batch)) {
  }
  if (batch) cache->hooks.finish(cache->hooks.context, batch);
  innermost = this.outer;
}

uint32_t lrd_pass_end(lrd_pass *pass) {
  lrd_cache *cache = pass->cache;
  for (int i = 0; i < LRD_STEP_MOST; i++) {
    lrd_pool_give(&cache->pool, pass->stock.ids[i], pass->stock.count[i]);
  }
  lrd_free(pass->vacancies, pass->room * sizeof *pass->vacancies, _Alignof(lrd_vacancy));
  if (cache->moved_out.head) scan_all(cache);
  lrd_pass_give(cache);
  destroy_moved(cache);
  return pass->moved;
}

void lrd_pass_take_settled(lrd_cache *cache) {
  for (;;) {
    lrd_pass_take(cache);
    // Left by a thread that fork() did not copy.
    if (cache->moved_out.head) scan_all(cache);
    lrd_shard_enter(cache, NULL, cache->shards);
    bool settled = !cache->moved_free.head;
    lrd_shard_leave(cache, cache->shards);
    if (settled) return;
    lrd_pass_give(cache);
    destroy_moved(cache);
  }
}

void lrd_pass_close(lrd_cache *cache) {
  lrd_pass_take_settled(cache);
  lrd_vacancy_end(&cache->pool);
  lrd_pass_give(cache);
}

/// Locks a shard, or tries to.
static bool enter(lrd_shard *shard, bool tries) LRD_TRY_ACQUIRE(true, shard->lock) {
  if (tries) return lrd_lock_try_or_mark(&shard->lock);
  lrd_lock_acquire(&shard->lock);
  return true;
}

/// Has slots of each size at hand that may be needed. False if there is no room for any.
static bool fill_stock(lrd_pass *pass) {
  bool needed[LRD_STEP_MOST] = {false}, any = false;
  for (uint32_t i = 0; i < pass->count; i++) needed[pass->vacancies[i].step - 1] = true;
  for (uint32_t i = 0; i < LRD_STEP_MOST; i++) {
    uint32_t *count = &pass->stock.count[i], lacking = LRD_MOVES_PER_LOCK - *count;
    if (!needed[i]) continue;
    if (lacking) {
      *count +=
          lrd_pool_take_of(&pass->cache->pool, i + 1, pass->stock.ids[i] + *count, lacking, false);
    }
    any |= *count > 0;
  }
  return any;
}

/// Those of a slice's entries that lie in vacated pages.
typedef struct found {
  lrd_entry *_Nullable entries[LRD_MOVES_PER_LOCK];
  uint32_t step[LRD_MOVES_PER_LOCK];
  uint32_t count;
} found;

/// An entry that is lent stays.
static void drop_lent(void *context, uintptr_t pointer) {
  found *found = context;
  for (uint32_t i = 0; i < found->count; i++) {
    if ((uintptr_t)found->entries[i] == pointer) found->entries[i] = NULL;
  }
}

static void move_found_locked(lrd_pass *pass, lrd_shard *shard, found *found, lrd_chain *replaced)
    LRD_REQUIRES(shard->lock) {
  if (found->count) lrd_thread_visit_hazards(drop_lent, found);
  for (uint32_t i = 0; i < found->count; i++) {
    uint32_t size = found->step[i] - 1, *count = &pass->stock.count[size];
    if (!found->entries[i] || !*count) continue;
    lrd_entry *copy = lrd_slot_open(pass->cache, pass->stock.ids[size][--*count]);
    lrd_copy_in_place_locked(pass->cache, shard, found->entries[i], copy, false, replaced);
    pass->moved++;
  }
  found->count = 0;
}

/// True when a copy of the entry finds room in so many slots. No entry of the page that was vacated
/// needs more. But that page may have been freed since it was listed, and another one, with larger
/// entries, made at its address.
static bool fits_locked(lrd_pool *pool, lrd_shard *shard, const lrd_entry *entry, uint32_t step)
    LRD_REQUIRES(shard->lock) {
  if (step < pool->wide && entry->fields & LRD_IS_TIMED) {
    // Where slots have no room for a deadline, all that have one have room for two. Otherwise the
    // entry's own page tells.
    if (pool->odd & LRD_IS_TIMED) return false;
    if (lrd_pool_is_wide(pool, lrd_wheel_id(&shard->timer->wheel, pool, entry))) return false;
  }
  return step >= (entry->fields & pool->odd & LRD_HAS_COST ? 2 : 1);
}

static void move_locked(lrd_pass *pass, lrd_shard *shard, lrd_entry **entries, size_t count,
                        lrd_chain *replaced) LRD_REQUIRES(shard->lock) {
  found found = {.count = 0};
  for (size_t i = 0; i < count && found.count < LRD_MOVES_PER_LOCK; i++) {
    const lrd_vacancy *vacancy = lrd_vacancy_of(pass->vacancies, pass->count, entries[i]);
    if (!vacancy || !fits_locked(&pass->cache->pool, shard, entries[i], vacancy->step)) continue;
    found.step[found.count] = vacancy->step;
    found.entries[found.count++] = entries[i];
  }
  move_found_locked(pass, shard, &found, replaced);
}

lrd_pass_result lrd_pass_slice(lrd_pass *pass, lrd_shard *shard, lrd_sweep *sweep, bool tries) {
  lrd_cache *cache = pass->cache;
  lrd_entry *few[LRD_MOVES_PER_LOCK], **entries = few;
  size_t room = sweep->room;
  lrd_pass_result result = LRD_PASS_BUSY;
  if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return LRD_PASS_OVER;
  if (!fill_stock(pass)) return LRD_PASS_OVER;
  if (room > LRD_MOVES_PER_LOCK) entries = lrd_alloc(room * sizeof *entries, sizeof *entries);
  if (!entries) return LRD_PASS_OVER;
  if (enter(shard, tries)) {
    size_t count = lrd_sweep_next_locked(shard, sweep, entries, room);
    move_locked(pass, shard, entries, count, &cache->moved_out);
    lrd_shard_leave(cache, shard);
    result = sweep->done ? LRD_PASS_DONE : LRD_PASS_MORE;
  }
  if (entries != few) lrd_free(entries, room * sizeof *entries, sizeof *entries);
  return result;
}
