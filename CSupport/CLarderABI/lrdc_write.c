// SPDX-License-Identifier: Apache-2.0
/* lrdc_write.c — larder_set(), larder_set_for(), larder_replace() and larder_remove(). */
#include "lrdc_change.h"
#include "lrdc_lookup.h"

/// A write that is under way.
typedef struct writing {
  larder_cache *cache;
  lrd_lane *lane;
  lrdc_key key;
  lrd_entry *entry; // not yet published
  bool only_present;
  bool wants_old;
  const uint64_t *lifetime; // of its own, or NULL
  larder_value *old;        // pinned
} writing;

static void drop_old(writing *write) {
  if (write->old) lrdc_value_unpin(write->old);
  write->old = NULL;
}

static larder_status status_of(lrd_result result) {
  switch (result) {
  case LRD_INSERTED:
    return LARDER_OK;
  case LRD_REPLACED:
    return LARDER_REPLACED;
  case LRD_TOO_COSTLY:
    return LARDER_TOO_COSTLY;
  case LRD_EXPIRED:
    return LARDER_EXPIRED;
  default:
    return LARDER_OUT_OF_MEMORY;
  }
}

/// Moves an entry without room for deadlines into a slot that has it. False without memory.
static bool refit(writing *write) {
  lrd_cache *core = write->cache->core;
  lrd_entry *entry = write->entry;
  lrd_entry *moved = lrd_slot_take_timed(core, NULL, lrd_entry_cost(entry));
  if (!moved) return false;
  lrd_entry_describe_again(moved, entry, write->key.hash);
  ((lrdc_slot *)(void *)moved)->value = lrdc_value_of(entry);
  write->entry = moved;
  // Not to the lane: that would take this slot again for the next entry, which needs a timed one.
  lrd_slot_give(core, NULL, entry);
  return true;
}

/// Publishes the entry in as many rounds as that takes. If that fails, the entry is still the
/// caller's. The shard is locked for the first round.
static larder_status publish(writing *write, lrd_shard *shard, lrd_insertion *insertion)
    LRD_RELEASE(shard->lock) {
  lrd_cache *core = write->cache->core;
  uint64_t hash = write->key.hash;
  for (;;) {
    lrd_entry *old = lrdc_find_locked(write->cache, shard, &write->key);
    bool lives = old && !lrd_entry_is_expired_locked(shard, old);
    if (write->only_present && !lives) {
      lrd_insertion_abandon(core, shard, insertion);
      return LARDER_NOT_FOUND;
    }
    if (write->wants_old && lives) {
      write->old = lrdc_value_of(old);
      lrdc_value_pin(write->old);
    }
    lrd_result result =
        lrd_insertion_finish(core, write->lane, shard, insertion, write->entry, old, hash);
    // The lock is free again: the pin that this round took may be the last one.
    bool failed = result >= LRD_AGAIN || result == LRD_OUT_OF_MEMORY;
    // A value that has expired since this round looked at it counts as none; but it was there to be
    // replaced.
    bool expired = insertion->expired && result != LRD_REPLACED;
    if (expired && write->only_present && result == LRD_INSERTED) return LARDER_REPLACED;
    if (failed || expired) drop_old(write);
    if (result < LRD_AGAIN) return status_of(result);
    if (result == LRD_UNFIT && !refit(write)) return LARDER_OUT_OF_MEMORY;
    lrd_insertion_begin(core, write->lane, shard, hash);
  }
}

/// Stores an entry that cannot go the short way, which needs less stack without this and clears no
/// insertion. The shard is locked.
static __attribute__((noinline)) larder_status store_slowly(writing *write, lrd_shard *shard)
    LRD_RELEASE(shard->lock) {
  lrd_insertion insertion = {0};
  larder_status status = publish(write, shard, &insertion);
  if (status != LARDER_OK && status != LARDER_REPLACED) {
    larder_value *value = lrdc_value_of(write->entry);
    (status < 0 ? lrdc_value_undo : lrdc_value_leave)(value);
    lrd_slot_give(write->cache->core, write->lane, write->entry);
  }
  lrdc_finish(write->cache, write->lane, &insertion.garbage);
  return status;
}

/// Destroys what inner calls have left. Apart, so that calls inside each other need less stack.
static LRD_COLD void destroy_left_over(larder_cache *cache, lrd_lane *lane) {
  lrd_garbage left_over = lrd_garbage_resume();
  lrdc_finish(cache, lane, &left_over);
}

/// Destroys what an insertion on the short way has freed.
static void destroy_freed(larder_cache *cache, lrd_lane *lane, lrd_entry *entry) {
  lrdc_destroy(cache, lane, entry);
  if (!lrd_garbage_end(lane)) destroy_left_over(cache, lane);
}

/// Makes an entry of key and value that is not yet published.
static larder_status prepare(writing *write, const void *data, uint64_t size, uint64_t cost) {
  larder_cache *cache = write->cache;
  if (cost == LARDER_COST_DEFAULT) cost = lrd_cache_default_cost(cache->core);
  larder_value *value;
  larder_status status = lrdc_value_make(cache, &write->key, data, size, cost, &value);
  if (status != LARDER_OK) return status;
  const uint64_t *lifetime = write->lifetime;
  if (lifetime && !lrd_cache_retrofit(cache->core, false)) {
    lrdc_value_undo(value);
    return LARDER_OUT_OF_MEMORY;
  }
  write->lane = lrdc_lane(cache);
  write->entry = (lifetime ? lrd_slot_take_timed : lrd_slot_take)(cache->core, write->lane, cost);
  if (!write->entry) {
    lrdc_value_undo(value);
    return LARDER_OUT_OF_MEMORY;
  }
  if (lifetime) {
    lrd_entry_describe_timed(write->entry, write->key.hash, cost, *lifetime);
  } else {
    lrd_entry_describe(write->entry, write->key.hash, cost);
  }
  ((lrdc_slot *)(void *)write->entry)->value = value;
  return LARDER_OK;
}

static larder_status store(writing *write, const void *data, uint64_t size, uint64_t cost) {
  lrd_cache *core = write->cache->core;
  uint64_t hash = write->key.hash;
  lrd_shard *shard = lrd_cache_shard(core, hash);
  // The bucket comes while the value is allocated.
  lrd_shard_prefetch(shard, hash, LRDC_REFERENCES);
  larder_status status = prepare(write, data, size, cost);
  if (status != LARDER_OK) return status;
  if (write->only_present) {
    lrd_insertion_begin(core, write->lane, shard, hash);
    return store_slowly(write, shard);
  }
  lrd_entry *freed = NULL;
  if (!lrd_shortway_try(core, write->lane, shard, write->entry, hash, &freed)) {
    return store_slowly(write, shard);
  }
  if (freed) destroy_freed(write->cache, write->lane, freed);
  return LARDER_OK;
}

/// Whether the key has a value. Neither the order nor the statistics change.
static bool is_present(larder_cache *cache, const lrdc_key *key) {
  lrdc_loan loan;
  if (!lrdc_find(cache, key, false, &loan)) return false;
  lrdc_let_go(&loan);
  return true;
}

/// Releases a value that was handed over and is not stored. Its key is not retained.
static larder_status decline(larder_cache *cache, const void *data, uint64_t size) {
  const larder_config *config = &cache->config;
  if (config->value_retain) config->value_retain(config->context, data, size);
  if (config->value_release) config->value_release(config->context, data, size);
  return LARDER_NOT_FOUND;
}

static larder_status check_and_store(larder_cache *cache, const void *key, uint64_t key_size,
                                     const void *value, uint64_t value_size, uint64_t cost,
                                     larder_value **old, bool only_present,
                                     const uint64_t *lifetime) {
  writing write = {
      .cache = cache, .only_present = only_present, .wants_old = old != NULL, .lifetime = lifetime};
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!value && value_size && !cache->objects) return LARDER_BAD_ARGUMENT;
  if (value_size > LARDER_VALUE_MOST) return LARDER_TOO_LONG;
  if (cost > LARDER_LIMIT_MOST && cost != LARDER_COST_DEFAULT) return LARDER_OUT_OF_RANGE;
  status = lrdc_key_read(cache, key, key_size, &write.key);
  if (status != LARDER_OK) return status;
  // Looks first without the lock: most keys without a value then cost no copy.
  if (only_present && !is_present(cache, &write.key)) {
    status = decline(cache, value, value_size);
  } else {
    status = store(&write, value, value_size, cost);
  }
  if (old) *old = write.old;
  return status;
}

larder_status larder_set(larder_cache *cache, const void *key, uint64_t key_size, const void *value,
                         uint64_t value_size, uint64_t cost, larder_value **old) {
  return check_and_store(cache, key, key_size, value, value_size, cost, old, false, NULL);
}

larder_status larder_set_for(larder_cache *cache, const void *key, uint64_t key_size,
                             const void *value, uint64_t value_size, uint64_t cost,
                             uint64_t lifetime, larder_value **old) {
  return check_and_store(cache, key, key_size, value, value_size, cost, old, false, &lifetime);
}

larder_status larder_replace(larder_cache *cache, const void *key, uint64_t key_size,
                             const void *value, uint64_t value_size, uint64_t cost,
                             larder_value **old) {
  return check_and_store(cache, key, key_size, value, value_size, cost, old, true, NULL);
}

larder_status larder_remove(larder_cache *cache, const void *data, uint64_t size,
                            larder_value **old) {
  lrdc_key key;
  larder_status status = lrdc_key_read(cache, data, size, &key);
  if (status != LARDER_OK) return status;
  if (old) *old = NULL;
  lrd_lane *lane = lrdc_lane(cache);
  lrd_shard *shard = lrd_cache_shard(cache->core, key.hash);
  lrd_shard_enter(cache->core, lane, shard);
  lrd_entry *entry = lrdc_find_locked(cache, shard, &key);
  if (!entry) {
    lrd_removal_of_none_locked(shard, key.hash);
    lrd_shard_leave(cache->core, shard);
    return LARDER_NOT_FOUND;
  }
  bool expired = lrd_entry_is_expired_locked(shard, entry);
  if (old && !expired) {
    *old = lrdc_value_of(entry);
    lrdc_value_pin(*old);
  }
  lrd_garbage garbage = {0};
  lrd_removal_of_one(cache->core, shard, &garbage, entry);
  lrdc_finish(cache, lane, &garbage);
  return expired ? LARDER_NOT_FOUND : LARDER_OK;
}
