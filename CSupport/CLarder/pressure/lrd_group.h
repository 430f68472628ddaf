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

/// Finds the nearest group around this process that has a limit, or else its own of version 2: one
/// of version 1 without a limit has nothing to watch. System files are looked for under `root`,
/// which is "" but in tests.
void lrd_group_find(lrd_group *group, const char *root);

/// The least of the group's limits; LRD_UNKNOWN if it has none.
uint64_t lrd_group_limit(const lrd_group *group);

/// Tells what of the limit is used and cannot be dropped at once, in thousandths. Files that nobody
/// has read for a while count as free. False if that is unknown; errno then tells of the last file
/// that could not be read, and is 0 if all could.
bool lrd_group_used(const lrd_group *group, uint32_t *permille);

#pragma clang assume_nonnull end
