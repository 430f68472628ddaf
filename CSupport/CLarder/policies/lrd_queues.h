// SPDX-License-Identifier: Apache-2.0
/* lrd_queues.h — the functions of lrd_policy for plain queues, of which policies take what fits.
 *
 * The order is that of queue 0, then 1, then 2, each from the coldest. New entries go to the hot
 * end of queue 0, entries passed over to that of their queue. The coldest of all is the victim. A
 * replacement keeps place, queue and bits. */
#pragma once

#include "lrd_policy.h"

#pragma clang assume_nonnull begin

void lrd_queues_insert(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);
uint32_t lrd_queues_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted);
uint32_t lrd_queues_victim(lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                            uint32_t id);
/// `exchange` for an order of queue 0 alone.
uint32_t lrd_queues_exchange(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);
/// Moves an entry to the hot end of its queue: `pass`, and `renew` where hits do so.
void lrd_queues_pass(lrd_order *order, lrd_pool *pool, lrd_entry *entry);
uint32_t lrd_queues_drain(lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_hottest(const lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_coldest(const lrd_order *order, lrd_pool *pool);
uint32_t lrd_queues_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
uint32_t lrd_queues_hotter(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
void lrd_queues_check(const lrd_order *order, lrd_pool *pool);

/// Members of most policies: the walks, all that most have in common, and all but `victim` of those
/// with a single queue.
#define LRD_POLICY_WALKS_QUEUES                                                                    \
  .drain = lrd_queues_drain, .hottest = lrd_queues_hottest, .coldest = lrd_queues_coldest,         \
  .colder = lrd_queues_colder, .hotter = lrd_queues_hotter
#define LRD_POLICY_OF_QUEUES LRD_POLICY_WALKS_QUEUES, .replace = lrd_queues_replace
#define LRD_POLICY_OF_ONE_QUEUE                                                                    \
  LRD_POLICY_OF_QUEUES, .insert = lrd_queues_insert, .remove = lrd_queues_remove,                  \
      .pass = lrd_queues_pass, .check = lrd_queues_check

#pragma clang assume_nonnull end
