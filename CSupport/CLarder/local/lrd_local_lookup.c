// SPDX-License-Identifier: Apache-2.0
#include "lrd_local_lookup.h"

void lrd_local_access(lrd_local *local, lrd_entry *entry) {
  local->cache.policy->access(&local->shard.order, &local->cache.pool, &entry, 1);
}

void lrd_local_miss_slow(lrd_local *local, uint64_t hash) {
  local->cache.policy->missed(&local->shard.order, lrd_hash48(hash));
}
