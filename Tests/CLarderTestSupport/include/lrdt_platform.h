// SPDX-License-Identifier: Apache-2.0
/* lrdt_platform.h — the system as it is elsewhere: old kernels and sandboxes without membarrier. */
#pragma once

#include "lrd_cache.h"

#include <stdbool.h>
#include <stdint.h>

/// Makes membarrier(2) fail in this process from now on, by a seccomp filter, as a container's
/// policy may. False where that cannot be had. Call it before the first use of a cache.
bool lrdt_forbid_membarrier(void);

/// True when the core found membarrier.
bool lrdt_has_asymmetric_fence(void);

/// Takes the core's variables away from the calling thread, as Darwin does at its end before the
/// core hears of that.
void lrdt_lose_thread_variables(void);

/// The number of the calling thread's record, which it gets if it has none. Numbers of threads that
/// ended are given again, the lowest first or not.
uint32_t lrdt_thread_number(void);

/// True when no other thread has a record.
bool lrdt_thread_is_solitary(void);
