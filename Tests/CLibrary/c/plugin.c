// SPDX-License-Identifier: Apache-2.0
/* plugin.c — a shared library that uses liblarder.so for itself, for two_libraries.c. */
#include "check.h"

#include <larder.h>
#include <string.h>

static larder_cache *cache;

__attribute__((visibility("default"))) larder_cache *plugin_open(void) {
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = 50;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  return cache;
}

__attribute__((visibility("default"))) void plugin_use(unsigned number) {
  char text[32], found[32];
  sprintf(text, "key %u", number % 200);
  uint64_t size = strlen(text), found_size;
  CHECK(larder_set(cache, text, size, text, size, 1, NULL) >= 0);
  larder_status status = larder_read(cache, text, size, found, sizeof found, &found_size);
  CHECK(status == LARDER_OK || status == LARDER_NOT_FOUND); /* evicted by another thread */
  if (status == LARDER_OK) CHECK(found_size == size && memcmp(found, text, size) == 0);
}

__attribute__((visibility("default"))) larder_status plugin_get(larder_cache *other) {
  larder_value *value;
  return larder_get(other, "key", 3, &value);
}

__attribute__((visibility("default"))) void plugin_close(void) {
  CHECK(larder_destroy(cache) == LARDER_OK);
}
