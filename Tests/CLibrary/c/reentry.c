// SPDX-License-Identifier: Apache-2.0
/* reentry.c — callbacks that use the cache which called them, and what they see there. The
 * library's own thread releases parts of chains this long, so the callbacks share atomics. */
#include "check.h"
#include "sizes.h"

#include <larder.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { CHAIN = 2000 };

static larder_cache *cache;
static _Atomic(long) hashes, removals, releases;
static long visits;
static _Atomic(larder_value *) kept;
static atomic_bool closing, closed;

static uint64_t hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)key;
  static _Thread_local bool inside;
  hashes++;
  if (!inside && cache && !closing) { /* a hash may look something up */
    inside = true;
    larder_contains(cache, "other", 5);
    inside = false;
  }
  return size;
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context;
  return a_size == b_size && memcmp(a, b, a_size) == 0;
}

/* Stores the next value of a chain. The release of each value stores one more. */
static void store(uint64_t number) {
  static char keys[] = "0123456789abcdef";
  larder_status status =
      larder_set(cache, keys, 1 + number % 16, "value", number, LARDER_COST_DEFAULT, NULL);
  CHECK(status == LARDER_OK || status == LARDER_REPLACED);
}

static void value_release(void *context, const void *value, uint64_t number) {
  (void)context, (void)value;
  releases++;
  if (closing) {
    CHECK(larder_set(cache, "a", 1, "v", 1, 0, NULL) == LARDER_FOREIGN);
  } else if (number < CHAIN) {
    store(number + 16);
  }
}

static void removed(void *context, larder_value *value, int32_t cause) {
  const void *key;
  uint64_t size, number;
  CHECK(context == &visits && cause > 0);
  removals++;
  CHECK(larder_value_key(value, &key, &size) == LARDER_OK);
  CHECK(larder_value_data(value, NULL, &number) == LARDER_OK);
  /* The key has no value now, or another one than the removed value. */
  larder_value *found;
  if (larder_peek(cache, key, size, &found) == LARDER_OK) {
    CHECK(found != value && larder_value_release(found) == LARDER_OK);
  }
  larder_value *none = NULL;
  if (atomic_compare_exchange_strong(&kept, &none, value)) {
    CHECK(larder_value_retain(value) == LARDER_OK);
  }
  if (number == 3) CHECK(larder_remove_all(cache) == LARDER_OK);
}

static void context_release(void *context) {
  CHECK(context == &visits);
  closed = true;
}

static int32_t visit(void *context, larder_value *value) {
  (void)context;
  const void *key;
  uint64_t size;
  visits++;
  /* Anybody may remove the value that is visited, even the visitor. It stays readable meanwhile. */
  CHECK(larder_value_key(value, &key, &size) == LARDER_OK);
  larder_status status = larder_remove(cache, key, size, NULL);
  CHECK(status == LARDER_OK || status == LARDER_NOT_FOUND);
  CHECK(larder_value_key(value, &key, &size) == LARDER_OK && ((const char *)key)[0] == '0');
  return 0;
}

static int32_t copy_key(void *context, const void *key, uint64_t size, const void **copy) {
  (void)context;
  void *memory = malloc(size);
  if (!memory) return 1;
  *copy = memcpy(memory, key, size);
  return 0;
}

static void free_key(void *context, const void *key, uint64_t size) {
  (void)context, (void)size;
  free((void *)(uintptr_t)key);
}

static bool meddles;
static const char fillers[100] = "keys of many lengths";

/* Breaks the rules: removes the entry that is being compared, and stores others in its place. */
static int32_t meddling_equal(void *context, const void *a, uint64_t a_size, const void *b,
                              uint64_t b_size) {
  larder_cache **meddled = context;
  if (meddles) {
    meddles = false;
    for (uint64_t size = 1; size < 60; size++) {
      larder_status status = larder_set(*meddled, fillers, size, "value", size, 0, NULL);
      CHECK(status == LARDER_OK || status == LARDER_REPLACED);
    }
    CHECK(larder_reclaim(*meddled) == LARDER_OK);
  }
  return equal(NULL, a, a_size, b, b_size);
}

/* What is found stays whole, and so does the order: later hits count for living entries. */
static void check_meddling(void) {
  larder_cache *meddled;
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = 4;
  config.policy = LARDER_LRU;
  config.mode = LARDER_OBJECTS;
  config.context = &meddled;
  config.hash = sizes_hash;
  config.equal = meddling_equal;
  config.key_retain = copy_key;
  config.key_release = free_key;
  CHECK(larder_create(&config, &meddled) == LARDER_OK);
  for (int round = 0; round < 200; round++) {
    CHECK(larder_set(meddled, fillers, sizeof fillers, "value", 7, 0, NULL) >= 0);
    meddles = true;
    larder_value *value;
    uint64_t number;
    CHECK(larder_get(meddled, fillers, sizeof fillers, &value) == LARDER_OK && !meddles);
    CHECK(larder_value_data(value, NULL, &number) == LARDER_OK && number == 7);
    CHECK(larder_value_release(value) == LARDER_OK);
    for (uint64_t size = 56; size < 60; size++) {
      CHECK(larder_contains(meddled, fillers, size) == LARDER_OK);
      CHECK(larder_get(meddled, fillers, size, &value) == LARDER_OK);
      CHECK(larder_value_release(value) == LARDER_OK);
    }
  }
  CHECK(larder_destroy(meddled) == LARDER_OK);
}

static uint64_t stored(void) {
  larder_statistics statistics = {.size = sizeof statistics};
  CHECK(larder_get_statistics(cache, &statistics) == LARDER_OK);
  return statistics.insertions + statistics.replacements;
}

/* Waits until all values are released except the kept one and those in the cache. Then every chain
 * has ended. Fails after a minute. */
static void settle(void) {
  for (int i = 0; i < 60000; i++) {
    CHECK(larder_reclaim(cache) == LARDER_OK);
    long before = releases;
    uint64_t count, all = stored();
    CHECK(larder_get_count(cache, &count) == LARDER_OK && count <= 8);
    if (before == (long)(all - count) - 1 && all == stored()) return;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  CHECK(false && "everything that left was released");
}

int main(void) {
  check_meddling();
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = 8;
  config.mode = LARDER_OBJECTS;
  config.context = &visits;
  config.hash = hash;
  config.equal = equal;
  config.key_retain = copy_key;
  config.key_release = free_key;
  config.value_release = value_release;
  config.removed = removed;
  config.context_release = context_release;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (uint64_t number = 0; number < 16; number++) store(number);
  CHECK(larder_iterate(cache, LARDER_HOTTEST_FIRST, visit, NULL) == LARDER_OK && visits > 0);
  /* The removals above drove the chains. Each value was released once, except the kept one. */
  settle();
  uint64_t all = stored(), count;
  CHECK(larder_get_count(cache, &count) == LARDER_OK && count <= 8);
  CHECK(removals == (long)(all - count) && all > CHAIN / 10 && hashes > 0);
  CHECK(kept && larder_value_data(kept, NULL, &count) == LARDER_OK);
  closing = true;
  CHECK(larder_destroy(cache) == LARDER_OK);
  CHECK(larder_value_release(kept) == LARDER_OK);
  for (int i = 0; i < 60000 && !closed; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  CHECK(closed && releases == (long)all);
  printf("Callbacks may use the cache: %ld values, each released once.\n", (long)releases);
}
