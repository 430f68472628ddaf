// SPDX-License-Identifier: Apache-2.0
#include "lrd_policies.h"

const lrd_policy *lrd_policy_of(lrd_policy_number number) {
  static const lrd_policy *const policies[] = {
      [LRD_POLICY_LRU] = &lrd_policy_lru,
      [LRD_POLICY_FIFO] = &lrd_policy_fifo,
      [LRD_POLICY_CLOCK] = &lrd_policy_clock,
      [LRD_POLICY_SIEVE] = &lrd_policy_sieve,
      [LRD_POLICY_S3FIFO] = &lrd_policy_s3fifo,
      [LRD_POLICY_LFU] = &lrd_policy_lfu,
      [LRD_POLICY_TWO_QUEUE] = &lrd_policy_two_queue,
      [LRD_POLICY_TINY_LFU] = &lrd_policy_tiny_lfu,
      [LRD_POLICY_CHEAPEST_FIRST] = &lrd_policy_cheapest_first,
      [LRD_POLICY_COST_AWARE] = &lrd_policy_cost_aware,
      [LRD_POLICY_ADAPTIVE] = &lrd_policy_adaptive,
  };
  return policies[number];
}
