// SPDX-License-Identifier: Apache-2.0
#include "lrd_growth.h"

#include "lrd_move.h"

/// Buckets of a growing table that one insertion moves: it is done when an eighth has been added.
static const int buckets_per_insertion = 1;

/// Up to so many buckets, 64 KiB, a table quadruples.
static const uint64_t small_table = 1024;

/// The entries that the shard may come to hold. By chance some shards hold more than their share:
/// by about its root. A 32nd and 64 more is a few times that.
static uint64_t most_entries(const lrd_shard *shard) {
  uint64_t share = shard->order.share.count;
  return share == LRD_UNBOUNDED ? share : share + share / 32 + 64;
}

uint64_t lrd_growth_buckets_after(const lrd_shard *shard, uint64_t buckets) {
  uint64_t enough = most_entries(shard) / LRD_TABLE_LOAD + 1;
  uint64_t more = buckets * (buckets <= small_table ? 4 : 2);
  return enough > buckets && enough < more ? enough : more;
}

/// The number of entries at which the successor of a large table is made in advance. Never for a
/// small table, for one that is large enough, or in a local cache.
static uint64_t foresight_of(const lrd_shard *shard, const lrd_table *table) {
  uint64_t full = table->buckets * LRD_TABLE_LOAD;
  bool suffices =
      shard->local || most_entries(shard) <= full || !lrd_table_is_large(table->buckets);
  return suffices ? UINT64_MAX : full - full / 8;
}

uint64_t lrd_growth_ease_locked(lrd_shard *shard) {
  const lrd_table *root = lrd_shard_root_locked(shard);
  uint64_t full = root->buckets * LRD_TABLE_LOAD, foresight = foresight_of(shard, root);
  bool uneasy = shard->flying || lrd_growth_moves_locked(shard) || root == &lrd_table_empty;
  return uneasy ? 0 : foresight < full ? foresight : full;
}

void lrd_growth_settle_locked(lrd_shard *shard) {
  uint64_t ease = lrd_growth_ease_locked(shard);
  shard->at_ease = shard->timer ? 0 : ease;
  if (shard->timer) shard->timer->at_ease = ease;
}

void lrd_growth_resize_locked(lrd_shard *shard, lrd_amount share) {
  shard->order.share = share;
  lrd_growth_settle_locked(shard);
  shard->order_changes++;
  if (shard->policy->resize) shard->policy->resize(&shard->order);
}

/// Publishes the table that readers start from.
static void set_root(lrd_shard *shard, lrd_table *table) LRD_REQUIRES(shard->lock) {
  atomic_store_explicit(&shard->root, table, memory_order_release);
  LRD_STORE(&shard->bucket, (uintptr_t)table->bucket);
  LRD_STORE(&shard->buckets, table->buckets);
  LRD_STORE(&shard->hints, (uintptr_t)table->hints);
  lrd_growth_settle_locked(shard);
}

void lrd_growth_start_locked(lrd_shard *shard, lrd_table *table) {
  lrd_table *root = lrd_shard_root_locked(shard);
  if (root == &lrd_table_empty) {
    set_root(shard, table);
  } else {
    atomic_store_explicit(&root->next, table, memory_order_release);
    lrd_growth_settle_locked(shard);
  }
}

bool lrd_growth_move_locked(lrd_shard *shard, int buckets) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_slots slots = lrd_pool_slots(shard->pool);
  for (int i = 0; i < buckets && root->moved < root->buckets; i++) {
    if (!lrd_table_move_bucket_locked(root, slots)) return false;
  }
  if (root->moved == root->buckets) {
    set_root(shard, lrd_shard_next_locked(shard));
    lrd_limbo_add_table_locked(&shard->limbo, root);
  }
  return true;
}

void lrd_growth_leave_locked(lrd_shard *shard) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  // A reader that found an entry through the old root loads the root again before it follows it.
  set_root(shard, &lrd_table_empty);
  lrd_limbo_add_table_locked(&shard->limbo, root);
  if (next) lrd_limbo_add_table_locked(&shard->limbo, next);
}

/// The size of a table that shrinks from so many buckets: a quarter more than the entries need,
/// unless none can come. But at least an eighth: until all has moved, what comes meanwhile has the
/// smaller table alone, and each insertion moves one bucket. So it is not too full by then. What is
/// still too large shrinks again.
static uint64_t shrunk_buckets(const lrd_shard *shard, uint64_t buckets) {
  uint64_t room = shard->count + shard->count / 4, most = most_entries(shard);
  if (most < shard->count) most = shard->count; // a limit that is not in force yet
  return lrd_most((room < most ? room : most) / LRD_TABLE_LOAD + 4, buckets / 8);
}

/// True where the table is far too large.
static bool is_oversized(const lrd_shard *shard, const lrd_table *table) {
  return table->buckets > 16 && shard->count < table->buckets * LRD_TABLE_LOAD / 8;
}

/// The same; `tight`: true as well where an eighth of the table, or more, is won at once.
static bool is_too_large(const lrd_shard *shard, const lrd_table *table, bool tight) {
  if (!tight) return is_oversized(shard, table);
  uint64_t wanted = shrunk_buckets(shard, table->buckets);
  return table->buckets > 16 && wanted < table->buckets - table->buckets / 8;
}

bool lrd_growth_is_oversized_locked(lrd_shard *shard) {
  lrd_table *next = lrd_shard_next_locked(shard);
  return is_oversized(shard, next ? next : lrd_shard_root_locked(shard));
}

bool lrd_growth_is_untidy_locked(lrd_shard *shard, bool tight) {
  lrd_table *root = lrd_shard_root_locked(shard);
  return LRD_LOAD(&root->next) || is_too_large(shard, root, tight);
}

bool lrd_growth_advances_locked(lrd_shard *shard) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = LRD_LOAD(&root->next);
  bool grows = next && next->buckets > root->buckets && !is_oversized(shard, next);
  return grows && root->moved != shard->moved_seen;
}

/// Uses the memory in `supply` when it is still wanted. A table that was to follow a larger one,
/// which is gone, is not: to move a bucket into it would clear a large part of it under the lock.
static void use_supply_locked(lrd_shard *shard, lrd_supply *supply) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  bool used = false;
  if (supply->given == LRD_SUPPLY_TABLE) {
    lrd_table *table = supply->memory;
    bool first = root == &lrd_table_empty;
    bool grows = table->buckets > root->buckets &&
                 table->buckets <= lrd_growth_buckets_after(shard, root->buckets);
    used = first ? table->ready == table->buckets : !next && grows;
    if (used) lrd_growth_start_locked(shard, table);
  } else if (supply->given == LRD_SUPPLY_OVERFLOW &&
             (supply->table == root || supply->table == next)) {
    used = lrd_table_add_overflow_locked(supply->table, supply->memory, supply->given_size);
  }
  if (used) supply->given = LRD_SUPPLY_NONE;
}

static bool ask(lrd_supply *supply, lrd_supply_kind wanted, uint64_t size, bool optional) {
  supply->wanted = wanted;
  supply->size = size;
  supply->optional = optional;
  return false;
}

static bool ask_overflow(lrd_supply *supply, lrd_table *table, bool optional) {
  supply->table = table;
  return ask(supply, LRD_SUPPLY_OVERFLOW, lrd_table_next_chunk_bytes(table), optional);
}

bool lrd_growth_tidy_locked(lrd_shard *shard, int buckets, bool tight, lrd_supply *supply) {
  lrd_table *root = lrd_shard_root_locked(shard), *next = lrd_shard_next_locked(shard);
  if (!next) {
    bool grows = !tight && shard->count >= foresight_of(shard, root);
    if (!grows && !is_too_large(shard, root, tight)) return true;
    uint64_t wanted = grows ? lrd_growth_buckets_after(shard, root->buckets)
                            : shrunk_buckets(shard, root->buckets);
    // A smaller table may be a bit too small by now, since entries have come. A larger table is of
    // no use if the shard was trimmed meanwhile, or made for a table that is gone.
    uint64_t least = grows ? wanted : wanted - wanted / 8;
    uint64_t most = grows ? wanted : root->buckets;
    bool supplied = supply->given == LRD_SUPPLY_TABLE && supply->given_size >= least &&
                    supply->given_size <= most;
    if (!supplied) return ask(supply, LRD_SUPPLY_TABLE, wanted, true);
    next = supply->memory;
    lrd_growth_start_locked(shard, next);
    supply->given = LRD_SUPPLY_NONE;
  }
  use_supply_locked(shard, supply);
  return lrd_growth_move_locked(shard, buckets) || ask_overflow(supply, next, true);
}

bool lrd_growth_renew_locked(lrd_shard *shard, lrd_supply *supply) {
  lrd_history *history = &shard->order.history, old = *history;
  if (old.wanted == old.bytes) return true;
  // Without a history there is nothing to bring.
  bool brought = supply->given == (old.wanted ? LRD_SUPPLY_HISTORY : LRD_SUPPLY_NONE);
  if (!brought || (old.wanted && supply->given_size != old.wanted)) {
    return ask(supply, LRD_SUPPLY_HISTORY, old.wanted, true);
  }
  history->memory = old.wanted ? supply->memory : NULL;
  history->bytes = old.wanted;
  supply->given = old.memory ? LRD_SUPPLY_FORMER : LRD_SUPPLY_NONE;
  supply->memory = old.memory;
  supply->given_size = old.bytes;
  shard->policy->renewed(&shard->order);
  return true;
}

bool lrd_growth_prepare_slow_locked(lrd_shard *shard, uint64_t hash, lrd_supply *supply) {
  use_supply_locked(shard, supply);
  if (!lrd_growth_renew_locked(shard, supply) && !supply->declined) return false;
  lrd_table *root = lrd_shard_root_locked(shard);
  if (root == &lrd_table_empty) return ask(supply, LRD_SUPPLY_TABLE, LRD_FIRST_BUCKETS, false);
  if (!supply->declined) {
    lrd_table *next = lrd_shard_next_locked(shard);
    if (next) {
      if (!lrd_growth_move_locked(shard, buckets_per_insertion)) {
        return ask_overflow(supply, next, true);
      }
    } else if (shard->count == foresight_of(shard, root)) {
      supply->tidy = true;
    } else if (shard->count >= root->buckets * LRD_TABLE_LOAD) {
      return ask(supply, LRD_SUPPLY_TABLE, lrd_growth_buckets_after(shard, root->buckets), true);
    }
  }
  lrd_table *home = lrd_table_home_locked(lrd_shard_root_locked(shard), hash);
  if (lrd_table_overflow_left_locked(home) == 0) return ask_overflow(supply, home, false);
  return true;
}
