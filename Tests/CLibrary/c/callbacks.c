// SPDX-License-Identifier: Apache-2.0
/* callbacks.c — which callbacks larder_replace() makes. It keeps no key that has no value, and
 * releases every value that it was given once. */
#include "check.h"
#include "sizes.h"

#include <larder.h>
#include <stdbool.h>

/* Counts of the callbacks so far, and what key_retain does besides. */
static struct {
  int keys_retained, keys_released, values_retained, values_released;
  larder_cache
      *removes_from; /* key_retain removes the key here, while its value is being replaced */
  bool fails;
} calls;

static int32_t key_retain(void *context, const void *key, uint64_t size, const void **kept) {
  (void)context;
  calls.keys_retained++;
  if (calls.fails) return 1;
  *kept = key;
  if (calls.removes_from) CHECK(larder_remove(calls.removes_from, key, size, NULL) == LARDER_OK);
  return 0;
}

static void key_release(void *context, const void *kept, uint64_t size) {
  (void)context, (void)kept, (void)size;
  calls.keys_released++;
}

static void value_retain(void *context, const void *value, uint64_t size) {
  (void)context, (void)value, (void)size;
  calls.values_retained++;
}

static void value_release(void *context, const void *value, uint64_t size) {
  (void)context, (void)value, (void)size;
  calls.values_released++;
}

static larder_cache *opened(bool retains_values) {
  larder_config config = LARDER_CONFIG_INIT;
  config.mode = LARDER_OBJECTS;
  config.hash = sizes_hash;
  config.equal = sizes_equal;
  config.key_retain = key_retain;
  config.key_release = key_release;
  config.value_retain = retains_values ? value_retain : NULL;
  config.value_release = value_release;
  calls.fails = false;
  calls.removes_from = NULL;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  return cache;
}

static bool called(int retained, int released, int values_released) {
  return calls.keys_retained == retained && calls.keys_released == released &&
         calls.values_released == values_released;
}

static larder_statistics statistics_of(larder_cache *cache) {
  larder_statistics statistics = {.size = sizeof statistics};
  CHECK(larder_get_statistics(cache, &statistics) == LARDER_OK);
  return statistics;
}

static void check_absent(larder_cache *cache) {
  larder_value *old = (larder_value *)&old;
  CHECK(larder_replace(cache, "k", 1, "v", 1, 0, &old) == LARDER_NOT_FOUND && !old);
  CHECK(called(0, 0, 1));
  calls.fails = true;
  CHECK(larder_replace(cache, "k", 1, "v", 1, 0, NULL) == LARDER_NOT_FOUND && called(0, 0, 2));
  calls.fails = false;
  larder_statistics statistics = statistics_of(cache);
  CHECK(statistics.misses == 0 && statistics.insertions == 0 && statistics.replacements == 0);
}

static void check_present(larder_cache *cache) {
  CHECK(larder_set(cache, "k", 1, "v", 1, 0, NULL) == LARDER_OK && called(1, 0, 2));
  CHECK(larder_replace(cache, "k", 1, "w", 1, 0, NULL) == LARDER_REPLACED && called(2, 1, 3));
  /* The key has a value when the call begins, and none when the new value would be stored. */
  calls.removes_from = cache;
  CHECK(larder_replace(cache, "k", 1, "x", 1, 0, NULL) == LARDER_NOT_FOUND && called(3, 3, 5));
  calls.removes_from = NULL;
  larder_statistics statistics = statistics_of(cache);
  CHECK(statistics.hits == 0 && statistics.replacements == 1 && statistics.removals == 1);
}

int main(void) {
  for (int retains_values = 0; retains_values < 2; retains_values++) {
    calls.keys_retained = calls.keys_released = calls.values_retained = calls.values_released = 0;
    larder_cache *cache = opened(retains_values);
    check_absent(cache);
    check_present(cache);
    CHECK(calls.values_retained == (retains_values ? calls.values_released : 0));
    CHECK(larder_destroy(cache) == LARDER_OK && called(3, 3, 5));
  }
  printf("A replacement keeps nothing of an absent key.\n");
}
