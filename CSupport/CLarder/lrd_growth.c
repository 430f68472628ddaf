// SPDX-License-Identifier: Apache-2.0
/* lrd_growth.c — the tables of a shard: how large, when to move, and the memory for that. The
 * contract is in lrd_shard.h. */
#include "lrd_shard.h"

#include "lrd_alloc.h"

static const uint64_t first_buckets = 4;
/// A growing table moves this many buckets per insertion: it is done long before it is full again.
static const int buckets_per_insertion = 2;

void lrd_need_drop(lrd_need *need) {
  if (need->supplied == LRD_NEED_TABLE) lrd_table_destroy(need->memory);
  if (need->supplied == LRD_NEED_OVERFLOW) {
    lrd_free(need->memory, need->memory_bytes, _Alignof(lrd_bucket));
  }
  if (need->supplied == LRD_NEED_HISTORY) {
    lrd_free(need->memory, need->memory_bytes, LRD_STATE_ALIGNMENT);
  }
  need->supplied = LRD_NEED_NOTHING;
  need->memory = NULL;
}

bool lrd_need_supply(lrd_need *need) {
  lrd_need_drop(need);
  if (need->kind == LRD_NEED_TABLE) {
    lrd_table *table = lrd_table_create(need->buckets, need->references);
    if (table && need->buckets <= first_buckets) lrd_table_make_ready(table);
    need->memory = table;
  } else if (need->kind == LRD_NEED_HISTORY) {
    need->memory = lrd_alloc_zeroed(need->bytes, LRD_STATE_ALIGNMENT);
    need->memory_bytes = need->bytes;
  } else {
    need->memory = need->bytes ? lrd_alloc(need->bytes, _Alignof(lrd_bucket)) : NULL;
    need->memory_bytes = need->bytes;
  }
  if (need->memory) need->supplied = need->kind;
  return need->memory != NULL;
}

/// The size of the table after one of so many buckets: twice that, or less if less is enough for
/// the entries the shard may hold. Of these, some shards hold more than others by chance: by the
/// root of their number, which a 32nd and 64 more are a few times of.
static uint64_t buckets_after(const lrd_shard *shard, uint64_t buckets) {
  uint64_t share = shard->order.share.count;
  if (share == LRD_UNBOUNDED) return buckets * 2;
  uint64_t enough = (share + share / 32 + 64) / LRD_TABLE_LOAD + 1;
  return enough > buckets && enough < buckets * 2 ? enough : buckets * 2;
}

/// Entries at which the successor of a large table is made beforehand. More than a table can hold
/// when it is small, or holds what the shard may hold.
static uint64_t foresight_of(const lrd_shard *shard, const lrd_table *table) {
  uint64_t full = table->buckets * LRD_TABLE_LOAD;
  uint64_t share = shard->order.share.count;
  bool is_enough = share != LRD_UNBOUNDED && share + share / 32 + 64 <= full;
  return !lrd_table_is_large(table->buckets) || is_enough ? UINT64_MAX : full - full / 8;
}

uint64_t lrd_shard_ease_locked(lrd_shard *shard) {
  const lrd_table *root = lrd_shard_root_locked(shard);
  uint64_t full = root->buckets * LRD_TABLE_LOAD, foresight = foresight_of(shard, root);
  bool moves = atomic_load_explicit(&root->next, memory_order_relaxed) != NULL;
  return moves || root == &lrd_table_empty ? 0 : foresight < full ? foresight : full;
}

static void set_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  shard->at_ease = lrd_shard_ease_locked(shard);
}

void lrd_shard_resize_locked(lrd_shard *shard, const lrd_policy *policy, lrd_amount share) {
  shard->order.share = share;
  set_ease_locked(shard);
  if (policy->resize) policy->resize(&shard->order);
}

/// Publishes the table that readers start from.
static void set_root(lrd_shard *shard, lrd_table *table) LRD_REQUIRES(shard->lock) {
  atomic_store_explicit(&shard->root, table, memory_order_release);
  atomic_store_explicit(&shard->bucket, (uintptr_t)table->bucket, memory_order_relaxed);
  atomic_store_explicit(&shard->buckets, table->buckets, memory_order_relaxed);
  atomic_store_explicit(&shard->hints, (uintptr_t)table->hints, memory_order_relaxed);
  set_ease_locked(shard);
}

static void retire_table(lrd_shard *shard, lrd_table *table) {
  if (table == &lrd_table_empty) return;
  table->retired_next = shard->retired_tables;
  shard->retired_tables = table;
}

void lrd_shard_start_move_locked(lrd_shard *shard, lrd_table *table) {
  lrd_table *root = lrd_shard_root_locked(shard);
  if (root == &lrd_table_empty) {
    set_root(shard, table);
  } else {
    atomic_store_explicit(&root->next, table, memory_order_release);
    set_ease_locked(shard);
  }
}

bool lrd_shard_move_locked(lrd_shard *shard, int buckets) {
  lrd_table *root = lrd_shard_root_locked(shard);
  for (int i = 0; i < buckets && root->moved < root->buckets; i++) {
    if (!lrd_table_move_bucket_locked(root)) return false;
  }
  if (root->moved == root->buckets) {
    lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
    set_root(shard, next);
    retire_table(shard, root);
  }
  return true;
}

void lrd_shard_leave_table_locked(lrd_shard *shard) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  // Readers that found an entry through the old root look at the root again before they follow it.
  set_root(shard, &lrd_table_empty);
  retire_table(shard, root);
  if (next) retire_table(shard, next);
}

static bool is_oversized(const lrd_shard *shard, const lrd_table *table) {
  return table->buckets > 16 && shard->count < table->buckets * LRD_TABLE_LOAD / 8;
}

bool lrd_shard_oversized_locked(lrd_shard *shard) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  return is_oversized(shard, next ? next : root);
}

/// Uses the memory in `need` when it is still wanted.
static void use_supply_locked(lrd_shard *shard, lrd_need *need) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  bool used = false;
  if (need->supplied == LRD_NEED_TABLE) {
    lrd_table *table = need->memory;
    bool wanted = root == &lrd_table_empty ? table->ready == table->buckets
                                           : !next && table->buckets > root->buckets;
    if (wanted) lrd_shard_start_move_locked(shard, table);
    used = wanted;
  } else if (need->supplied == LRD_NEED_OVERFLOW && (need->table == root || need->table == next)) {
    used = lrd_table_add_overflow_locked(need->table, need->memory, need->memory_bytes);
  }
  if (used) need->supplied = LRD_NEED_NOTHING;
}

static bool ask_table(const lrd_shard *shard, lrd_need *need, uint64_t buckets, bool may_wait) {
  need->kind = LRD_NEED_TABLE;
  need->references = shard->references;
  need->buckets = buckets;
  need->may_wait = may_wait;
  return false;
}

static bool ask_overflow(lrd_need *need, lrd_table *table, bool may_wait) {
  need->kind = LRD_NEED_OVERFLOW;
  need->table = table;
  need->bytes = lrd_table_next_chunk_bytes(table);
  need->may_wait = may_wait;
  return false;
}

bool lrd_shard_tidy_locked(lrd_shard *shard, int buckets, lrd_need *need) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
  if (!next) {
    bool grows = shard->count >= foresight_of(shard, root);
    if (!grows && !is_oversized(shard, root)) return true;
    uint64_t wanted =
        grows ? buckets_after(shard, root->buckets) : shard->count * 2 / LRD_TABLE_LOAD + 4;
    // Some entries may have come since a smaller table was asked for. And what was supplied for
    // growth would not shrink one that was trimmed meanwhile.
    uint64_t least = grows ? wanted : wanted - wanted / 4;
    bool supplied = need->supplied == LRD_NEED_TABLE && need->buckets >= least;
    if (!supplied || (need->buckets > root->buckets) != grows) {
      return ask_table(shard, need, wanted, true);
    }
    next = need->memory;
    lrd_shard_start_move_locked(shard, next);
    need->supplied = LRD_NEED_NOTHING;
  }
  use_supply_locked(shard, need);
  return lrd_shard_move_locked(shard, buckets) || ask_overflow(need, next, true);
}

/// Puts supplied memory in the place of the policy's history; what was there is left in `need`.
static void renew_history_locked(lrd_shard *shard, const lrd_policy *policy, lrd_need *need)
    LRD_REQUIRES(shard->lock) {
  lrd_history *history = &shard->order.history;
  if (need->memory_bytes != history->wanted) return;
  lrd_history old = *history;
  history->memory = need->memory;
  history->bytes = need->memory_bytes;
  need->supplied = old.memory ? LRD_NEED_HISTORY : LRD_NEED_NOTHING;
  need->memory = old.memory;
  need->memory_bytes = old.bytes;
  policy->renewed(&shard->order);
}

bool lrd_shard_prepare_slow_locked(lrd_shard *shard, const lrd_policy *policy, uint64_t hash,
                                   lrd_need *need) {
  use_supply_locked(shard, need);
  const lrd_history *history = &shard->order.history;
  if (LRD_UNLIKELY(history->wanted != history->bytes)) {
    if (need->supplied == LRD_NEED_HISTORY) renew_history_locked(shard, policy, need);
    if (history->wanted != history->bytes && !need->wait) {
      need->kind = LRD_NEED_HISTORY;
      need->bytes = history->wanted;
      need->may_wait = true;
      return false;
    }
  }
  lrd_table *root = lrd_shard_root_locked(shard);
  if (root == &lrd_table_empty) return ask_table(shard, need, first_buckets, false);
  if (!need->wait) {
    lrd_table *next = atomic_load_explicit(&root->next, memory_order_relaxed);
    if (next) {
      if (!lrd_shard_move_locked(shard, buckets_per_insertion)) {
        return ask_overflow(need, next, true);
      }
    } else if (shard->count == foresight_of(shard, root)) {
      need->foreseen = true;
    } else if (shard->count >= root->buckets * LRD_TABLE_LOAD) {
      return ask_table(shard, need, buckets_after(shard, root->buckets), true);
    }
  }
  lrd_table *home = lrd_table_home_locked(lrd_shard_root_locked(shard), hash);
  if (lrd_table_overflow_left_locked(home) == 0) return ask_overflow(need, home, false);
  return true;
}
