// SPDX-License-Identifier: Apache-2.0
/* pressure.c — what caches evict when memory runs short. Without a response they evict nothing. */
#include "check.h"

#include <larder.h>
#include <math.h>
#include <string.h>

static int causes[8], asked[3];

static void removed(void *context, larder_value *value, int32_t cause) {
  CHECK(context == causes && value && cause > 0 && cause < 8);
  causes[cause]++;
}

static double respond(void *context, int32_t level) {
  CHECK(context == causes);
  asked[level]++;
  return level == LARDER_WARNING ? 0.75 : NAN;
}

static larder_cache *filled(uint64_t count_limit, uint64_t cost_limit) {
  larder_config config = LARDER_CONFIG_INIT;
  config.policy = LARDER_LRU;
  config.count_limit = count_limit;
  config.cost_limit = cost_limit;
  config.context = causes;
  config.removed = removed;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (int key = 0; key < 100; key++) {
    CHECK(larder_set(cache, &key, sizeof key, "v", 1, 10, NULL) == LARDER_OK);
  }
  return cache;
}

static uint64_t count_of(larder_cache *cache) {
  uint64_t count;
  CHECK(larder_get_count(cache, &count) == LARDER_OK);
  return count;
}

static void levels(void) {
  larder_cache *deaf = filled(100, 0), *counted = filled(100, 0), *costed = filled(0, 1000);
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  int key = 3;
  larder_value *held;
  uint64_t limit;
  int32_t level;
  CHECK(larder_set_pressure_response(counted, &response) == LARDER_OK);
  response.minimum_count = 20;
  CHECK(larder_set_pressure_response(costed, &response) == LARDER_OK);
  CHECK(larder_peek(counted, &key, sizeof key, &held) == LARDER_OK);
  CHECK(larder_report_pressure(LARDER_WARNING) == LARDER_OK);
  CHECK(larder_get_pressure(&level) == LARDER_OK && level == LARDER_WARNING);
  CHECK(count_of(deaf) == 100 && count_of(counted) == 50 && count_of(costed) == 50);
  /* What is in hand goes last. */
  CHECK(larder_contains(counted, &key, sizeof key) == LARDER_OK);
  CHECK(larder_value_release(held) == LARDER_OK);
  CHECK(larder_get_effective_count_limit(counted, &limit) == LARDER_OK && limit == 50);
  CHECK(larder_get_count_limit(counted, &limit) == LARDER_OK && limit == 100);
  CHECK(larder_get_effective_cost_limit(costed, &limit) == LARDER_OK && limit == 500);
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK);
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK);
  CHECK(count_of(deaf) == 100 && count_of(counted) == 10 && count_of(costed) == 20);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(count_of(counted) == 10 && causes[LARDER_CAUSE_PRESSURE] == 170);
  larder_statistics statistics;
  statistics.size = sizeof statistics;
  CHECK(larder_get_statistics(counted, &statistics) == LARDER_OK);
  CHECK(statistics.pressure_evictions == 90 && statistics.trim_evictions == 0);
  larder_cache *all[] = {deaf, counted, costed};
  for (int i = 0; i < 3; i++) CHECK(larder_destroy(all[i]) == LARDER_OK);
}

static void callback_and_background(void) {
  larder_cache *cache = filled(100, 0);
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  response.respond = respond;
  response.background = 0.25;
  CHECK(larder_set_pressure_response(cache, &response) == LARDER_OK);
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK && count_of(cache) == 100);
  CHECK(larder_report_pressure(LARDER_WARNING) == LARDER_OK && count_of(cache) == 75);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(asked[LARDER_WARNING] == 1 && asked[LARDER_CRITICAL] == 1 && asked[LARDER_NORMAL] == 0);
  CHECK(larder_background(1) == LARDER_OK && count_of(cache) == 19);
  CHECK(larder_background(0) == LARDER_OK && count_of(cache) == 19);
  CHECK(larder_set_pressure_response(cache, NULL) == LARDER_OK);
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK && count_of(cache) == 19);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

static void set_in_the_background(void) {
  larder_cache *cache = filled(100, 0);
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  uint64_t limit;
  CHECK(larder_background(1) == LARDER_OK && count_of(cache) == 100);
  response.background = 0.1;
  CHECK(larder_set_pressure_response(cache, &response) == LARDER_OK && count_of(cache) == 10);
  CHECK(larder_get_effective_count_limit(cache, &limit) == LARDER_OK && limit == 10);
  response.background = 1;
  CHECK(larder_set_pressure_response(cache, &response) == LARDER_OK && count_of(cache) == 10);
  CHECK(larder_get_effective_count_limit(cache, &limit) == LARDER_OK && limit == 100);
  CHECK(larder_background(0) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

static void bad_input(void) {
  larder_cache *cache = filled(100, 0);
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT, bad = response;
  CHECK(larder_report_pressure(3) == LARDER_BAD_ARGUMENT);
  CHECK(larder_report_pressure(-1) == LARDER_BAD_ARGUMENT);
  CHECK(larder_get_pressure(NULL) == LARDER_BAD_ARGUMENT);
  CHECK(larder_set_pressure_response(NULL, &response) == LARDER_BAD_ARGUMENT);
  bad.warning = NAN;
  CHECK(larder_set_pressure_response(cache, &bad) == LARDER_BAD_ARGUMENT);
  bad = response;
  bad.critical = 1.5;
  CHECK(larder_set_pressure_response(cache, &bad) == LARDER_BAD_ARGUMENT);
  bad = response;
  bad.background = -0.1;
  CHECK(larder_set_pressure_response(cache, &bad) == LARDER_BAD_ARGUMENT);
  bad = response;
  bad.minimum_count = LARDER_LIMIT_MOST + 1;
  CHECK(larder_set_pressure_response(cache, &bad) == LARDER_OUT_OF_RANGE);
  bad = response;
  bad.size = 8;
  CHECK(larder_set_pressure_response(cache, &bad) == LARDER_BAD_SIZE);
  CHECK(larder_report_pressure(LARDER_CRITICAL) == LARDER_OK && count_of(cache) == 100);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
}

int main(void) {
  CHECK(larder_listen(0) == LARDER_OK); /* the state of the machine must not matter */
  levels();
  callback_and_background();
  set_in_the_background();
  bad_input();
  return 0;
}
