// SPDX-License-Identifier: Apache-2.0
/* inside.c — what larder.h says of the inside and no caller can see: the number of shards.
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrdc_cache.h"

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
  uint32_t chosen = lrd_cache_choose_shards(lrd_policy_adaptive(), many, lrd_processors());
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

int main(void) {
  check_shards();
  printf("The inside is as larder.h says.\n");
}
