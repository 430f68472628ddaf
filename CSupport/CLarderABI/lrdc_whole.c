// SPDX-License-Identifier: Apache-2.0
/* lrdc_whole.c — calls on the whole cache: remove all, trim, limits, count, statistics, reclaim. */
#include "lrdc_change.h"

larder_status larder_remove_all(larder_cache *cache) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  lrd_lane *lane = lrdc_lane(cache);
  lrd_garbage garbage = {0};
  lrd_removal_of_all(cache->core, lane, &garbage);
  lrdc_finish(cache, lane, &garbage);
  return LARDER_OK;
}

static void trim(larder_cache *cache, uint64_t count, uint64_t cost) {
  lrd_lane *lane = lrdc_lane(cache);
  lrd_trim plan = lrd_trim_plan(cache->core, count, cost, UINT64_MAX);
  bool done = false;
  while (!done) {
    lrd_garbage garbage = {0};
    done = lrd_trim_some(cache->core, lane, &garbage, &plan);
    lrdc_finish(cache, lane, &garbage);
  }
}

larder_status larder_trim_to_count(larder_cache *cache, uint64_t count) {
  larder_status status = lrdc_check(cache);
  if (status == LARDER_OK) trim(cache, count, UINT64_MAX);
  return status;
}

larder_status larder_trim_to_cost(larder_cache *cache, uint64_t cost) {
  larder_status status = lrdc_check(cache);
  if (status == LARDER_OK) trim(cache, UINT64_MAX, cost);
  return status;
}

static larder_status set_limit(larder_cache *cache, uint64_t limit,
                               void (*set)(lrd_cache *core, uint64_t limit)) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (limit > LARDER_LIMIT_MOST) return LARDER_OUT_OF_RANGE;
  set(cache->core, limit);
  trim(cache, UINT64_MAX, UINT64_MAX);
  return LARDER_OK;
}

larder_status larder_set_count_limit(larder_cache *cache, uint64_t limit) {
  return set_limit(cache, limit, lrd_cache_set_count_limit);
}

larder_status larder_set_cost_limit(larder_cache *cache, uint64_t limit) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!limit && cache->core->policy->by_cost) return LARDER_BAD_ARGUMENT;
  return set_limit(cache, limit, lrd_cache_set_cost_limit);
}

static larder_status get(larder_cache *cache, uint64_t (*ask)(lrd_cache *core), uint64_t *answer) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!answer) return LARDER_BAD_ARGUMENT;
  *answer = ask(cache->core);
  return LARDER_OK;
}

larder_status larder_get_count_limit(larder_cache *cache, uint64_t *limit) {
  return get(cache, lrd_cache_own_count_limit, limit);
}

larder_status larder_get_cost_limit(larder_cache *cache, uint64_t *limit) {
  return get(cache, lrd_cache_own_cost_limit, limit);
}

larder_status larder_get_effective_count_limit(larder_cache *cache, uint64_t *limit) {
  return get(cache, lrd_cache_count_limit, limit);
}

larder_status larder_get_effective_cost_limit(larder_cache *cache, uint64_t *limit) {
  return get(cache, lrd_cache_cost_limit, limit);
}

larder_status larder_get_count(larder_cache *cache, uint64_t *count) {
  return get(cache, lrd_cache_count, count);
}

larder_status larder_get_cost(larder_cache *cache, uint64_t *cost) {
  return get(cache, lrd_cache_cost, cost);
}

/// The size of the first version of the structure.
static const uint64_t statistics_bytes_least =
    offsetof(larder_statistics, overhead_bytes) + sizeof(uint64_t);

larder_status larder_get_statistics(larder_cache *cache, larder_statistics *statistics) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  if (!statistics) return LARDER_BAD_ARGUMENT;
  uint64_t size = statistics->size;
  bool past = size == statistics_bytes_least; // the one earlier version
  if ((size < sizeof *statistics && !past) || size > LRDC_STRUCTURE_MOST) return LARDER_BAD_SIZE;
  lrd_statistics sum = lrd_cache_statistics(cache->core);
  uint64_t values = lrd_cache_count(cache->core) + sum.waiting;
  const larder_statistics known = {
      .size = size,
      .hits = sum.hits,
      .misses = sum.misses,
      .insertions = sum.insertions,
      .replacements = sum.replacements,
      .removals = sum.removals,
      .refusals = sum.refusals,
      .count_evictions = sum.count_evictions,
      .cost_evictions = sum.cost_evictions,
      .trim_evictions = sum.trim_evictions,
      .unordered_hits = sum.dropped,
      .waiting = sum.waiting,
      .overhead_bytes =
          sum.pool_bytes + sum.table_bytes + sum.policy_bytes + values * lrdc_value_head(cache),
      .expirations = sum.expirations,
      .pressure_evictions = sum.pressure_evictions,
  };
  // A caller with another version of the header gets the members that both know, then zeroes.
  memset(statistics, 0, size);
  memcpy(statistics, &known, size < sizeof known ? size : sizeof known);
  return LARDER_OK;
}

larder_status larder_reclaim(larder_cache *cache) {
  larder_status status = lrdc_check(cache);
  if (status != LARDER_OK) return status;
  lrd_lane *lane = lrdc_lane(cache);
  lrd_shrink(cache->core);
  lrd_garbage garbage = {0};
  lrd_garbage_reclaim(cache->core, &garbage);
  lrdc_finish(cache, lane, &garbage);
  lrd_compact(cache->core, lane);
  lrd_garbage_give_back(cache->core);
  return LARDER_OK;
}
