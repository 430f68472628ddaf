// SPDX-License-Identifier: Apache-2.0
/* lrd_alloc.h — all memory of the core: small blocks from the allocator, large ones as extents.
 *
 * Every caller handles NULL: it refuses the operation and keeps all entries. Tests make each
 * allocation fail in turn with lrd_alloc_fail_after(). Nothing is allocated or freed under a
 * lock. */
#pragma once

#include "lrd_platform.h"

/// Tells the address sanitizer which parts of a block are out of use.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define LRD_POISON(address, bytes) __asan_poison_memory_region((address), (bytes))
#define LRD_UNPOISON(address, bytes) __asan_unpoison_memory_region((address), (bytes))
#endif
#endif
#ifndef LRD_POISON
#define LRD_POISON(address, bytes) ((void)(address), (void)(bytes))
#define LRD_UNPOISON(address, bytes) ((void)(address), (void)(bytes))
#endif

#pragma clang assume_nonnull begin

/// Blocks of this size and more, aligned to lines, are extents (lrd_extent_map()): pages, tables,
/// histories. The allocator would keep for seconds what those leave behind when they grow. An
/// extent ends with a whole system page, of which a smaller block would waste more than an eighth.
#define LRD_EXTENT_BYTES (8 * LRD_SYSTEM_PAGE)
/// The same for other blocks, the C library's values. They come and go singly, which a mapping
/// makes slow.
#define LRD_SINGLE_EXTENT_BYTES ((size_t)1 << 20)
/// The alignment of every extent. Blocks that need more come from the allocator.
#define LRD_EXTENT_ALIGNMENT ((size_t)4096)

/// `bytes` of memory aligned to `alignment` (a power of two), not cleared; NULL when there is none.
void *_Nullable lrd_alloc(size_t bytes, size_t alignment);

/// lrd_alloc() of memory that whoever writes to it first will wait for: the system provides it in
/// small pages. The first touch of a huge one takes as long as thousands of insertions.
void *_Nullable lrd_alloc_piecemeal(size_t bytes, size_t alignment);

/// The same, cleared.
void *_Nullable lrd_alloc_zeroed(size_t bytes, size_t alignment);

/// Lets the system provide such memory in huge pages, before anybody has written to it.
void lrd_alloc_at_once(void *memory, size_t bytes, size_t alignment);

/// Writes to every page of memory that nobody has used yet. The system then provides the pages now,
/// and later writes do not wait for it.
void lrd_prefault(void *memory, size_t bytes);

/// Frees what lrd_alloc() returned for the same size and alignment.
void lrd_free(void *_Nullable memory, size_t bytes, size_t alignment);

/// Gives memory that the allocator keeps for later back to the system: that of all arenas, and what
/// the calling thread has at hand. Takes microseconds to some milliseconds; with glibc's malloc up
/// to tenths of a second where there are a million free blocks.
void lrd_alloc_give_back(void);

/// For tests: how often that was done.
uint64_t lrd_alloc_times_given_back(void);

/// For tests: after `successes` more allocations of any thread one fails, and then all work again.
/// Negative: none fails.
void lrd_alloc_fail_after(int64_t successes);

#pragma clang assume_nonnull end
