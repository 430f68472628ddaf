// SPDX-License-Identifier: Apache-2.0
/* lrdt_platform.h — the system as it is elsewhere: old kernels and sandboxes without membarrier. */
#pragma once

#include <stdbool.h>

/// Makes membarrier(2) fail in this process from now on, by a seccomp filter, as a container's
/// policy may. False where that cannot be had. Call it before the first use of a cache.
bool lrdt_forbid_membarrier(void);

/// True when the core found membarrier.
bool lrdt_has_asymmetric_fence(void);
