// SPDX-License-Identifier: Apache-2.0
#include "lrd_due.h"

#include "lrd_enter.h"
#include "lrd_expire.h"
#include "lrd_garbage.h"

/// Slices of one shard in a visit, and what one removes under its lock: so little that a writer who
/// finds the lock taken soon gets it.
enum { slices_per_visit = 4096, expirations_per_slice = 4 };

/// The pause between visits for what expires: few visits then remove much.
static const uint64_t expiry_pause = 250000000; // 0.25 s

/// Removes what has expired from a shard, in slices. Sets the tick at which it wants to be looked
/// at again.
static lrd_progress expire(lrd_cache *cache, lrd_shard *shard, uint64_t *next) {
  for (int i = 0; i < slices_per_visit; i++) {
    lrd_garbage garbage = {0};
    lrd_chain expired = {0};
    if (atomic_load_explicit(&cache->closed, memory_order_acquire)) return LRD_DONE;
    if (!lrd_lock_try_or_mark(&shard->lock)) return LRD_LATER;
    lrd_timer_look(shard->timer);
    bool more = lrd_expire_any_locked(shard, expirations_per_slice, NULL, &expired);
    lrd_garbage_give_up_locked(cache, shard, &garbage, &expired);
    uint64_t first = lrd_wheel_next(&shard->timer->wheel);
    shard->timer->wake = shard->timer->first = first;
    lrd_shard_leave(cache, shard);
    lrd_garbage_finish(cache, &garbage, 0);
    if (more) continue;
    if (first < *next) *next = first;
    return LRD_DONE;
  }
  return LRD_SOON;
}

lrd_progress lrd_due_expire(lrd_cache *cache, uint64_t *wait) {
  lrd_progress left = LRD_DONE;
  uint64_t next = LRD_FOREVER;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    left = lrd_progress_sooner(left, expire(cache, shard, &next));
  }
  *wait = 0;
  if (next >= LRD_FOREVER) return left;
  uint64_t at = next << LRD_TICK_SHIFT, now = lrd_now(NULL);
  *wait = at > now + expiry_pause ? at - now : expiry_pause;
  return left;
}
