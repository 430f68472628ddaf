// SPDX-License-Identifier: Apache-2.0
#include "lrd_compact.h"

#include "lrd_pass.h"
#include "lrd_reserve.h"
#include "lrd_slot.h"

/// What is less is not worth it, and neither is less than a part of the pool.
static const size_t least_bytes = (size_t)64 << 10;

enum {
  least_part = 8,  // of the pool that is won, or it is not worth it
  passes_most = 4, // others store entries in slots of vacated pages that they had at hand
};

/// Moves everything once for which there is room, and gives `compacting` back. False if nothing was
/// moved, or the pass ended before.
static bool run(lrd_cache *cache) {
  lrd_pass pass;
  lrd_pass_result result = LRD_PASS_DONE;
  if (!lrd_pass_begin(&pass, cache)) {
    lrd_pass_give(cache);
    return false;
  }
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_sweep sweep = {.room = LRD_MOVES_PER_LOCK};
    do {
      result = lrd_pass_slice(&pass, shard, &sweep, false);
    } while (result == LRD_PASS_MORE);
    if (result == LRD_PASS_OVER) break;
  }
  return lrd_pass_end(&pass) && result == LRD_PASS_DONE;
}

void lrd_compact(lrd_cache *cache, lrd_lane *lane) {
  if (!cache->hooks.copy || lrd_pass_destroys(cache)) return;
  lrd_pass_take_settled(cache);
  if (lane) lrd_slot_give_all(cache, lane);
  // Others may have begun when much more was there: the room that they made would be too much.
  bool begun = lrd_vacancy_cancel(&cache->pool);
  lrd_reserve_drop(&cache->pool);
  size_t least = begun ? 0 : lrd_pool_bytes(&cache->pool) / least_part;
  bool any = lrd_vacancy_make(&cache->pool, least < least_bytes ? least_bytes : least);
  if (!any) {
    lrd_vacancy_end(&cache->pool);
    lrd_pass_give(cache);
    lrd_slot_ask(cache);
    return;
  }
  for (int passes = 1; any; passes++) {
    any = run(cache) && passes < passes_most;
    if (any) lrd_pass_take(cache);
  }
  lrd_pass_close(cache);
  // Without memory, or where others came in between, something is left.
  lrd_slot_ask(cache);
}
