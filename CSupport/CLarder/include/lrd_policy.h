// SPDX-License-Identifier: Apache-2.0
/* lrd_policy.h — what an eviction policy is: a few functions over the lists and bits of one shard.
 *
 * All run under the shard's lock, take bounded time, and neither allocate nor free. A policy links
 * and orders entries; it does not touch the table, the limits or the entries' lives. A policy that
 * counts hits in the entry uses `policy_bits`; one that orders by recency gets `access` calls, from
 * the threads' batches of hits, oldest first. */
#pragma once

#include "lrd_list.h"

#pragma clang assume_nonnull begin

/// The lists a policy keeps in each shard. Guard: the shard's lock.
typedef struct lrd_order {
  lrd_list recency;
} lrd_order;

typedef struct lrd_policy {
  void (*open)(lrd_order *order);
  /// Links a new entry that sits in slot `id`.
  void (*insert)(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);
  /// Unlinks an entry; returns its slot id.
  uint32_t (*remove)(lrd_order *order, lrd_pool *pool, lrd_entry *entry);
  /// Notes `count` hits, oldest first.
  void (*access)(lrd_order *order, lrd_pool *pool, lrd_entry *_Nonnull const *_Nonnull entries,
                 uint32_t count);
  /// The slot id of the entry to evict next, LRD_NIL when there is none. Leaves it linked.
  uint32_t (*victim)(const lrd_order *order);
  /// The order in which snapshots list a shard, from either end; LRD_NIL behind the last.
  uint32_t (*hottest)(const lrd_order *order);
  uint32_t (*coldest)(const lrd_order *order);
  uint32_t (*colder)(const lrd_order *order, const lrd_entry *entry);
  uint32_t (*hotter)(const lrd_order *order, const lrd_entry *entry);
} lrd_policy;

/// Least recently used, exact. Peter J. Denning, "The Working Set Model for Program Behavior",
/// CACM 11(5), 1968, and older; every access moves the entry to the front.
const lrd_policy *lrd_policy_lru(void);

#pragma clang assume_nonnull end
