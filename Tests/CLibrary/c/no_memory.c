// SPDX-License-Identifier: Apache-2.0
/* no_memory.c — makes each allocation of a script fail in turn. The call says so, the rest of the
 * script goes on, and every object is released exactly once, by the one that larder.h names.
 *
 * Compiled together with the library's sources, so that it can make their allocations fail. */
#include "check.h"
#include "sizes.h"

#include <larder.h>
#include <stdbool.h>
#include <string.h>

enum { OBJECTS = 64, FAILURES_MOST = 400 };

void lrd_alloc_fail_after(int64_t successes);

/* How often the cache has retained and released each object. */
static int retains[OBJECTS], releases[OBJECTS];
static int keys_kept;

static int32_t key_retain(void *context, const void *key, uint64_t size, const void **kept) {
  (void)context, (void)size;
  *kept = key;
  keys_kept++;
  return 0;
}

static void key_release(void *context, const void *kept, uint64_t size) {
  (void)context, (void)kept, (void)size;
  keys_kept--;
}

static void value_retain(void *context, const void *value, uint64_t size) {
  (void)context, (void)value;
  retains[size]++;
}

static void value_release(void *context, const void *value, uint64_t size) {
  (void)context, (void)value;
  releases[size]++;
}

static int32_t count(void *context, larder_value *value) {
  CHECK(larder_value_retain(value) == LARDER_OK && larder_value_release(value) == LARDER_OK);
  ++*(uint64_t *)context;
  return 0;
}

/* Stores every object, some in place of others. Notes which ones the cache took. */
static void store_all(larder_cache *cache, bool *taken) {
  for (uint64_t i = 0; i < OBJECTS; i++) {
    uint64_t key = 1 + i % 48;
    larder_value *old = NULL;
    larder_status status = larder_set(cache, "key", key, "value", i, 1, &old);
    CHECK(status == LARDER_OK || status == LARDER_REPLACED || status == LARDER_OUT_OF_MEMORY);
    taken[i] = status >= 0;
    if (old) CHECK(larder_value_release(old) == LARDER_OK);
    if (taken[i]) CHECK(larder_contains(cache, "key", key) == LARDER_OK);
  }
}

/* Runs the script. The allocation after `successes` others fails. True when there were no more. */
static bool run(int64_t successes, bool retaining, uint32_t shards) {
  larder_config config = LARDER_CONFIG_INIT;
  config.mode = LARDER_OBJECTS;
  config.shards = shards;
  config.hash = sizes_hash;
  config.equal = sizes_equal;
  config.key_retain = key_retain;
  config.key_release = key_release;
  config.value_retain = retaining ? value_retain : NULL;
  config.value_release = value_release;
  memset(retains, 0, sizeof retains);
  memset(releases, 0, sizeof releases);
  bool taken[OBJECTS] = {false};
  larder_cache *cache;
  lrd_alloc_fail_after(successes);
  larder_status created = larder_create(&config, &cache);
  bool failed = created != LARDER_OK;
  if (created == LARDER_OK) {
    store_all(cache, taken);
    uint64_t stored, visited = 0;
    larder_status status = larder_iterate(cache, LARDER_HOTTEST_FIRST, count, &visited);
    CHECK(larder_get_count(cache, &stored) == LARDER_OK);
    CHECK(status == LARDER_OK ? visited == stored : status == LARDER_OUT_OF_MEMORY && !visited);
    failed = status != LARDER_OK;
    CHECK(larder_destroy(cache) == LARDER_OK);
  } else {
    CHECK(created == LARDER_OUT_OF_MEMORY && !cache);
  }
  lrd_alloc_fail_after(-1);
  CHECK(keys_kept == 0);
  for (int i = 0; i < OBJECTS; i++) {
    CHECK(releases[i] == (retaining ? retains[i] : taken[i]));
    CHECK(retains[i] <= 1 && (!taken[i] || releases[i] == 1));
    failed |= created == LARDER_OK && !taken[i];
  }
  return !failed;
}

static uint64_t same_hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)key, (void)size;
  return 1;
}

/* Gives other lifetimes, in seconds, while the second allocation fails, or none. */
static larder_status change(larder_cache *cache, uint64_t seconds, bool fails) {
  lrd_alloc_fail_after(fails ? 1 : -1);
  larder_status status = larder_set_expiration(cache, seconds * 1000000000, 0, 0);
  lrd_alloc_fail_after(-1);
  return status;
}

/* Keys of one hash are listed at once, which takes memory. A change of lifetimes that finds none is
 * cut short. So is the next one, which begins by ending it. Then one works, for all entries. */
static void change_lifetimes(void) {
  enum { KEYS = 300 };
  larder_config config = LARDER_CONFIG_INIT;
  config.mode = LARDER_OBJECTS;
  config.shards = 1;
  config.hash = same_hash;
  config.equal = sizes_equal;
  config.after_write = 10000000000;
  CHECK(larder_clock_create(&config.clock) == LARDER_OK);
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (uint64_t key = 1; key <= KEYS; key++) {
    CHECK(larder_set(cache, "key", key, "value", 5, 1, NULL) == LARDER_OK);
  }
  CHECK(change(cache, 20, true) == LARDER_OUT_OF_MEMORY);
  CHECK(change(cache, 30, true) == LARDER_OUT_OF_MEMORY);
  CHECK(change(cache, 40, false) == LARDER_OK);
  CHECK(larder_clock_advance(config.clock, 39000000000) == LARDER_OK);
  for (uint64_t key = 1; key <= KEYS; key++) {
    CHECK(larder_contains(cache, "key", key) == LARDER_OK);
  }
  CHECK(larder_clock_advance(config.clock, 2000000000) == LARDER_OK);
  for (uint64_t key = 1; key <= KEYS; key++) {
    CHECK(larder_contains(cache, "key", key) == LARDER_NOT_FOUND);
  }
  CHECK(larder_destroy(cache) == LARDER_OK);
  CHECK(larder_clock_release(config.clock) == LARDER_OK);
}

int main(void) {
  change_lifetimes();
  for (int variant = 0; variant < 4; variant++) {
    int failures = 0;
    for (int64_t successes = 0; successes < FAILURES_MOST; successes++) {
      failures += !run(successes, variant % 2, variant < 2 ? 1 : 4);
    }
    CHECK(failures > OBJECTS); /* one for each object, and those of tables and slots */
    CHECK(run(FAILURES_MOST, variant % 2, variant < 2 ? 1 : 4));
  }
  printf("Every allocation failed in turn.\n");
}
