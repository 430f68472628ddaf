// SPDX-License-Identifier: Apache-2.0
/* CMemory.h — how much memory the process may use: that of the machine, or less if a control
 * group limits it (in a container, for example). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The bytes of memory that this process may use; 1 GiB if the system does not tell. Reads a few
/// small files on Linux.
uint64_t lrd_memory_size(void);

/// The lowest limit, in bytes, of the control groups listed in the file `membership` (such as
/// /proc/self/cgroup) and of the groups around them, which are directories under `mount` (such as
/// /sys/fs/cgroup). UINT64_MAX if there is none. Knows both versions of control groups. A file that
/// cannot be read sets no limit.
uint64_t lrd_memory_of_groups(const char *membership, const char *mount);

#pragma clang assume_nonnull end
