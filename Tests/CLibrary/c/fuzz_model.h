/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_model.h — a model of one cache, without an order. It knows each value that was offered,
 * whether the cache took it, and whether its removal was reported. These give the value of each
 * key, the count, the cost and the statistics. */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "check.h"

#include <larder.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { KEYS = 12, VALUES = 1024 };

typedef struct value {
  uint64_t key, cost;
  bool taken, removed;
  _Atomic(int) retains, releases;
} value;

static larder_cache *cache;
static value values[VALUES];
static uint64_t value_count;
static larder_statistics counted;
static uint64_t causes[5]; /* how many removals were reported, by cause */
static int lowering;       /* how many calls are lowering a limit now */
static bool fails;         /* whether the input makes allocations fail */

static void forget(void) {
  memset(values, 0, sizeof values);
  memset(&counted, 0, sizeof counted);
  memset(causes, 0, sizeof causes);
  value_count = 0;
  fails = false;
}

static uint64_t number(larder_status (*get)(larder_cache *, uint64_t *)) {
  uint64_t result;
  CHECK(get(cache, &result) == LARDER_OK);
  return result;
}

static uint64_t default_cost(void) {
  return number(larder_get_cost_limit) != 0;
}

static void check_limits(void) {
  uint64_t count_limit = number(larder_get_count_limit);
  uint64_t cost_limit = number(larder_get_cost_limit);
  CHECK(lowering || !count_limit || number(larder_get_count) <= count_limit);
  CHECK(lowering || !cost_limit || number(larder_get_cost) <= cost_limit);
}

static uint64_t number_of(const larder_value *found) {
  uint64_t place;
  CHECK(larder_value_data(found, NULL, &place) == LARDER_OK);
  CHECK(place < value_count && values[place].retains > values[place].releases);
  return place;
}

static void count_stored(larder_status status) {
  counted.insertions += status == LARDER_OK;
  counted.replacements += status == LARDER_REPLACED;
  counted.refusals += status == LARDER_TOO_COSTLY;
}

/* Checks what follows from the values that were taken and not removed. */
static void check_contents(void) {
  uint64_t count = 0;
  unsigned __int128 cost = 0;
  bool present[KEYS] = {false};
  for (uint64_t i = 0; i < value_count; i++) {
    if (!values[i].taken || values[i].removed) continue;
    uint64_t key = values[i].key;
    larder_value *found;
    CHECK(!present[key]);
    present[key] = true;
    CHECK(larder_peek(cache, "key", key + 1, &found) == LARDER_OK && number_of(found) == i);
    CHECK(larder_value_release(found) == LARDER_OK);
    count++;
    cost += values[i].cost;
  }
  for (uint64_t key = 0; key < KEYS; key++) {
    larder_status expected = present[key] ? LARDER_OK : LARDER_NOT_FOUND;
    CHECK(larder_contains(cache, "key", key + 1) == expected);
  }
  CHECK(number(larder_get_count) == count);
  CHECK(number(larder_get_cost) == (cost > LARDER_LIMIT_MOST ? LARDER_LIMIT_MOST : cost));
}

static void check_statistics(void) {
  larder_statistics told = {.size = sizeof told};
  CHECK(larder_get_statistics(cache, &told) == LARDER_OK);
  /* A thread without memory for a lane counts no lookups. */
  uint64_t lookups = told.hits + told.misses, most = counted.hits + counted.misses;
  CHECK(told.hits <= counted.hits && told.misses <= counted.misses);
  CHECK(lookups == most || fails);
  CHECK(told.insertions == counted.insertions && told.replacements == counted.replacements);
  CHECK(told.refusals == counted.refusals);
  CHECK(told.removals == causes[LARDER_CAUSE_REMOVED]);
  CHECK(told.trim_evictions == causes[LARDER_CAUSE_TRIMMED]);
  CHECK(told.count_evictions + told.cost_evictions == causes[LARDER_CAUSE_LIMIT]);
}

#endif
