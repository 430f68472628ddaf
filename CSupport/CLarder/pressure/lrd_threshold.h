// SPDX-License-Identifier: Apache-2.0
/* lrd_threshold.h — wakes when the usage of a control group of version 1 crosses a threshold. */
#pragma once

#include "lrd_group.h"

#pragma clang assume_nonnull begin

/// The file that has the usage of such a group.
#define LRD_USAGE_FILE "memory.usage_in_bytes"

/// Opens a descriptor that becomes readable when the usage crosses so many thousandths of the
/// group's limit, and `*other`, which belongs to it. If it cannot, both are -1, and errno says why.
int lrd_threshold_open(const lrd_group *group, uint32_t permille, int *other);

#pragma clang assume_nonnull end
