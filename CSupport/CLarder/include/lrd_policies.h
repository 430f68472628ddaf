// SPDX-License-Identifier: Apache-2.0
/* lrd_policies.h — the eviction policies there are, each with the paper it is taken from. */
#pragma once

#include "lrd_policy.h"

#pragma clang assume_nonnull begin

/// Least recently used, exact. Peter J. Denning, "The Working Set Model for Program Behavior",
/// CACM 11(5), 1968, and older; every access moves the entry to the front.
const lrd_policy *lrd_policy_lru(void);

/// First in, first out: hits change nothing.
const lrd_policy *lrd_policy_fifo(void);

/// First in, first out with a second chance for entries that were hit. F. J. Corbató, "A Paging
/// Experiment with the Multics System", MIT Project MAC, 1968.
const lrd_policy *lrd_policy_clock(void);

/// SIEVE. Zhang, Yang, Yue, Vigfusson and Rashmi, "SIEVE is Simpler than LRU", NSDI 2024.
const lrd_policy *lrd_policy_sieve(void);

/// S3-FIFO. Yang, Zhang, Qiu, Yue and Vinayak, "FIFO Queues are All You Need for Cache Eviction",
/// SOSP 2023.
const lrd_policy *lrd_policy_s3fifo(void);

/// Least frequently used, and among those the least recently used. O(1) in the manner of Shah,
/// Mitra and Matani, "An O(1) algorithm for implementing the LFU cache eviction scheme", 2010.
const lrd_policy *lrd_policy_lfu(void);

/// 2Q. Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement
/// Algorithm", VLDB 1994.
const lrd_policy *lrd_policy_two_queue(void);

/// W-TinyLFU with an adaptive window. Einziger, Friedman and Manes, "TinyLFU: A Highly Efficient
/// Cache Admission Policy", ACM ToS 13(4), 2017; Einziger, Eytan, Friedman and Manes, "Adaptive
/// Software Cache Management", Middleware 2018.
const lrd_policy *lrd_policy_tiny_lfu(void);

/// The entry of least cost first, among equals the oldest. Hits change nothing.
const lrd_policy *lrd_policy_cheapest_first(void);

/// GreedyDual-Size-Frequency. Cherkasova, "Improving WWW Proxies Performance with Greedy-Dual-Size-
/// Frequency Caching Policy", HP Laboratories HPL-98-69R1, 1998; the ageing is that of Cao and
/// Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997.
const lrd_policy *lrd_policy_cost_aware(void);

/// The expert that would have missed least lately, of several between FIFO queues and CLOCK: see
/// lrd_expert.h and lrd_advisor.h.
const lrd_policy *lrd_policy_adaptive(void);

#pragma clang assume_nonnull end
