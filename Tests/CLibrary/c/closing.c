/* SPDX-License-Identifier: Apache-2.0 */
/* closing.c — destroys caches while the library's own thread tells of what has expired by the
 * system's clock, and while other threads report memory pressure. No callback may run after
 * larder_destroy() has returned.
 *
 *     closing ROUNDS */
#include "check.h"

#include <larder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { VALUES = 64 };

typedef struct watch {
  atomic_long told;
  atomic_bool inside;   /* the library's thread is in the callback */
  atomic_bool closed;   /* larder_destroy() has returned */
  atomic_bool dropped;  /* the context was released */
  atomic_bool filled;   /* nobody else uses the cache any more */
  larder_cache *victim; /* the cache that the callback destroys */
} watch;

static void nap(long nanoseconds) {
  nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* True on the thread that fills and destroys. Its insertions also remove what has expired. */
static _Thread_local bool is_owner;

static void removed(void *context, larder_value *value, int32_t cause) {
  watch *watch = context;
  const void *data;
  uint64_t size;
  CHECK(!watch->closed && !watch->dropped);
  CHECK(cause == LARDER_CAUSE_EXPIRED && larder_value_data(value, &data, &size) == LARDER_OK);
  CHECK(size == sizeof(int));
  if (is_owner) return;
  watch->told++;
  watch->inside = true;
  while (!watch->filled) nap(50000);
  if (watch->victim) {
    CHECK(larder_destroy(watch->victim) == LARDER_OK);
    watch->victim = NULL;
  } else {
    nap(200000); /* time enough for larder_destroy() to return, if it did not wait */
  }
  CHECK(!watch->closed && !watch->dropped);
}

static void dropped(void *context) {
  watch *watch = context;
  watch->dropped = true;
}

static larder_cache *fill(watch *watch, bool kills) {
  larder_config config = LARDER_CONFIG_INIT;
  larder_cache *cache;
  config.context = watch;
  config.removed = removed;
  config.context_release = dropped;
  config.expires = 1;
  config.shards = 4;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  if (kills) watch->victim = cache;
  for (int key = 0; key < VALUES; key++) {
    CHECK(larder_set(cache, &key, sizeof key, &key, sizeof key, 0, NULL) == LARDER_OK);
  }
  /* Not earlier: a write may remove what has expired, and call back on this thread. */
  for (int key = 0; key < VALUES; key++) {
    CHECK(larder_set_lifetime(cache, &key, sizeof key, 1000000) == LARDER_OK);
  }
  watch->filled = true;
  return cache;
}

/* Destroys a cache while its callback runs on the library's thread. */
static void destroy_amid(void) {
  watch watch = {0};
  larder_cache *cache = fill(&watch, false);
  while (!watch.inside) nap(50000);
  CHECK(larder_destroy(cache) == LARDER_OK);
  watch.closed = true;
  long told = watch.told;
  CHECK(told > 0);
  while (!watch.dropped) nap(50000); /* `watch` is on this stack */
  CHECK(watch.told == told);
}

static void gave_up(void *context, larder_value *value, int32_t cause) {
  watch *watch = context;
  (void)value;
  CHECK(!watch->closed && !watch->dropped && cause == LARDER_CAUSE_PRESSURE);
  watch->told++;
  watch->inside = true;
  nap(200000);
  CHECK(!watch->closed && !watch->dropped);
}

static double half(void *context, int32_t level) {
  watch *watch = context;
  CHECK(!watch->closed && !watch->dropped && level == LARDER_WARNING);
  watch->inside = true;
  nap(200000);
  CHECK(!watch->closed && !watch->dropped);
  return 0.5;
}

static void *report(void *unused) {
  (void)unused;
  CHECK(larder_report_pressure(LARDER_WARNING) == LARDER_OK);
  return NULL;
}

/* Destroys caches while two threads report that memory is short, evict, and ask what to do. */
static void destroy_under_pressure(bool asks) {
  watch watch = {0};
  larder_config config = LARDER_CONFIG_INIT;
  larder_pressure_response response = {.size = sizeof response, .warning = 0.5, .critical = 0.1};
  larder_cache *cache;
  pthread_t reporters[2];
  config.context = &watch;
  config.removed = gave_up;
  config.context_release = dropped;
  response.respond = asks ? half : NULL;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(larder_set_pressure_response(cache, &response) == LARDER_OK);
  for (int key = 0; key < VALUES; key++) {
    CHECK(larder_set(cache, &key, sizeof key, &key, sizeof key, 0, NULL) == LARDER_OK);
  }
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&reporters[i], NULL, report, NULL) == 0);
  while (!watch.inside) nap(50000);
  CHECK(larder_destroy(cache) == LARDER_OK);
  watch.closed = true;
  for (int i = 0; i < 2; i++) pthread_join(reporters[i], NULL);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  while (!watch.dropped) nap(50000);
}

/* The callback destroys the cache that calls it. That call must not wait for the callback. */
static void destroy_inside(void) {
  watch watch = {0};
  fill(&watch, true);
  while (!watch.dropped) nap(50000);
  CHECK(watch.told > 0 && watch.told <= VALUES);
}

int main(int count, char **arguments) {
  is_owner = true;
  int rounds = count > 1 ? atoi(arguments[1]) : 100;
  for (int i = 0; i < rounds; i++) {
    destroy_amid();
    destroy_inside();
    destroy_under_pressure(i % 2);
  }
  return 0;
}
