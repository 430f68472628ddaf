// SPDX-License-Identifier: Apache-2.0
#include "lrd_shrink.h"

#include "lrd_enter.h"
#include "lrd_growth.h"

enum { buckets_per_lock = 32 };

static void nothing(void *context) {
  (void)context;
}

static void shrink(lrd_cache *cache, lrd_shard *shard) {
  lrd_supply supply = {0};
  for (bool more = true; more && !atomic_load_explicit(&cache->closed, memory_order_acquire);) {
    lrd_shard_enter(cache, NULL, shard);
    bool served = lrd_growth_renew_locked(shard, &supply) &&
                  lrd_growth_tidy_locked(shard, buckets_per_lock, true, &supply);
    more = !served || lrd_growth_is_untidy_locked(shard, true);
    lrd_shard_leave(cache, shard);
    if (served) continue;
    if (!lrd_supply_fetch(&supply, &cache->entry_references)) break;
    // The system provides its memory here, and not under the lock.
    if (supply.given == LRD_SUPPLY_TABLE) lrd_table_prefault(supply.memory, nothing, NULL);
  }
  lrd_supply_drop(&supply);
}

void lrd_shrink(lrd_cache *cache) {
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    shrink(cache, shard);
  }
  // What shards share follows from what each of them has asked for.
  lrd_cache_adjust(cache);
}
