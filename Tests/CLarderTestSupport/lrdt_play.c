// SPDX-License-Identifier: Apache-2.0
#include "lrdt_play.h"

#include "lrd_growth.h"
#include "lrd_hazards.h"
#include "lrd_lane.h"
#include "lrdt_stepping.h"

enum { items_most = 64 };

bool lrdt_play_available(void) {
  return lrdt_stepping_available();
}

static lrd_shard *shard_of(lrdt_play *play) {
  return lrd_cache_shard_at(play->cache, 0);
}

static lrd_page *page_of(lrd_cache *cache, const lrdt_item *item) LRD_UNCHECKED_LOCKS {
  return lrd_pool_page_locked(&cache->pool, item->id >> LRD_SLOT_BITS);
}

lrdt_act lrdt_play_renewal(lrd_cache *cache, const lrdt_item *item) {
  lrd_page *page = page_of(cache, item);
  lrd_page *renewed = lrd_alloc(page->bytes, lrd_page_alignment(cache->pool.alignment));
  return (lrdt_act){
      .action = LRDT_RENEW_PAGE, .page = renewed, .shift = (char *)renewed - (char *)page};
}

/// Does nothing if the reader has a hazard in the page, which then would not have been freed. The
/// former page stays allocated, and says that its entries are gone.
static void renew_page(lrdt_play *play, lrdt_act *act) LRD_UNCHECKED_LOCKS {
  lrd_pool *pool = &play->cache->pool;
  lrd_page *page = page_of(play->cache, &play->items[act->subject]);
  uintptr_t hazard = atomic_load_explicit(&play->lane->thread->top->entry, memory_order_relaxed);
  if (hazard - (uintptr_t)page < page->bytes) {
    act->shift = 0;
    return;
  }
  memcpy(act->page, page, page->bytes);
  for (size_t i = 0; i < play->count; i++) {
    if (page_of(play->cache, &play->items[i]) == page) play->items[i].entry->state = LRD_ENTRY_FREE;
  }
  lrd_pool_remove_page_locked(pool, page);
  lrd_pool_install(pool, act->page);
}

static void act(lrdt_play *play, lrdt_act *act, lrd_chain *removed) LRD_UNCHECKED_LOCKS {
  lrd_shard *shard = shard_of(play);
  lrd_pool *pool = &play->cache->pool;
  const lrd_policy *policy = play->cache->policy;
  lrdt_item *subject = &play->items[act->subject];
  switch (act->action) {
  case LRDT_NOTHING:
    break;
  case LRDT_INSERT:
    lrd_shard_link_locked(shard, act->fresh, subject->hash);
    break;
  case LRDT_REMOVE:
    lrd_shard_unlink_locked(shard, subject->entry, LRD_REMOVED_BY_CALL, removed);
    break;
  case LRDT_REPLACE:
    lrd_shard_replace_locked(shard, subject->entry, act->fresh, subject->hash, removed);
    break;
  case LRDT_MOVE_BUCKET:
    if (lrd_growth_moves_locked(shard)) lrd_growth_move_locked(shard, 1);
    break;
  case LRDT_MOVE_ALL:
    if (lrd_growth_moves_locked(shard)) lrd_growth_move_locked(shard, INT32_MAX);
    break;
  case LRDT_EMPTY: {
    lrd_order order;
    lrd_growth_leave_locked(shard);
    lrd_shard_empty_locked(shard, &order);
    lrd_order_dissolve(&order, policy, pool, LRD_REMOVED_BY_CALL, removed);
    break;
  }
  case LRDT_RENEW_PAGE:
    renew_page(play, act);
    break;
  }
}

/// Writes into the items what an act changes.
static void note(lrdt_play *play, const lrdt_act *act) {
  lrdt_item *subject = &play->items[act->subject];
  if (act->action == LRDT_INSERT || act->action == LRDT_REPLACE) {
    subject->entry = act->fresh;
    subject->id = act->id;
    subject->present = true;
  } else if (act->action == LRDT_REMOVE) {
    subject->present = false;
  } else if (act->action == LRDT_EMPTY) {
    for (size_t i = 0; i < play->count; i++) play->items[i].present = false;
  } else if (act->action == LRDT_RENEW_PAGE) {
    uint32_t number = subject->id >> LRD_SLOT_BITS;
    for (size_t i = 0; i < play->count; i++) {
      lrdt_item *item = &play->items[i];
      if (item->id >> LRD_SLOT_BITS != number) continue;
      item->entry = (lrd_entry *)(void *)((char *)item->entry + act->shift);
    }
  }
}

static lrd_entry *stored(const lrdt_item *item) {
  return item->present ? item->entry : NULL;
}

/// A whole lookup, as caches do it. The key is the whole hash. The loan does not end.
static lrd_entry *look_up(lrdt_play *play, uint64_t hash) LRD_UNCHECKED_LOCKS {
  lrd_entry *found = lrd_find(play->cache, play->lane, hash, 2);
  if (!found || *lrdt_entry_key(found) == hash) return found;
  found = lrd_find_slow(play->cache, play->lane, hash);
  if (!found || *lrdt_entry_key(found) == hash) return found;
  // Found another key. Under the lock the answer is final; it is lent like any other.
  lrd_matches matches = lrd_shard_matches_locked(shard_of(play), hash);
  while ((found = lrd_matches_next_locked(&matches)) && *lrdt_entry_key(found) != hash) {
  }
  atomic_store_explicit(&play->lane->thread->top->entry, (uintptr_t)found, memory_order_release);
  return found;
}

/// What lookups may find of each item: the entry at first, then the one after each act.
typedef struct lrdt_history {
  lrdt_play *play;
  lrd_entry *values[items_most][LRDT_ACTS + 1];
  int seen[items_most]; // the first of `values` that a lookup may still find
  lrd_chain removed;
  const char *fault;
  size_t item; // the one that the stopped reader looks for
  lrd_entry *found;
} lrdt_history;

/// Records what each act will leave, and performs none.
static void foresee(lrdt_history *history, lrdt_play *play) {
  *history = (lrdt_history){.play = play};
  lrdt_item before[items_most];
  for (size_t i = 0; i < play->count; i++) {
    before[i] = play->items[i];
    history->values[i][0] = stored(&before[i]);
  }
  for (int a = 0; a < LRDT_ACTS; a++) {
    note(play, &play->acts[a]);
    for (size_t i = 0; i < play->count; i++) history->values[i][a + 1] = stored(&play->items[i]);
  }
  for (size_t i = 0; i < play->count; i++) play->items[i] = before[i];
}

static void perform_acts(lrdt_history *history) {
  lrdt_play *play = history->play;
  for (int a = 0; a < LRDT_ACTS; a++) {
    act(play, &play->acts[a], &history->removed);
    note(play, &play->acts[a]);
  }
}

static void write_all(void *context) {
  perform_acts(context);
}

static bool read_all(void *context, uint64_t step) {
  (void)step;
  lrdt_history *history = context;
  for (size_t i = 0; i < history->play->count; i++) {
    lrd_entry *found = look_up(history->play, history->play->items[i].hash);
    lrd_loan_end(history->play->lane);
    int *seen = &history->seen[i];
    while (*seen <= LRDT_ACTS && history->values[i][*seen] != found) ++*seen;
    if (*seen <= LRDT_ACTS) continue;
    history->fault = found ? "a lookup found what was not there" : "a lookup missed an entry";
    return false;
  }
  return true;
}

const char *lrdt_play_reads(lrdt_play *play) {
  lrdt_history history;
  foresee(&history, play);
  lrdt_step(write_all, read_all, &history);
  return history.fault;
}

/// Destroys what no hazard holds: gives the slots of entries back to the pool, and frees tables.
static void reclaim(lrdt_history *history) LRD_UNCHECKED_LOCKS {
  lrd_cache *cache = history->play->cache;
  lrd_shard *shard = shard_of(history->play);
  lrd_scan scan = {.entries = history->removed, .tables = shard->limbo.tables};
  lrd_hazards hazards;
  shard->limbo.tables = NULL;
  lrd_scan_run(&scan, &hazards);
  lrd_scan_sort(&scan, &hazards, &cache->pool);
  lrd_hazards_discard(&hazards);
  shard->limbo.tables = scan.tables;
  for (lrd_entry *entry; (entry = lrd_chain_take(&scan.entries, &cache->pool));) {
    *lrdt_entry_key(entry) = 0;
    lrd_slot_give(cache, NULL, entry);
  }
}

static void read_one(void *context) {
  lrdt_history *history = context;
  history->found = look_up(history->play, history->play->items[history->item].hash);
}

static void write_at_stop(void *context) {
  perform_acts(context);
  reclaim(context);
}

/// What is wrong with what the reader has found.
static const char *fault_of_found(const lrdt_history *history) {
  lrdt_play *play = history->play;
  lrd_entry *found = history->found;
  bool known = false;
  for (int a = 0; a <= LRDT_ACTS; a++) known |= history->values[history->item][a] == found;
  if (!known) return found ? "the lookup found what was never there" : "the lookup missed an entry";
  const lrd_hazard *hazard = play->lane->thread->top;
  if (atomic_load_explicit(&hazard->table, memory_order_relaxed)) {
    return "the lookup stayed inside the table";
  }
  if (!found) return NULL;
  if (atomic_load_explicit(&hazard->entry, memory_order_relaxed) != (uintptr_t)found) {
    return "the entry found is not protected";
  }
  if (found->state == LRD_ENTRY_FREE) return "the entry found is destroyed";
  if (*lrdt_entry_key(found) != play->items[history->item].hash) return "the entry is another one";
  return NULL;
}

static const char *judge(void *context) {
  lrdt_play *play = ((lrdt_history *)context)->play;
  const char *fault = fault_of_found(context);
  if (fault) return fault;
  lrd_loan_end(play->lane);
  lrd_shard_check(shard_of(play));
  return lrdt_items_check(play->cache, play->lane, play->items, play->count);
}

const char *lrdt_play_writes(lrdt_play *play, size_t item, uint64_t first, uint64_t stride,
                             uint64_t *stops) {
  lrdt_history history;
  foresee(&history, play);
  history.item = item;
  const char *fault =
      lrdt_step_apart(read_one, write_at_stop, judge, &history, first, stride, stops);
  lrd_loan_end(play->lane);
  return fault;
}

static void note_nothing(void *context, uintptr_t pointer) {
  (void)context;
  (void)pointer;
}

static void visit_hazards(void *context) {
  lrd_thread_visit_hazards(note_nothing, context);
}

static bool go_on(void *context, uint64_t step) {
  (void)context;
  (void)step;
  return true;
}

uint64_t lrdt_scan_steps(void) {
  uint64_t none = 0;
  return lrdt_step(visit_hazards, go_on, &none);
}
