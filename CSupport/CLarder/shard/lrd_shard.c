// SPDX-License-Identifier: Apache-2.0
#include "lrd_shard.h"

#include "lrd_alloc.h"

#include <stddef.h>
#include <string.h>

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(offsetof(lrd_shard, order.share) - offsetof(lrd_shard, lock) == LRD_LINE_PAIR,
               "what every change writes is in two lines");
_Static_assert(offsetof(lrd_shard, limbo) % 64 == 0 &&
                   offsetof(lrd_shard, limbo.hazards) - offsetof(lrd_shard, limbo) <= 64,
               "and in one more");
#endif

bool lrd_shard_open(lrd_shard *shard, const lrd_policy *policy, void *shared, lrd_pool *pool,
                    const lrd_references *references, uint32_t shards) {
  memset(shard, 0, sizeof *shard);
  shard->policy = policy;
  shard->pool = pool;
  shard->references = references;
  shard->far = LRD_FAR_ENTRIES / shards;
  LRD_STORE(&shard->root, &lrd_table_empty);
  lrd_order *order = &shard->order;
  lrd_order_clear(order);
  order->shared = shared;
  if (policy->state_bytes) {
    order->state = lrd_alloc_zeroed(policy->state_bytes, LRD_STATE_ALIGNMENT);
    if (!order->state) return false;
  }
  if (policy->open) policy->open(order);
  return true;
}

void lrd_shard_close(lrd_shard *shard) {
  lrd_order *order = &shard->order;
  lrd_free(order->state, shard->policy->state_bytes, LRD_STATE_ALIGNMENT);
  lrd_free(order->history.memory, order->history.bytes, LRD_STATE_ALIGNMENT);
  lrd_table *root = LRD_LOAD(&shard->root);
  lrd_table *next = LRD_LOAD(&root->next);
  lrd_table_destroy(root);
  if (next) lrd_table_destroy(next);
  lrd_table_destroy_all(shard->limbo.tables);
  lrd_timer_destroy(shard->timer);
}

uint64_t lrd_shard_drop_fields_locked(lrd_shard *shard, lrd_entry *entry) {
  uint64_t cost = lrd_entry_cost(entry);
  shard->cost -= cost;
  if (entry->fields & LRD_IS_TIMED) lrd_wheel_remove(&shard->timer->wheel, shard->pool, entry);
  return cost;
}

void lrd_shard_link_locked(lrd_shard *shard, lrd_entry *entry, uint64_t hash) {
  uint32_t id = entry->prev;
  lrd_shard_admit_locked(shard, entry, lrd_entry_cost(entry));
  if (LRD_UNLIKELY(entry->fields & LRD_IS_TIMED)) {
    lrd_timer_add(shard->timer, shard->pool, entry, id);
  }
  lrd_table_insert_locked(lrd_shard_root_locked(shard), lrd_item_of(entry, id, hash), hash);
}

uint64_t lrd_shard_uncounted_locked(const lrd_shard *shard) {
  const lrd_counters *counters = &shard->counters;
  uint64_t counted = counters->replacements + counters->moves + counters->removals;
  for (int i = 0; i < LRD_EVICTIONS_COUNTED; i++) counted += counters->evictions[i];
  return shard->unlinked - counted - counters->expirations;
}

void lrd_shard_displace_locked(lrd_shard *shard, lrd_entry *entry) {
  entry->prev = shard->policy->remove(&shard->order, shard->pool, entry, false);
  entry->state = LRD_ENTRY_DISPLACED;
}

void lrd_shard_restore_locked(lrd_shard *shard, lrd_entry *entry) {
  entry->state = LRD_ENTRY_LINKED;
  lrd_entry_set_bits(entry, 0);
  entry->queue = 0;
  shard->order_changes++;
  shard->policy->insert(&shard->order, shard->pool, entry, entry->prev);
}

/// Publishes `entry` in slot `id` where `old` is in the table, and unlinks that.
LRD_INLINE void succeed_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint32_t id,
                               uint64_t hash, lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  shard->unlinked++;
  old->state = LRD_REMOVED_REPLACED;
  lrd_chain_add(removed, old);
  lrd_item item = lrd_item_of(entry, id, hash);
  bool found = lrd_table_replace_locked(lrd_shard_root_locked(shard), old->prev, item, hash);
  LRD_ASSERT(found);
  (void)found;
}

void lrd_shard_replace_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint64_t hash,
                              lrd_chain *removed) {
  uint32_t id = entry->prev;
  entry->state = LRD_ENTRY_LINKED;
  if (old->state == LRD_ENTRY_DISPLACED) {
    shard->policy->insert(&shard->order, shard->pool, entry, id);
  } else {
    old->prev = shard->policy->replace(&shard->order, shard->pool, old, entry, id);
  }
  if (LRD_UNLIKELY(entry->fields | old->fields)) {
    shard->cost += lrd_entry_cost(entry);
    lrd_shard_drop_fields_locked(shard, old);
    if (entry->fields & LRD_IS_TIMED) lrd_timer_add(shard->timer, shard->pool, entry, id);
  }
  succeed_locked(shard, old, entry, id, hash, removed);
}

void lrd_shard_move_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint64_t hash,
                           lrd_chain *removed) {
  const lrd_policy *policy = shard->policy;
  uint32_t id = entry->prev;
  entry->state = LRD_ENTRY_LINKED;
  old->prev =
      (policy->move ? policy->move : policy->replace)(&shard->order, shard->pool, old, entry, id);
  if (old->fields & LRD_IS_TIMED) {
    lrd_timer_move(shard->timer, shard->pool, old, entry, id);
  } else if (entry->fields & LRD_IS_TIMED) {
    lrd_timer_add(shard->timer, shard->pool, entry, id);
  }
  shard->counters.moves++;
  succeed_locked(shard, old, entry, id, hash, removed);
}

void lrd_shard_empty_locked(lrd_shard *shard, lrd_order *order) {
  *order = shard->order;
  lrd_order_clear(&shard->order);
  if (shard->policy->open) shard->policy->open(&shard->order);
  shard->counters.removals += shard->count;
  shard->unlinked += shard->count;
  shard->count = 0;
  shard->cost = 0;
  if (shard->timer) lrd_wheel_open(&shard->timer->wheel, lrd_timer_tick(shard->timer));
}

void lrd_order_dissolve(lrd_order *order, const lrd_policy *policy, lrd_pool *pool, uint8_t reason,
                        lrd_chain *removed) {
  for (uint32_t id; (id = policy->drain(order, pool)) != LRD_NIL;) {
    lrd_entry *entry = lrd_pool_entry(pool, id);
    entry->prev = id;
    entry->state = reason;
    lrd_chain_add(removed, entry);
  }
}
