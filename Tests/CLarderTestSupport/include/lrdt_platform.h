// SPDX-License-Identifier: Apache-2.0
/* lrdt_platform.h — makes the system behave as others do: without membarrier, with small stacks, or
 * as Darwin. */
#pragma once

#include "lrd_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Makes membarrier(2) fail in this process from now on. Uses a seccomp filter, as containers do.
/// False where the system has none. Call it before the first use of a cache.
bool lrdt_forbid_membarrier(void);

/// Gives the threads that are made from now on stacks of this size by default. False where the
/// default cannot be changed.
bool lrdt_set_stack_bytes(size_t bytes);

/// The bytes of the calling thread's stack; 0 where that is not to be had.
size_t lrdt_stack_bytes(void);

/// True when the core found membarrier.
bool lrdt_has_asymmetric_fence(void);

/// Takes the core's thread-local variables away from the calling thread. Darwin does so when a
/// thread ends, before the core hears of the end.
void lrdt_lose_thread_variables(void);

/// The number of the calling thread's record. Gives the thread a record if it has none. The numbers
/// of threads that have ended are given again, in any order.
uint32_t lrdt_thread_number(void);

/// True when no other thread has a record.
bool lrdt_thread_is_solitary(void);
