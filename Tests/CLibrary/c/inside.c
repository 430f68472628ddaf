// SPDX-License-Identifier: Apache-2.0
/* inside.c — what larder.h says and no caller can see: the number of shards, what counts as
 * overhead, and who keeps the memory of a cache.
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrdc_value.h"
#include "sizes.h"

static uint32_t shards(uint32_t policy, uint64_t count_limit, uint32_t asked) {
  larder_config config = LARDER_CONFIG_INIT;
  config.policy = policy;
  config.count_limit = count_limit;
  config.cost_limit = LARDER_LIMIT_MOST;
  config.shards = asked;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  uint32_t made = lrd_cache_shards(cache->core);
  CHECK(larder_destroy(cache) == LARDER_OK);
  return made;
}

static void check_shards(void) {
  const uint64_t many = (uint64_t)1 << 20;
  uint32_t chosen =
      lrd_cache_choose_shards(lrd_policy_of(LRD_POLICY_ADAPTIVE), many, lrd_processors());
  CHECK(chosen > 1);
  CHECK(shards(LARDER_DEFAULT, many, 0) == chosen && shards(LARDER_ADAPTIVE, many, 0) == chosen);
  CHECK(shards(LARDER_ADAPTIVE, 1000, 0) == 1 && shards(LARDER_ADAPTIVE, 0, 0) == 1);
  for (uint32_t policy = LARDER_LRU; policy < LARDER_ADAPTIVE; policy++) {
    if (larder_supports_policy(policy) == LARDER_OK) CHECK(shards(policy, many, 0) == 1);
  }
  for (uint32_t asked = 1; asked <= LARDER_SHARDS_MOST; asked++) {
    uint32_t made = shards(LARDER_LRU, many, asked);
    CHECK(made >= asked && made < 2 * asked && (made & (made - 1)) == 0);
  }
}

/* The overhead beyond what the core holds. Nothing else may run meanwhile. */
static uint64_t overhead_of_values(larder_cache *cache) {
  larder_statistics told = {.size = sizeof told};
  CHECK(larder_get_statistics(cache, &told) == LARDER_OK);
  lrd_statistics core = lrd_cache_statistics(cache->core);
  uint64_t of_core = core.pool_bytes + core.table_bytes + core.policy_bytes;
  CHECK(told.overhead_bytes >= of_core && told.waiting == core.waiting);
  return told.overhead_bytes - of_core;
}

static void check_overhead(uint32_t mode, uint64_t head) {
  larder_config config = LARDER_CONFIG_INIT;
  config.mode = mode;
  config.count_limit = 2000;
  if (mode == LARDER_OBJECTS) config.hash = sizes_hash, config.equal = sizes_equal;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  CHECK(overhead_of_values(cache) == 0);
  static const char key[1000], value[70];
  for (uint64_t size = 1; size <= 1000; size++) {
    CHECK(larder_set(cache, key, size, value, sizeof value, 0, NULL) == LARDER_OK);
  }
  CHECK(overhead_of_values(cache) == 1000 * head);
  larder_value *hand;
  CHECK(larder_get(cache, key, 1, &hand) == LARDER_OK);
  CHECK(larder_remove_all(cache) == LARDER_OK && larder_reclaim(cache) == LARDER_OK);
  CHECK(overhead_of_values(cache) == 0);
  CHECK(larder_value_release(hand) == LARDER_OK && larder_destroy(cache) == LARDER_OK);
}

/* While the core moves a value to another slot, two entries have it. If one of them is lost by
 * fork(), with the thread that was to destroy it, nothing else may be counted wrong. */
static void check_shared(void) {
  larder_config config = LARDER_CONFIG_INIT;
  larder_cache *cache;
  larder_value *value;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  const lrdc_key key = {.data = "k", .size = 1};
  CHECK(lrdc_value_make(cache, &key, "v", 1, 0, &value) == LARDER_OK);
  uint64_t references = LRD_LOAD(&cache->references);
  CHECK(!lrdc_value_is_held(value));
  lrdc_value_share(value);
  lrdc_value_share(value);
  CHECK(!lrdc_value_is_held(value));
  lrdc_value_pin(value);
  CHECK(lrdc_value_is_held(value));
  /* From the first that leaves on, the caller's value refers to the cache. */
  for (int entries = 3; entries > 0; entries--) {
    lrdc_value_leave(value);
    CHECK(lrdc_value_is_held(value) == (entries > 1));
    CHECK(LRD_LOAD(&cache->references) == references + 1);
  }
  lrdc_value_unpin(value);
  CHECK(LRD_LOAD(&cache->references) == references);
  /* Nobody holds this one. The last entry destroys it. */
  CHECK(lrdc_value_make(cache, &key, "v", 1, 0, &value) == LARDER_OK);
  lrdc_value_share(value);
  lrdc_value_leave(value);
  lrdc_value_leave(value);
  CHECK(LRD_LOAD(&cache->references) == references);
  /* One of its entries is lost, and the caller outlives the cache. */
  CHECK(lrdc_value_make(cache, &key, "v", 1, 0, &value) == LARDER_OK);
  lrdc_value_share(value);
  lrdc_value_pin(value);
  lrdc_value_leave(value);
  CHECK(larder_destroy(cache) == LARDER_OK);
  const void *data;
  CHECK(larder_value_data(value, &data, NULL) == LARDER_OK && !memcmp(data, "v", 1));
  lrdc_value_unpin(value);
  lrdc_value_leave(value);
}

int main(void) {
  check_shards();
  check_shared();
  check_overhead(LARDER_BYTES, 32);
  check_overhead(LARDER_OBJECTS, 48);
  printf("The inside is as larder.h says.\n");
}
