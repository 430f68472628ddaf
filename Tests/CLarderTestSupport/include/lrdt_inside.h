// SPDX-License-Identifier: Apache-2.0
/* lrdt_inside.h — windows into locks, pools, shards and tables.
 *
 * Functions that read a shard's fields take its lock, unless their name ends in _locked. */
#pragma once

#include "../../../CSupport/CLarder/shard/lrd_growth.h"
#include "CLarder.h"

#pragma clang assume_nonnull begin

/// A lock that nothing else uses, and that is free.
lrd_lock *lrdt_lock_create(void);
void lrdt_lock_destroy(lrd_lock *lock);
uint32_t lrdt_lock_word(const lrd_lock *lock);

/// An empty pool that no cache uses. NULL without memory.
lrd_pool *_Nullable lrdt_pool_create(size_t entry_bytes, size_t alignment);
lrd_pool *_Nullable lrdt_pool_create_costed(size_t entry_bytes, size_t alignment, bool costed);
void lrdt_pool_destroy(lrd_pool *pool);
size_t lrdt_pool_stride(const lrd_pool *pool);
/// How many page numbers the pool has given out.
uint32_t lrdt_pool_pages(const lrd_pool *pool);
uint32_t lrdt_pool_directory_capacity(const lrd_pool *pool);

/// A cache without limits, with the exact order, whose entries have `entry_bytes` and whose hooks
/// do nothing; NULL without memory.
lrd_cache *_Nullable lrdt_cache_create(uint32_t shards, size_t entry_bytes);
lrd_cache *_Nullable lrdt_cache_create_with(const lrd_policy *policy, uint32_t shards,
                                            size_t entry_bytes);
lrd_pool *lrdt_cache_pool(lrd_cache *cache);

/// The table that readers of the shard start from, and the one that it moves to.
lrd_table *lrdt_shard_root(lrd_shard *shard);
lrd_table *_Nullable lrdt_table_next(const lrd_table *table);
uint64_t lrdt_table_buckets(const lrd_table *table);
uint64_t lrdt_table_moved_locked(const lrd_table *table);
uint32_t lrdt_table_chunks_locked(const lrd_table *table);
uint32_t lrdt_table_overflow_used_locked(const lrd_table *table);

/// The number of entries in a shard.
uint64_t lrdt_shard_count(lrd_shard *shard);
/// The number of entries that were removed from a shard and wait for destruction.
uint64_t lrdt_shard_retired(lrd_shard *shard);
/// The number of these that a scan has looked at.
uint64_t lrdt_shard_scanned(lrd_shard *shard);
/// The ticket that the entries in the shard's limbo were given last.
uint64_t lrdt_shard_ticket(lrd_shard *shard);

/// The entries that the shard had ever removed when it was last visited.
uint64_t lrdt_shard_visited(lrd_shard *shard);
/// The number of tables of a shard that wait for destruction.
uint64_t lrdt_shard_retired_tables(lrd_shard *shard);

/// Enters the shard's table as a lookup does, and stays inside. Returns the table that is
/// protected.
lrd_table *lrdt_table_enter(lrd_lane *lane, lrd_shard *shard);
void lrdt_table_leave(lrd_lane *lane);

/// True when the system has provided all memory of a table.
bool lrdt_table_is_resident(const lrd_table *table);

/// Reads every main bucket of a table. The result means nothing.
uint64_t lrdt_table_read(const lrd_table *table);

/// The size of the table that a shard asks for whose table has `buckets` and `count` entries; 0 if
/// it asks for none.
uint64_t lrdt_shrunk_buckets(uint64_t buckets, uint64_t count);

/// Has a shard's history renewed by a larger one, then by one of the first size, with one supply.
/// True if each was asked for, and the last one is cleared memory.
bool lrdt_renew_there_and_back(void);

/// Calls lrd_relief_pause().
uint64_t lrdt_relief_pause(uint64_t took);

/// The entry that the next loan slot of the calling thread protects.
const void *_Nullable lrdt_lane_hazard(const lrd_lane *lane);

/// From now on asks `is_held` whether somebody beside the cache holds a value, under the shard's
/// lock.
void lrdt_set_is_held(lrd_cache *cache,
                      bool (*is_held)(void *_Nullable context, const lrd_entry *entry));

#pragma clang assume_nonnull end
