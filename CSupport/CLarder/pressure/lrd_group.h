// SPDX-License-Identifier: Apache-2.0
/* lrd_group.h — the control group that bounds this process: which one, how much it uses, and what
 * its bound is. Knows both versions. */
#pragma once

#include "lrd_files.h"

#pragma clang assume_nonnull begin

typedef struct lrd_group {
  char path[LRD_PATH_BYTES]; // its directory; "" if there is none
  int version;               // 1 or 2
} lrd_group;

/// Finds the nearest group around this process that has a limit, or else its own. System files are
/// looked for under `root`, which is "" but in tests.
void lrd_group_find(lrd_group *group, const char *root);

/// The least of the group's limits; LRD_UNKNOWN if it has none.
uint64_t lrd_group_limit(const lrd_group *group);

/// What of the limit is used and cannot be dropped at once, in thousandths; 0 if that is unknown.
/// Files that nobody has read for a while count as free.
uint32_t lrd_group_permille(const lrd_group *group);

#pragma clang assume_nonnull end
