// SPDX-License-Identifier: Apache-2.0
/* bad_input.c — every argument that larder.h calls wrong gets its status, and nothing changes. */
#include "check.h"
#include "sizes.h"

#include <larder.h>
#include <math.h>
#include <string.h>

static larder_cache *cache;
static larder_value *value;
static const uint64_t most = UINT64_MAX;

static int32_t failing_retain(void *context, const void *key, uint64_t size, const void **kept) {
  (void)context, (void)key, (void)size, (void)kept;
  return 1;
}

static int32_t stop(void *context, larder_value *visited) {
  (void)visited;
  return ++*(int *)context == 2;
}

static larder_status created(larder_config config) {
  larder_cache *made = (larder_cache *)&config;
  larder_status status = larder_create(&config, &made);
  CHECK((made == NULL) == (status != LARDER_OK));
  if (made) larder_destroy(made);
  return status;
}

static void bad_configurations(void) {
  const larder_config good = LARDER_CONFIG_INIT;
  larder_cache *made = (larder_cache *)&made;
  CHECK(larder_create(&good, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_create(NULL, &made) == LARDER_BAD_ARGUMENT && !made);
  CHECK(created(good) == LARDER_OK);
  larder_config bad = good;
  const uint64_t sizes[] = {0, 1, sizeof bad - 1, sizeof bad / 2, most, (uint64_t)1 << 40};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    bad.size = sizes[i];
    CHECK(created(bad) == LARDER_BAD_SIZE);
  }
  const uint64_t limits[] = {LARDER_LIMIT_MOST + 1, most};
  for (int i = 0; i < 2; i++) {
    bad = good, bad.count_limit = limits[i];
    CHECK(created(bad) == LARDER_OUT_OF_RANGE);
    bad = good, bad.cost_limit = limits[i];
    CHECK(created(bad) == LARDER_OUT_OF_RANGE);
  }
  bad = good, bad.count_limit = bad.cost_limit = LARDER_LIMIT_MOST;
  CHECK(created(bad) == LARDER_OK);
  const uint32_t shards[] = {0, 1, 3, 64, 65, UINT32_MAX};
  for (int i = 0; i < 6; i++) {
    bad = good, bad.shards = shards[i];
    CHECK(created(bad) == (shards[i] > 64 ? LARDER_OUT_OF_RANGE : LARDER_OK));
  }
  bad = good, bad.policy = 1000;
  CHECK(created(bad) == LARDER_UNSUPPORTED);
  bad.policy = UINT32_MAX;
  CHECK(created(bad) == LARDER_UNSUPPORTED);
  for (uint32_t policy = 0; policy < 20; policy++) {
    bad = good, bad.policy = policy, bad.cost_limit = 1;
    CHECK(created(bad) == larder_supports_policy(policy));
  }
  CHECK(larder_supports_policy(LARDER_ARC) == LARDER_UNSUPPORTED);
  bad = good, bad.policy = LARDER_CHEAPEST_FIRST;
  CHECK(created(bad) == LARDER_BAD_ARGUMENT);
  bad.policy = LARDER_COST_AWARE;
  CHECK(created(bad) == LARDER_BAD_ARGUMENT);
  bad = good, bad.mode = 2;
  CHECK(created(bad) == LARDER_UNSUPPORTED);
  bad = good, bad.reserved = 1;
  CHECK(created(bad) == LARDER_UNSUPPORTED);
}

static void bad_modes(void) {
  const larder_config good = LARDER_CONFIG_INIT;
  larder_config bad = good;
  bad.hash = sizes_hash;
  CHECK(created(bad) == LARDER_WRONG_MODE);
  bad = good, bad.key_retain = failing_retain;
  CHECK(created(bad) == LARDER_WRONG_MODE);
  bad = good, bad.mode = LARDER_OBJECTS;
  CHECK(created(bad) == LARDER_BAD_ARGUMENT);
  bad.hash = sizes_hash;
  CHECK(created(bad) == LARDER_BAD_ARGUMENT);
  bad.equal = sizes_equal;
  CHECK(created(bad) == LARDER_OK);
  bad.key_retain = failing_retain;
  larder_cache *objects;
  CHECK(larder_create(&bad, &objects) == LARDER_OK);
  larder_value *old = (larder_value *)&old;
  CHECK(larder_set(objects, "k", 1, "v", 1, 0, &old) == LARDER_CALLBACK_FAILED && !old);
  uint64_t size = 7;
  char buffer[8];
  CHECK(larder_read(objects, "k", 1, buffer, 8, &size) == LARDER_WRONG_MODE && size == 7);
  CHECK(larder_destroy(objects) == LARDER_OK);
}

/* A structure of a later version is accepted if the members unknown to this one are zero. */
static void later_structures(void) {
  struct {
    larder_config config;
    uint64_t more;
  } later = {LARDER_CONFIG_INIT, 0};
  larder_cache *made;
  later.config.size = sizeof later;
  CHECK(larder_create(&later.config, &made) == LARDER_OK && larder_destroy(made) == LARDER_OK);
  later.more = 1;
  CHECK(larder_create(&later.config, &made) == LARDER_UNSUPPORTED && !made);
  struct {
    larder_statistics statistics;
    uint64_t more;
  } more = {{0}, 9};
  more.statistics.size = sizeof more;
  CHECK(larder_get_statistics(cache, &more.statistics) == LARDER_OK && more.more == 0);
  CHECK(more.statistics.size == sizeof more);
}

/* All calls that take a cache and a key. */
static void keyed_calls(larder_cache *any, const void *key, uint64_t size, larder_status expected) {
  larder_value *out = (larder_value *)&out;
  uint64_t number = 7;
  char buffer[8] = "unread";
  CHECK(larder_get(any, key, size, &out) == expected);
  CHECK(larder_peek(any, key, size, &out) == expected);
  CHECK(larder_contains(any, key, size) == expected);
  CHECK(larder_read(any, key, size, buffer, sizeof buffer, &number) == expected && number == 7);
  CHECK(larder_set(any, key, size, "new", 3, 1, &out) == expected);
  CHECK(larder_replace(any, key, size, "new", 3, 1, &out) == expected);
  CHECK(larder_remove(any, key, size, &out) == expected);
  CHECK(out == (larder_value *)&out && strcmp(buffer, "unread") == 0);
}

/* All calls on a whole cache. */
static void whole_calls(larder_cache *any, larder_status expected) {
  larder_statistics statistics = {.size = sizeof statistics};
  uint64_t number = 7;
  int visits = 0;
  CHECK(larder_remove_all(any) == expected);
  CHECK(larder_trim_to_count(any, 0) == expected && larder_trim_to_cost(any, 0) == expected);
  CHECK(larder_set_count_limit(any, 1) == expected && larder_set_cost_limit(any, 1) == expected);
  CHECK(larder_get_count(any, &number) == expected && larder_get_cost(any, &number) == expected);
  CHECK(larder_get_count_limit(any, &number) == expected);
  CHECK(larder_get_cost_limit(any, &number) == expected && number == 7);
  CHECK(larder_get_statistics(any, &statistics) == expected && statistics.hits == 0);
  CHECK(larder_iterate(any, LARDER_HOTTEST_FIRST, stop, &visits) == expected && visits == 0);
  CHECK(larder_reclaim(any) == expected && larder_destroy(any) == expected);
}

static void bad_calls(void) {
  static char long_key[LARDER_KEY_MOST + 1];
  keyed_calls(NULL, "a", 1, LARDER_BAD_ARGUMENT);
  whole_calls(NULL, LARDER_BAD_ARGUMENT);
  static _Alignas(128) uint64_t no_cache[64];
  keyed_calls((larder_cache *)no_cache, "a", 1, LARDER_FOREIGN);
  whole_calls((larder_cache *)no_cache, LARDER_FOREIGN);
  keyed_calls(cache, NULL, 0, LARDER_BAD_ARGUMENT);
  keyed_calls(cache, NULL, 3, LARDER_BAD_ARGUMENT);
  keyed_calls(cache, long_key, sizeof long_key, LARDER_TOO_LONG);
  keyed_calls(cache, "a", most, LARDER_TOO_LONG);
  CHECK(larder_get(cache, "a", 1, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_peek(cache, "a", 1, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_read(cache, "a", 1, NULL, 1, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_set(cache, "a", 1, NULL, 1, 0, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_set(cache, "a", 1, "v", LARDER_VALUE_MOST + 1, 0, NULL) == LARDER_TOO_LONG);
  CHECK(larder_set(cache, "a", 1, "v", 1, LARDER_LIMIT_MOST + 1, NULL) == LARDER_OUT_OF_RANGE);
  CHECK(larder_set(cache, "a", 1, "v", 1, most - 1, NULL) == LARDER_OUT_OF_RANGE);
  CHECK(larder_set_count_limit(cache, LARDER_LIMIT_MOST + 1) == LARDER_OUT_OF_RANGE);
  CHECK(larder_set_cost_limit(cache, most) == LARDER_OUT_OF_RANGE);
  CHECK(larder_get_count(cache, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_cost(cache, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_count_limit(cache, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_cost_limit(cache, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_statistics(cache, NULL) == LARDER_BAD_ARGUMENT);
  larder_statistics small = {.size = sizeof small - 1};
  CHECK(larder_get_statistics(cache, &small) == LARDER_BAD_SIZE && small.hits == 0);
  larder_statistics absurd = {.size = most};
  CHECK(larder_get_statistics(cache, &absurd) == LARDER_BAD_SIZE && absurd.hits == 0);
  CHECK(larder_iterate(cache, LARDER_HOTTEST_FIRST, NULL, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_iterate(cache, 2, stop, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_data(NULL, NULL, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_key(NULL, NULL, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_cost(NULL, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_cost(value, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_retain(NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_value_release(NULL) == LARDER_BAD_ARGUMENT);
}

/* A cache whose policy goes by cost cannot lose its cost limit. */
static void no_cost_limit(uint32_t policy) {
  larder_config config = LARDER_CONFIG_INIT;
  config.policy = policy, config.cost_limit = 9;
  larder_cache *by_cost;
  uint64_t number;
  CHECK(larder_create(&config, &by_cost) == LARDER_OK);
  CHECK(larder_set(by_cost, "a", 1, "v", 1, 7, NULL) == LARDER_OK);
  CHECK(larder_set_cost_limit(by_cost, 0) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_cost_limit(by_cost, &number) == LARDER_OK && number == 9);
  CHECK(larder_get_cost(by_cost, &number) == LARDER_OK && number == 7);
  CHECK(larder_set_count_limit(by_cost, 0) == LARDER_OK);
  CHECK(larder_set_cost_limit(by_cost, LARDER_LIMIT_MOST) == LARDER_OK);
  CHECK(larder_destroy(by_cost) == LARDER_OK);
}

/* Calls that are just within the bounds. */
static void edges(void) {
  static char long_key[LARDER_KEY_MOST];
  int visits = 0;
  CHECK(larder_set(cache, long_key, sizeof long_key, NULL, 0, LARDER_LIMIT_MOST, NULL) == 0);
  CHECK(larder_read(cache, long_key, sizeof long_key, NULL, 0, NULL) == LARDER_OK);
  CHECK(larder_set(cache, "", 0, "empty", 5, 0, NULL) == LARDER_OK);
  CHECK(larder_contains(cache, "any", 0) == LARDER_OK);
  CHECK(larder_iterate(cache, LARDER_COLDEST_FIRST, stop, &visits) == LARDER_STOPPED);
  CHECK(visits == 2);
  CHECK(larder_value_data(value, NULL, NULL) == LARDER_OK);
  CHECK(larder_value_key(value, NULL, NULL) == LARDER_OK);
  for (larder_status status = -20; status < 20; status++) CHECK(larder_status_text(status)[0]);
  CHECK(larder_version() == LARDER_VERSION);
}

/* Wrong calls about time, and caches that were created without anything about time. */
static void check_lifetimes(void) {
  static const double bad[] = {-0.1, 1.1, NAN, INFINITY};
  uint64_t number;
  larder_cache *cache;
  larder_config config = LARDER_CONFIG_INIT;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(larder_get_lifetime(cache, "k", 1, &number) == LARDER_NOT_FOUND);
  CHECK(larder_remove_expired(cache, &number) == LARDER_OK && number == 0);
  CHECK(larder_set(cache, "l", 1, "v", 1, 0, NULL) == LARDER_OK);
  CHECK(larder_get_lifetime(cache, "l", 1, &number) == LARDER_OK && number == LARDER_NEVER);
  CHECK(larder_set_lifetime(cache, "k", 1, 1) == LARDER_NOT_FOUND);
  CHECK(larder_set_for(cache, "k", 1, "v", 1, 0, 0, NULL) == LARDER_EXPIRED);
  CHECK(larder_set_lifetime(cache, "l", 1, 0) == LARDER_EXPIRED);
  CHECK(larder_set_expiration(cache, 1, 1, 0) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
  for (int i = 0; i < 4; i++) {
    config.jitter = bad[i];
    CHECK(larder_create(&config, &cache) == LARDER_BAD_ARGUMENT && !cache);
  }
  config.jitter = 1;
  config.expires = 1;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (int i = 0; i < 4; i++) {
    CHECK(larder_set_expiration(cache, 1, 0, bad[i]) == LARDER_BAD_ARGUMENT);
  }
  CHECK(larder_set_expiration(cache, 0, 1, 0) == LARDER_OK);
  CHECK(larder_set_expiration(cache, 0, 0, 0) == LARDER_OK);
  CHECK(larder_set_for(cache, "k", 1, "v", 1, 0, LARDER_NEVER, NULL) == LARDER_OK);
  CHECK(larder_get_lifetime(cache, "k", 1, &number) == LARDER_OK && number == LARDER_NEVER);
  CHECK(larder_get_lifetime(cache, "k", 1, NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_destroy(cache) == LARDER_OK);
  config.expires = 2;
  CHECK(larder_create(&config, &cache) == LARDER_UNSUPPORTED);
  CHECK(larder_clock_create(NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_clock_advance(NULL, 1) == LARDER_BAD_ARGUMENT);
  CHECK(larder_clock_release(NULL) == LARDER_BAD_ARGUMENT);
}

int main(void) {
  check_lifetimes();
  larder_config config = LARDER_CONFIG_INIT;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(larder_set(cache, "a", 1, "old", 3, 5, NULL) == LARDER_OK);
  CHECK(larder_peek(cache, "a", 1, &value) == LARDER_OK);
  bad_configurations();
  bad_modes();
  bad_calls();
  larder_statistics after = {.size = sizeof after};
  uint64_t count, cost;
  CHECK(larder_get_statistics(cache, &after) == LARDER_OK);
  CHECK(after.insertions == 1 && after.hits + after.misses + after.removals == 0);
  CHECK(larder_get_count(cache, &count) == LARDER_OK && count == 1);
  CHECK(larder_get_cost(cache, &cost) == LARDER_OK && cost == 5);
  later_structures();
  no_cost_limit(LARDER_CHEAPEST_FIRST);
  no_cost_limit(LARDER_COST_AWARE);
  edges();
  CHECK(larder_value_release(value) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
  printf("Bad input is answered.\n");
}
