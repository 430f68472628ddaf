// SPDX-License-Identifier: Apache-2.0
/* lrd_retire.c — from unlinked to proven: the lists of a shard, and the scan. What is proven is
 * handed out in lrd_garbage.c. */
#include "lrd_retire.h"

#include "lrd_grace.h"
#include "lrd_hazard_set.h"
#include "lrd_maintenance.h"

/// Entries a writer destroys at most because others have left more than should wait.
enum { owed_most = LRD_RETIRED_FEW / 2 };

/// Splits `chain` into what some reader holds and what none does.
static void split(const lrd_hazard_set *set, lrd_pool *pool, lrd_chain *chain, lrd_chain *held,
                  lrd_chain *free) {
  for (lrd_entry *entry; (entry = lrd_chain_take(chain, pool));) {
    lrd_chain_add(lrd_hazard_set_has(set, entry) ? held : free, entry);
  }
}

static lrd_table *split_tables(const lrd_hazard_set *set, lrd_table *tables) {
  lrd_table *held = NULL;
  while (tables) {
    lrd_table *table = tables;
    tables = table->retired_next;
    if (lrd_hazard_set_has(set, table)) {
      table->retired_next = held;
      held = table;
    } else {
      lrd_table_destroy(table);
    }
  }
  return held;
}

/// What may wait for destruction in one shard.
static lrd_amount most_of_locked(lrd_cache *cache, const lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  uint64_t limit = atomic_load_explicit(&cache->budget.cost_limit, memory_order_relaxed);
  return (lrd_amount){lrd_shard_retired_most(shard), limit ? limit / 16 : (uint64_t)1 << 20};
}

/// True when more waits for destruction than the shard should keep.
static bool is_behind_locked(const lrd_shard *shard, lrd_amount most) LRD_REQUIRES(shard->lock) {
  return shard->proven.count > most.count / 2 || shard->proven.cost > most.cost / 2;
}

/// Gives a chain of the shard to the change's scan. `passed`: after a grace period.
static void suspect(lrd_change *change, lrd_chain *chain, bool passed) {
  bool first = !change->suspect.head && !change->tables;
  change->fenced = passed && (first || change->fenced);
  lrd_chain_append(&change->suspect, chain);
}

bool lrd_retire_attend_locked(lrd_shard *shard) {
  shard->attended = shard->unlinked - shard->visited >= lrd_shard_retired_most(shard) / 16;
  shard->visited = shard->unlinked;
  return shard->attended;
}

bool lrd_retire_await_locked(lrd_shard *shard) {
  if (shard->retired.head) {
    lrd_chain_append(&shard->awaiting, &shard->retired);
    shard->ticket = lrd_grace_ticket(&lrd_grace_periods);
    shard->fencing = false;
  }
  shard->guarded = 0;
  return shard->awaiting.head;
}

/// Looks whether it is time for what is retired to await a grace period, or for a scan.
static void gather_locked(lrd_shard *shard, lrd_change *change, lrd_amount most)
    LRD_REQUIRES(shard->lock) {
  lrd_chain *retired = &shard->retired, *awaiting = &shard->awaiting;
  // Entries seen in readers' hands are not worth another scan until as many more have come.
  if (retired->count <= 2 * shard->guarded) return;
  uint64_t fresh = retired->count - 2 * shard->guarded;
  // Past the bound every writer scans: destructions that insert are behind with their own.
  uint64_t cost;
  if (__builtin_add_overflow(retired->cost, awaiting->cost, &cost)) cost = UINT64_MAX;
  bool pressed = fresh + awaiting->count + shard->proven.count > most.count || cost > most.cost / 2;
  if (fresh < most.count / 4 && !pressed) return;
  bool passed = awaiting->head && lrd_grace_has_passed(&lrd_grace_periods, shard->ticket);
  if (awaiting->head && !passed && !pressed) {
    // One change runs the fence, a later one scans: neither takes as long as both. Half as many
    // more are left to the fences of others.
    bool fence = !shard->fencing && fresh >= most.count / 8 * 3;
    shard->fencing |= fence;
    change->fence |= fence;
    return;
  }
  if (awaiting->head || pressed) suspect(change, awaiting, passed);
  if (pressed && !passed) suspect(change, retired, false);
  lrd_retire_await_locked(shard);
}

static void retire_alone_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  bool loans = lrd_self && lrd_self->top != lrd_self->hazards;
  if (!loans) {
    lrd_chain_append(&change->ready, removed);
    // Left from a time with more threads: those are gone, and with them their loans.
    lrd_chain_append(&shard->proven, &shard->retired);
    lrd_chain_append(&shard->proven, &shard->awaiting);
    shard->guarded = 0;
    shard->held_count = 0;
  }
  for (lrd_entry *entry; (entry = lrd_chain_take(removed, &cache->pool));) {
    bool held = lrd_thread_owns_hazard((uintptr_t)entry);
    lrd_chain_add(held ? &shard->retired : &change->ready, entry);
  }
}

static void take_tables_locked(lrd_shard *shard, lrd_change *change) LRD_REQUIRES(shard->lock) {
  lrd_table *last = shard->retired_tables;
  if (!last) return;
  while (last->retired_next) last = last->retired_next;
  last->retired_next = change->tables;
  change->tables = shard->retired_tables;
  change->fenced = false;
  shard->retired_tables = NULL;
}

/// A large table takes the system long to free, and is left to the maintenance thread.
static bool leaves_tables_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  const lrd_table *table = shard->retired_tables;
  return table && lrd_table_is_large(table->buckets) && !table->retired_next &&
         !lrd_maintenance_is_missing();
}

void lrd_retire_collect_locked(lrd_shard *shard, lrd_change *change) {
  change->shard = shard;
  suspect(change, &shard->awaiting, false);
  suspect(change, &shard->retired, false);
  shard->guarded = 0;
  take_tables_locked(shard, change);
}

void lrd_retire_collect_passed_locked(lrd_shard *shard, lrd_change *change) {
  change->shard = shard;
  bool passed = lrd_grace_has_passed(&lrd_grace_periods, shard->ticket);
  if (shard->awaiting.head && passed && !shard->attended) suspect(change, &shard->awaiting, true);
  take_tables_locked(shard, change);
}

/// Begins to load what destroying the next entry will touch; that entry itself is on its way since
/// the one before it was next.
static void foresee_destruction(lrd_cache *cache, const lrd_entry *next) {
  const lrd_references *references = &cache->entry_references;
  for (uint32_t i = 0; i < references->count; i++) {
    LRD_PREFETCH((const void *)(uintptr_t)lrd_entry_refers_to(next, references->at[i]));
  }
  const lrd_entry *then = lrd_chain_next(&cache->pool, next);
  if (then) LRD_PREFETCH(then);
}

void lrd_retire_take_proven_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                   uint32_t most) {
  while (most && shard->proven.head) {
    lrd_entry *entry = lrd_chain_take(&shard->proven, &cache->pool);
    if (shard->proven.head) foresee_destruction(cache, shard->proven.head);
    if (LRD_UNLIKELY(lrd_pointers_name(shard->held, shard->held_count, entry))) {
      shard->guarded++;
      lrd_chain_add(&shard->retired, entry);
      change->unsettled = true;
    } else {
      lrd_chain_add(&change->ready, entry);
      most--;
    }
  }
  if (!shard->proven.head) shard->held_count = 0;
}

bool lrd_retire_is_behind_locked(lrd_cache *cache, const lrd_shard *shard) {
  return is_behind_locked(shard, most_of_locked(cache, shard));
}

bool lrd_retire_waits_locked(const lrd_shard *shard) {
  return shard->retired.head || shard->awaiting.head || shard->proven.head || shard->retired_tables;
}

/// How many entries a change that removed so many is to destroy. As many: an allocator that keeps
/// freed memory at hand then serves insertions from it, while more at once overflow what it keeps,
/// and the insertions after that find nothing there. Now and then one more, so that `proven` is
/// empty at times although writers never pause; oftener when `held`, emptied with it, gets full.
static uint32_t due_locked(const lrd_shard *shard, lrd_amount most, uint32_t removed)
    LRD_REQUIRES(shard->lock) {
  uint32_t due = removed ? removed : 1;
  if (is_behind_locked(shard, most)) return due + LRD_DESTROY_STEP;
  uint64_t interval = shard->held_count > LRD_HELD_MOST / 2 ? 4 : 64;
  return due + ((shard->unlinked & (interval - 1)) == 0);
}

void lrd_retire_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change, lrd_chain *removed) {
  change->shard = shard;
  uint32_t removed_count = removed->count;
  if (!removed->head && !lrd_retire_waits_locked(shard)) return;
  lrd_amount most = most_of_locked(cache, shard);
  if (lrd_thread_is_solitary()) {
    retire_alone_locked(cache, shard, change, removed);
  } else {
    lrd_chain_append(&shard->retired, removed);
    gather_locked(shard, change, most);
  }
  lrd_retire_take_proven_locked(cache, shard, change, due_locked(shard, most, removed_count));
  if (!leaves_tables_locked(shard)) take_tables_locked(shard, change);
  change->unsettled |= lrd_retire_waits_locked(shard);
}

/// Gathers all hazards, and frees those of `change->tables` that no reader is inside.
static void scan(lrd_hazard_set *set, lrd_change *change) {
  // Everything in `suspect` and `tables` was unlinked before this fence, or before one that has
  // ended; its partner is the light fence behind every hazard a reader publishes.
  if (!change->fenced) lrd_grace_fence();
  lrd_hazard_set_gather(set);
  change->tables = split_tables(set, change->tables);
}

void lrd_retire_scan(lrd_cache *cache, lrd_change *change, lrd_chain *held, lrd_chain *free) {
  lrd_hazard_set set;
  scan(&set, change);
  split(&set, &cache->pool, &change->suspect, held, free);
  lrd_hazard_set_discard(&set);
}

void lrd_retire_leave_ready_locked(lrd_shard *shard, lrd_chain *free) {
  lrd_chain_append(free, &shard->proven);
  lrd_chain_append(&shard->proven, free);
}

void lrd_retire_put_back_locked(lrd_cache *cache, lrd_shard *shard, lrd_change *change,
                                lrd_chain *held, lrd_chain *free) {
  shard->guarded += held->count;
  lrd_chain_append(&shard->retired, held);
  // What came with this scan, down to the bound; of what was there before, so much.
  uint32_t owed = free->count > owed_most ? free->count : owed_most;
  if (lrd_retire_is_behind_locked(cache, shard)) lrd_retire_leave_ready_locked(shard, free);
  lrd_chain_append(&shard->proven, free);
  if (owed > shard->proven.count) owed = shard->proven.count;
  change->owed = lrd_retire_is_behind_locked(cache, shard) ? owed : 0;
  while (change->tables) {
    lrd_table *table = change->tables;
    change->tables = table->retired_next;
    table->retired_next = shard->retired_tables;
    shard->retired_tables = table;
  }
  change->unsettled |= lrd_retire_waits_locked(shard);
}

/// Adds a scan's hazards to those that what waits in the shard is compared with. False when they
/// are too many. They do not take the place of others: another scan, begun later, may have been
/// first to come here, and the entries it has left are judged by its hazards.
static bool adopt_locked(lrd_shard *shard, const lrd_hazard_set *set) LRD_REQUIRES(shard->lock) {
  if (set->overflowed) return false;
  uint32_t count = shard->held_count;
  for (size_t i = 0; i < set->count; i++) {
    // A table stays in readers' slots from scan to scan.
    if (lrd_pointers_name(shard->held, count, (void *)set->pointers[i])) continue;
    if (count == LRD_HELD_MOST) return false;
    shard->held[count++] = set->pointers[i];
  }
  shard->held_count = count;
  return true;
}

void lrd_retire_settle(lrd_cache *cache, lrd_change *change) {
  lrd_shard *shard = lrd_retire_home(cache, change);
  lrd_chain held = {0}, free = {0};
  lrd_hazard_set set;
  scan(&set, change);
  lrd_lock_acquire(&shard->lock);
  if (!change->suspect.head || adopt_locked(shard, &set)) {
    lrd_chain_append(&free, &change->suspect);
  } else {
    lrd_change_cancel(cache, shard);
    split(&set, &cache->pool, &change->suspect, &held, &free);
    lrd_lock_acquire(&shard->lock);
  }
  lrd_retire_put_back_locked(cache, shard, change, &held, &free);
  lrd_change_cancel(cache, shard);
  lrd_hazard_set_discard(&set);
}

void lrd_retire_settle_at_once(lrd_cache *cache, lrd_change *change) {
  lrd_chain held = {0}, none = {0};
  lrd_retire_scan(cache, change, &held, &change->ready);
  if (!held.head && !change->tables) return;
  lrd_shard *shard = lrd_retire_home(cache, change);
  lrd_lock_acquire(&shard->lock);
  lrd_retire_put_back_locked(cache, shard, change, &held, &none);
  lrd_change_cancel(cache, shard);
}
