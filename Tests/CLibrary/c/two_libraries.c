// SPDX-License-Identifier: Apache-2.0
/* two_libraries.c — the static library in this program beside the shared one in a plugin. Both
 * work, on the same threads. Neither accepts the other's caches.
 *
 *     two_libraries PLUGIN apart      the plugin is opened at run time: there are two copies
 *     two_libraries PLUGIN together   it was linked: there may be one copy or two */
#include "check.h"

#include <dlfcn.h>
#include <larder.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static larder_cache *cache;
static larder_cache *(*plugin_open)(void);
static void (*plugin_use)(unsigned number);
static larder_status (*plugin_get)(larder_cache *other);
static void (*plugin_close)(void);

static void *find(void *plugin, const char *name) {
  void *function = dlsym(plugin, name);
  CHECK(function);
  return function;
}

static void use(unsigned number) {
  uint64_t key = number % 300, found;
  CHECK(larder_set(cache, &key, sizeof key, &key, sizeof key, 1, NULL) >= 0);
  larder_status status = larder_read(cache, &key, sizeof key, &found, sizeof found, NULL);
  CHECK(status == LARDER_NOT_FOUND || (status == LARDER_OK && found == key));
}

static void *work(void *context) {
  unsigned seed = *(unsigned *)context;
  for (unsigned i = 0; i < 100000; i++) {
    use(i * seed);
    plugin_use(i * seed);
  }
  return NULL;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  bool apart = strcmp(argv[2], "apart") == 0;
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) fprintf(stderr, "%s\n", dlerror());
  CHECK(plugin);
  *(void **)&plugin_open = find(plugin, "plugin_open");
  *(void **)&plugin_use = find(plugin, "plugin_use");
  *(void **)&plugin_get = find(plugin, "plugin_get");
  *(void **)&plugin_close = find(plugin, "plugin_close");
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = 100;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  larder_cache *other = plugin_open();
  larder_value *value;
  larder_status here = larder_get(other, "key", 3, &value), there = plugin_get(cache);
  CHECK(here == there && here == (here < 0 ? LARDER_FOREIGN : LARDER_NOT_FOUND));
  if (apart) CHECK(here == LARDER_FOREIGN && larder_destroy(other) == LARDER_FOREIGN);
  pthread_t threads[3];
  unsigned seeds[3] = {1, 7, 11};
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, &seeds[i]) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  plugin_close();
  use(1);
  CHECK(larder_destroy(cache) == LARDER_OK);
  // Unloading the plugin does not unload liblarder.so: its background thread goes on.
  CHECK(dlclose(plugin) == 0);
  printf("Static and shared library %s.\n", here < 0 ? "are two copies" : "are one copy");
}
