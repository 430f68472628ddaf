// SPDX-License-Identifier: Apache-2.0
/* lrd_memory.h — how much memory the process may use: the machine's, or less where a control group
 * bounds it, as in a container. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// Bytes of memory this process may use at most, as far as the system tells; 1 GiB where it does
/// not. Reads a few small files on Linux.
uint64_t lrd_memory_size(void);

/// The lowest limit of the control groups that `membership` (as /proc/self/cgroup) lists, and of
/// those around them, under `mount` (as /sys/fs/cgroup), in bytes; UINT64_MAX without any. Knows
/// both versions of control groups; what cannot be read bounds nothing.
uint64_t lrd_memory_of_groups(const char *membership, const char *mount);

#pragma clang assume_nonnull end
