// SPDX-License-Identifier: Apache-2.0
/* lrdt_inside.h — windows into locks, pools, shards and tables.
 *
 * Functions that read a shard's fields take its lock, unless their name ends in _locked. */
#pragma once

#include "../../../CSupport/CLarder/shard/lrd_growth.h"
#include "CLarder.h"

#pragma clang assume_nonnull begin

/// A free lock of its own.
lrd_lock *lrdt_lock_create(void);
void lrdt_lock_destroy(lrd_lock *lock);
uint32_t lrdt_lock_word(const lrd_lock *lock);

/// An empty pool of its own; NULL without memory.
lrd_pool *_Nullable lrdt_pool_create(size_t entry_bytes, size_t alignment);
lrd_pool *_Nullable lrdt_pool_create_costed(size_t entry_bytes, size_t alignment, bool costed);
void lrdt_pool_destroy(lrd_pool *pool);
size_t lrdt_pool_stride(const lrd_pool *pool);
/// Page numbers given out so far.
uint32_t lrdt_pool_pages(const lrd_pool *pool);
uint32_t lrdt_pool_directory_capacity(const lrd_pool *pool);

/// A cache without limits, with the exact order, whose entries have `entry_bytes` and whose hooks
/// do nothing; NULL without memory.
lrd_cache *_Nullable lrdt_cache_create(uint32_t shards, size_t entry_bytes);
lrd_cache *_Nullable lrdt_cache_create_with(const lrd_policy *policy, uint32_t shards,
                                            size_t entry_bytes);
lrd_pool *lrdt_cache_pool(lrd_cache *cache);

/// The table readers of the shard start from, and the one it moves to.
lrd_table *lrdt_shard_root(lrd_shard *shard);
lrd_table *_Nullable lrdt_table_next(const lrd_table *table);
uint64_t lrdt_table_buckets(const lrd_table *table);
uint64_t lrdt_table_moved_locked(const lrd_table *table);
uint32_t lrdt_table_chunks_locked(const lrd_table *table);
uint32_t lrdt_table_overflow_used_locked(const lrd_table *table);

/// Entries of one shard.
uint64_t lrdt_shard_count(lrd_shard *shard);
/// Those removed from one shard that wait for destruction.
uint64_t lrdt_shard_retired(lrd_shard *shard);
/// Those of them that a scan has been over.
uint64_t lrdt_shard_scanned(lrd_shard *shard);
/// The ticket that its entries were last given.
uint64_t lrdt_shard_ticket(lrd_shard *shard);
/// Tables of one shard that wait for destruction.
uint64_t lrdt_shard_retired_tables(lrd_shard *shard);

/// Enters the shard's table as a lookup does, and stays inside: returns what it is protected as.
lrd_table *lrdt_table_enter(lrd_lane *lane, lrd_shard *shard);
void lrdt_table_leave(lrd_lane *lane);

/// True when the system has provided all memory of a table.
bool lrdt_table_is_resident(const lrd_table *table);

/// Reads every main bucket of a table; the sum is of no meaning.
uint64_t lrdt_table_read(const lrd_table *table);

/// lrd_relief_pause().
uint64_t lrdt_relief_pause(uint64_t took);

/// The entry the calling thread's next loan slot protects now.
const void *_Nullable lrdt_lane_hazard(const lrd_lane *lane);

#pragma clang assume_nonnull end
