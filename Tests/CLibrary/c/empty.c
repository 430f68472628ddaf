// SPDX-License-Identifier: Apache-2.0
/* empty.c — the memory of caches without entries, by what glibc's malloc has given out. It is what
 * larder.h and the article on limits say. */
#define _GNU_SOURCE
#include <larder.h>
#include <malloc.h>

#include "check.h"

enum { CACHES = 100 };

static double used(void) {
  struct mallinfo2 now = mallinfo2();
  return (double)(now.uordblks + now.hblkhd) / 1000;
}

/* KB of a cache, after a first one that may bring what all share. */
static double size_of(uint32_t policy, uint32_t shards, uint64_t after_write) {
  static larder_cache *caches[CACHES + 1];
  larder_config config = LARDER_CONFIG_INIT;
  config.policy = policy;
  config.shards = shards;
  config.cost_limit = 1000000;
  config.after_write = after_write;
  double before = 0;
  for (int i = 0; i <= CACHES; i++) {
    if (i == 1) before = used();
    CHECK(larder_create(&config, &caches[i]) == LARDER_OK);
  }
  double size = (used() - before) / (double)CACHES;
  for (int i = 0; i <= CACHES; i++) CHECK(larder_destroy(caches[i]) == LARDER_OK);
  return size;
}

static void is_about(double size, double said) {
  double error = size < said ? said - size : size - said;
  if (error > 0.1 + said / 50) fprintf(stderr, "%.2f KB, not %.1f\n", size, said);
  CHECK(error <= 0.1 + said / 50);
}

int main(void) {
  const uint64_t minute = 60000000000;
  for (uint32_t policy = LARDER_LRU; policy <= LARDER_ADAPTIVE; policy++) {
    if (larder_supports_policy(policy) != LARDER_OK) continue;
    double one = size_of(policy, 1, 0), two = size_of(policy, 2, 0);
    is_about(one, policy == LARDER_ADAPTIVE ? 3.5 : policy == LARDER_LFU ? 3.7 : 2.7);
    is_about(two - one, policy == LARDER_ADAPTIVE ? 1.1 : policy == LARDER_LFU ? 1.9 : 0.8);
    is_about(size_of(policy, 1, minute) - one, 2.3);
    is_about(size_of(policy, 2, minute) - two, 2 * 2.3);
  }
}
