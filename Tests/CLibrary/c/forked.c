/* SPDX-License-Identifier: Apache-2.0 */
/* forked.c — what caches owe at a fork() comes in the child, too, although it only looks keys up:
 * what has expired leaves, and what waited for readers is released. */
#include "check.h"

#include <larder.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 100 };

static int removed_count, released_count;

static void removed(void *context, larder_value *value, int32_t cause) {
  (void)context, (void)value;
  CHECK(cause == LARDER_CAUSE_EXPIRED);
  __atomic_fetch_add(&removed_count, 1, __ATOMIC_RELAXED);
}

static void value_release(void *context, const void *value, uint64_t size) {
  (void)context, (void)value, (void)size;
  __atomic_fetch_add(&released_count, 1, __ATOMIC_RELAXED);
}

static uint64_t hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)size;
  return (uint64_t)(uintptr_t)key;
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context, (void)a_size, (void)b_size;
  return a == b;
}

/* Keys and values are addresses in here. */
static char objects[KEYS];

static void look_up(larder_cache *cache, int key) {
  larder_value *value;
  if (larder_get(cache, &objects[key], 0, &value) == LARDER_OK) larder_value_release(value);
}

static larder_cache *filled(larder_config config) {
  larder_cache *cache;
  config.mode = LARDER_OBJECTS;
  config.hash = hash;
  config.equal = equal;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (int key = 0; key < KEYS; key++) {
    CHECK(larder_set(cache, &objects[key], 0, &objects[key], 0, 0, NULL) == LARDER_OK);
  }
  look_up(cache, 1);
  return cache;
}

/* Forks, and in each process looks a key up until `is_done`. In the parent `*count` comes to `most`
 * then: the background thread may have some in hand. */
static void fork_and_wait(larder_cache *cache, bool (*is_done)(larder_cache *cache),
                          const int *count, int most) {
  pid_t child = fork();
  CHECK(child >= 0);
  alarm(120); /* whoever waits for ever is found out */
  while (!is_done(cache)) {
    look_up(cache, 1);
    usleep(1000);
  }
  if (!child) _exit(0);
  while (__atomic_load_n(count, __ATOMIC_RELAXED) < most) usleep(1000);
  CHECK(__atomic_load_n(count, __ATOMIC_RELAXED) == most);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
  alarm(0);
}

static bool all_have_left(larder_cache *cache) {
  uint64_t count;
  CHECK(larder_get_count(cache, &count) == LARDER_OK);
  return !count;
}

static void check_expired(void) {
  larder_config config = LARDER_CONFIG_INIT;
  config.removed = removed;
  config.after_write = 100000000;
  larder_cache *cache = filled(config);
  fork_and_wait(cache, all_have_left, &removed_count, KEYS);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

/* What the background thread had in hand is lost in the child. */
static bool nothing_waits(larder_cache *cache) {
  larder_statistics statistics = {.size = sizeof statistics};
  CHECK(larder_get_statistics(cache, &statistics) == LARDER_OK);
  return !statistics.waiting;
}

static pthread_barrier_t barrier;

/* While another thread uses the cache, what is removed waits. */
static void *stay(void *cache) {
  look_up(cache, 1);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return NULL;
}

static void check_waiting(void) {
  larder_config config = LARDER_CONFIG_INIT;
  config.value_release = value_release;
  larder_cache *cache = filled(config);
  pthread_t thread;
  CHECK(pthread_barrier_init(&barrier, NULL, 2) == 0);
  CHECK(pthread_create(&thread, NULL, stay, cache) == 0);
  pthread_barrier_wait(&barrier);
  for (int key = KEYS / 2; key < KEYS; key++) {
    CHECK(larder_remove(cache, &objects[key], 0, NULL) == LARDER_OK);
  }
  fork_and_wait(cache, nothing_waits, &released_count, KEYS / 2);
  pthread_barrier_wait(&barrier);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

int main(void) {
  check_expired();
  check_waiting();
  return 0;
}
