// SPDX-License-Identifier: Apache-2.0
/* lrdc_iterate.c — larder_iterate(): pins every value of a shard under its lock, visits them after.
 *
 * Room for the list is allocated before the shard is locked, since nothing is allocated under a
 * lock. A shard that has outgrown the room meanwhile is tried again. */
#include "lrdc_change.h"

#include "lrd_alloc.h"

typedef struct list {
  larder_value **values;
  uint64_t count;
  uint64_t room;
} list;

static bool make_room(list *list, uint64_t room) {
  lrd_free(list->values, list->room * sizeof *list->values, _Alignof(larder_value *));
  list->values = lrd_alloc(room * sizeof *list->values, _Alignof(larder_value *));
  list->room = list->values ? room : 0;
  return list->values != NULL;
}

/// Pins the values of a shard in its order. False without memory.
static bool fill(larder_cache *cache, lrd_lane *lane, lrd_shard *shard, bool hottest, list *list) {
  for (;;) {
    lrd_shard_enter(cache->core, lane, shard);
    uint64_t wanted = lrd_shard_count_locked(shard);
    if (wanted <= list->room) break;
    lrd_shard_leave(cache->core, shard);
    if (!make_room(list, wanted + wanted / 8)) return false;
  }
  lrd_entry *entry = lrd_order_first_locked(cache->core, shard, hottest);
  for (; entry; entry = lrd_order_next_locked(cache->core, shard, entry, hottest)) {
    if (lrd_entry_is_expired_locked(shard, entry)) continue;
    larder_value *value = lrdc_value_of(entry);
    lrdc_value_pin(value);
    list->values[list->count++] = value;
  }
  lrd_shard_leave(cache->core, shard);
  return true;
}

/// Visits the shards' orders turn by turn. False when asked to stop.
static bool visit_all(const list *lists, uint32_t shards,
                      int32_t (*visit)(void *context, larder_value *value), void *context) {
  bool more = true;
  for (uint64_t turn = 0; more; turn++) {
    more = false;
    for (uint32_t i = 0; i < shards; i++) {
      if (turn >= lists[i].count) continue;
      more = true;
      if (visit(context, lists[i].values[turn]) != 0) return false;
    }
  }
  return true;
}

larder_status larder_iterate(larder_cache *cache, int32_t order,
                             int32_t (*visit)(void *context, larder_value *value), void *context) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!visit) return LARDER_BAD_ARGUMENT;
  if (order != LARDER_HOTTEST_FIRST && order != LARDER_COLDEST_FIRST) return LARDER_BAD_ARGUMENT;
  list lists[LRD_SHARDS_MOST] = {{0}};
  lrd_lane *lane = lrdc_lane(cache);
  uint32_t shards = lrd_cache_shards(cache->core);
  for (uint32_t i = 0; i < shards && status == LARDER_OK; i++) {
    lrd_shard *shard = lrd_cache_shard_at(cache->core, i);
    bool filled = fill(cache, lane, shard, order == LARDER_HOTTEST_FIRST, &lists[i]);
    if (!filled) status = LARDER_OUT_OF_MEMORY;
  }
  if (status == LARDER_OK && !visit_all(lists, shards, visit, context)) status = LARDER_STOPPED;
  for (uint32_t i = 0; i < shards; i++) {
    for (uint64_t k = 0; k < lists[i].count; k++) lrdc_value_unpin(lists[i].values[k]);
    lrd_free(lists[i].values, lists[i].room * sizeof(larder_value *), _Alignof(larder_value *));
  }
  return status;
}
