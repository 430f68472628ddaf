// SPDX-License-Identifier: Apache-2.0
#include "lrdc_policy.h"

/// One line for each policy that the core has.
static const lrd_policy *(*const policies[])(void) = {
    [LARDER_DEFAULT] = lrd_policy_adaptive,
    [LARDER_LRU] = lrd_policy_lru,
    [LARDER_FIFO] = lrd_policy_fifo,
    [LARDER_LFU] = lrd_policy_lfu,
    [LARDER_CLOCK] = lrd_policy_clock,
    [LARDER_SIEVE] = lrd_policy_sieve,
    [LARDER_S3FIFO] = lrd_policy_s3fifo,
    [LARDER_TINYLFU] = lrd_policy_tiny_lfu,
    [LARDER_TWO_QUEUE] = lrd_policy_two_queue,
    [LARDER_CHEAPEST_FIRST] = lrd_policy_cheapest_first,
    [LARDER_COST_AWARE] = lrd_policy_cost_aware,
    [LARDER_ADAPTIVE] = lrd_policy_adaptive,
};

const lrd_policy *lrdc_policy(uint32_t number) {
  bool known = number < sizeof policies / sizeof *policies && policies[number];
  return known ? policies[number]() : NULL;
}

larder_status larder_supports_policy(uint32_t policy) {
  return lrdc_policy(policy) ? LARDER_OK : LARDER_UNSUPPORTED;
}
