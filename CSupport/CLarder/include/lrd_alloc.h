// SPDX-License-Identifier: Apache-2.0
/* lrd_alloc.h — the only door to memory: small blocks from the allocator, large ones as extents.
 *
 * Every caller handles NULL: the operation is refused and what is stored stays. Tests make each
 * allocation fail in turn with lrd_alloc_fail_after(). Nothing is allocated or freed under a lock.
 */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// From this size on, memory comes from the system, in huge pages as far as it fills them, and not
/// from the allocator, which would keep what growing tables leave behind.
#define LRD_EXTENT_BYTES ((size_t)1 << 20)
/// What every extent is aligned to; more is left to the allocator.
#define LRD_EXTENT_ALIGNMENT ((size_t)4096)

/// `bytes` of memory aligned to `alignment` (a power of two), not cleared; NULL when there is none.
void *_Nullable lrd_alloc(size_t bytes, size_t alignment);

/// As lrd_alloc(), cleared.
void *_Nullable lrd_alloc_zeroed(size_t bytes, size_t alignment);

/// Has the system provide memory that lrd_alloc() returned and nobody has written to: the first
/// writes then wait for nothing. Clears it in part.
void lrd_prefault(void *memory, size_t bytes);

/// Frees what lrd_alloc() returned for the same size and alignment.
void lrd_free(void *_Nullable memory, size_t bytes, size_t alignment);

/// For tests: the allocation after `successes` more ones fails, then all work again. Negative: none
/// fails. Counts over all threads.
void lrd_alloc_fail_after(int64_t successes);

#pragma clang assume_nonnull end
