/* SPDX-License-Identifier: Apache-2.0 */
/* retrofit.c — gives caches their first lifetime, and an idle time that they were not created with,
 * while other threads read and write. A lookup that begins after a deadline must not find the
 * value, and each value must be released once.
 *
 *     retrofit ROUNDS */
#include "check.h"

#include <larder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { KEYS = 300, READERS = 2, TOKEN = KEYS };

/* The resolution of the library's deadlines. Multiples of it are kept exactly. */
static const uint64_t unit = 4096;

static char names[KEYS + 1];
static atomic_long retained[KEYS + 1], released[KEYS + 1];

typedef struct round {
  larder_cache *cache;
  atomic_bool late, stop, closed;
  atomic_long lookups;
} round_state;

static uint64_t hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)size;
  /* Some keys have equal hashes. */
  return (uint64_t)((const char *)key - names) / 2;
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context;
  return a == b && a_size == b_size;
}

static void value_retain(void *context, const void *value, uint64_t size) {
  (void)context, (void)size;
  retained[(const char *)value - names]++;
}

static void value_release(void *context, const void *value, uint64_t size) {
  (void)context, (void)size;
  released[(const char *)value - names]++;
}

static void context_release(void *context) {
  ((round_state *)context)->closed = true;
}

static bool is_found(larder_cache *cache, int key, bool peeks) {
  larder_value *value;
  const void *data;
  larder_status status = (peeks ? larder_peek : larder_get)(cache, &names[key], 1, &value);
  if (status == LARDER_NOT_FOUND) return false;
  CHECK(status == LARDER_OK && larder_value_data(value, &data, NULL) == LARDER_OK);
  CHECK(data == &names[key] && larder_value_release(value) == LARDER_OK);
  return true;
}

static void *read_all(void *context) {
  round_state *round = context;
  for (unsigned i = 0; !round->stop; i++) {
    bool late = round->late; /* read before the lookup begins */
    bool found = is_found(round->cache, TOKEN, i % 2);
    CHECK(!late || !found);
    CHECK(!late || larder_contains(round->cache, &names[TOKEN], 1) == LARDER_NOT_FOUND);
    is_found(round->cache, (int)(i * 7 % KEYS), i % 3);
    round->lookups++;
  }
  return NULL;
}

static void *write_all(void *context) {
  round_state *round = context;
  for (unsigned i = 0; !round->stop; i++) {
    const char *name = &names[i * 11 % (KEYS / 2)];
    larder_status status = i % 5 ? larder_set(round->cache, name, 1, name, 1, i % 3, NULL)
                                 : larder_remove(round->cache, name, 1, NULL);
    CHECK(status == LARDER_OK || status == (i % 5 ? LARDER_REPLACED : LARDER_NOT_FOUND));
  }
  return NULL;
}

static void wait_for(round_state *round, long lookups) {
  for (long start = round->lookups; round->lookups < start + lookups;) {
    nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
  }
}

static void play(unsigned number) {
  static round_state round;
  memset(&round, 0, sizeof round);
  larder_config config = LARDER_CONFIG_INIT;
  config.mode = LARDER_OBJECTS;
  config.hash = hash;
  config.equal = equal;
  config.value_retain = value_retain;
  config.value_release = value_release;
  config.context = &round;
  config.context_release = context_release;
  config.shards = number % 2 ? 4 : 1;
  config.cost_limit = number % 3 ? 0 : LARDER_LIMIT_MOST;
  config.expires = number % 5 == 4;
  config.policy = number % 4 ? LARDER_DEFAULT : LARDER_LRU;
  CHECK(larder_clock_create(&config.clock) == LARDER_OK);
  CHECK(larder_create(&config, &round.cache) == LARDER_OK);
  for (int key = 0; key < KEYS; key++) {
    CHECK(larder_set(round.cache, &names[key], 1, &names[key], 1, 0, NULL) == LARDER_OK);
  }
  pthread_t threads[READERS + 1];
  for (int i = 0; i <= READERS; i++) {
    CHECK(pthread_create(&threads[i], NULL, i < READERS ? read_all : write_all, &round) == 0);
  }
  wait_for(&round, 20);
  larder_value *kept;
  CHECK(larder_get(round.cache, &names[KEYS - 1], 1, &kept) == LARDER_OK);
  CHECK(larder_set_for(round.cache, &names[TOKEN], 1, &names[TOKEN], 1, 0, 1000 * unit, NULL) ==
        LARDER_OK);
  CHECK(is_found(round.cache, TOKEN, false));
  CHECK(larder_clock_advance(config.clock, 1000 * unit) == LARDER_OK);
  round.late = true;
  wait_for(&round, 20);
  /* All values are still there, and follow a rule that comes later. */
  for (int key = KEYS / 2; key < KEYS; key++) CHECK(is_found(round.cache, key, true));
  CHECK(larder_set_expiration(round.cache, 2000 * unit, 1900 * unit, 0) == LARDER_OK);
  for (int key = KEYS / 2; key < KEYS; key++) CHECK(is_found(round.cache, key, true));
  CHECK(larder_clock_advance(config.clock, 1000 * unit) == LARDER_OK);
  for (int key = KEYS / 2; key < KEYS; key++) CHECK(!is_found(round.cache, key, true));
  round.stop = true;
  for (int i = 0; i <= READERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(larder_clock_release(config.clock) == LARDER_OK);
  CHECK(larder_destroy(round.cache) == LARDER_OK);
  CHECK(!round.closed && larder_value_release(kept) == LARDER_OK);
  while (!round.closed) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
  for (int key = 0; key <= KEYS; key++) CHECK(retained[key] == released[key]);
}

int main(int count, char **arguments) {
  unsigned rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 100;
  for (unsigned i = 0; i < rounds; i++) play(i);
  return 0;
}
