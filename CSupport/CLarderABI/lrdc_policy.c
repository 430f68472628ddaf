// SPDX-License-Identifier: Apache-2.0
#include "lrdc_policy.h"

/// One line for each policy that the core has; the first number is 1.
static const uint8_t numbers[] = {
    [LARDER_DEFAULT] = 1 + LRD_POLICY_ADAPTIVE,
    [LARDER_LRU] = 1 + LRD_POLICY_LRU,
    [LARDER_FIFO] = 1 + LRD_POLICY_FIFO,
    [LARDER_LFU] = 1 + LRD_POLICY_LFU,
    [LARDER_CLOCK] = 1 + LRD_POLICY_CLOCK,
    [LARDER_SIEVE] = 1 + LRD_POLICY_SIEVE,
    [LARDER_S3FIFO] = 1 + LRD_POLICY_S3FIFO,
    [LARDER_TINYLFU] = 1 + LRD_POLICY_TINY_LFU,
    [LARDER_TWO_QUEUE] = 1 + LRD_POLICY_TWO_QUEUE,
    [LARDER_CHEAPEST_FIRST] = 1 + LRD_POLICY_CHEAPEST_FIRST,
    [LARDER_COST_AWARE] = 1 + LRD_POLICY_COST_AWARE,
    [LARDER_ADAPTIVE] = 1 + LRD_POLICY_ADAPTIVE,
};

const lrd_policy *lrdc_policy(uint32_t number) {
  bool known = number < sizeof numbers && numbers[number];
  return known ? lrd_policy_of(numbers[number] - 1u) : NULL;
}

larder_status larder_supports_policy(uint32_t policy) {
  return lrdc_policy(policy) ? LARDER_OK : LARDER_UNSUPPORTED;
}
