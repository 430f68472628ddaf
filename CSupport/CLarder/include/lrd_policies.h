// SPDX-License-Identifier: Apache-2.0
/* lrd_policies.h — the eviction policies there are, each with the paper it is taken from. */
#pragma once

#include "lrd_policy.h"

#pragma clang assume_nonnull begin

/// Least recently used, exact. Peter J. Denning, "The Working Set Model for Program Behavior",
/// CACM 11(5), 1968, and older; every access moves the entry to the front.
extern const lrd_policy lrd_policy_lru;

/// First in, first out: hits change nothing.
extern const lrd_policy lrd_policy_fifo;

/// First in, first out with a second chance for entries that were hit. F. J. Corbató, "A Paging
/// Experiment with the Multics System", MIT Project MAC, 1968.
extern const lrd_policy lrd_policy_clock;

/// SIEVE. Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU", NSDI 2024.
extern const lrd_policy lrd_policy_sieve;

/// S3-FIFO. Yang, Zhang, Qiu, Yue and Vinayak, "FIFO Queues are All You Need for Cache Eviction",
/// SOSP 2023.
extern const lrd_policy lrd_policy_s3fifo;

/// Least frequently used, and among those the least recently used. O(1) in the manner of Shah,
/// Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme", 2010.
extern const lrd_policy lrd_policy_lfu;

/// 2Q. Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement
/// Algorithm", VLDB 1994.
extern const lrd_policy lrd_policy_two_queue;

/// W-TinyLFU with an adaptive window. Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient
/// Cache Admission Policy", ACM ToS 13(4), 2017; Einziger, Eytan, Friedman and Manes, "Adaptive
/// Software Cache Management", Middleware 2018.
extern const lrd_policy lrd_policy_tiny_lfu;

/// The entry of least cost first, among equals the oldest. Hits change nothing.
extern const lrd_policy lrd_policy_cheapest_first;

/// GreedyDual-Size-Frequency. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-
/// Frequency Caching Policy", HP Laboratories HPL-98-69R1, 1998; the ageing is that of Cao and
/// Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997.
extern const lrd_policy lrd_policy_cost_aware;

/// The expert that would have missed least lately, of several between FIFO queues and CLOCK: see
/// lrd_expert.h and lrd_advisor.h.
extern const lrd_policy lrd_policy_adaptive;

typedef enum lrd_policy_number {
  LRD_POLICY_LRU,
  LRD_POLICY_FIFO,
  LRD_POLICY_CLOCK,
  LRD_POLICY_SIEVE,
  LRD_POLICY_S3FIFO,
  LRD_POLICY_LFU,
  LRD_POLICY_TWO_QUEUE,
  LRD_POLICY_TINY_LFU,
  LRD_POLICY_CHEAPEST_FIRST,
  LRD_POLICY_COST_AWARE,
  LRD_POLICY_ADAPTIVE,
} lrd_policy_number;

/// The policy of that number.
const lrd_policy *lrd_policy_of(lrd_policy_number number);

#pragma clang assume_nonnull end
