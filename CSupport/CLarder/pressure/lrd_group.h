// SPDX-License-Identifier: Apache-2.0
/* lrd_group.h — what files of the system tell: the control group that bounds this process, how much
 * it uses and what its bound is, in both versions; how long tasks wait for memory, and how much is
 * left. Files that are missing, unreadable or garbage tell nothing. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

enum { LRD_PATH_BYTES = 1024 };

typedef struct lrd_group {
  char path[LRD_PATH_BYTES]; // its directory; "" if there is none
  int version;               // 1 or 2
} lrd_group;

/// What a read file can tell.
#define LRD_UNKNOWN UINT64_MAX

/// Opens a file below `folder` to read; -1 and errno if it cannot.
int lrd_file_open(const char *folder, const char *name);

/// Reads the beginning of a file into `text` and ends it with a 0. False if it cannot.
bool lrd_file_read(const char *folder, const char *name, char *text, size_t room);

/// The number that follows `word` and one character in `text`, or that `text` begins with if the
/// word is "". LRD_UNKNOWN if there is none.
uint64_t lrd_number_after(const char *text, const char *word);

/// What tasks have waited for memory over ten seconds by a file of stalls, in hundredths of a percent:
/// "some" of them or the "full" number. LRD_UNKNOWN if it tells nothing.
uint64_t lrd_stalls_average(const char *folder, const char *name, const char *who);

/// True when less than a fifth of the machine's memory is available, or that is unknown. `root`: as
/// below.
bool lrd_system_is_short(const char *root);

/// Finds the nearest group around this process that has a limit, or else its own. System files are
/// looked for under `root`, which is "" but in tests.
void lrd_group_find(lrd_group *group, const char *root);

/// The least of the group's limits; LRD_UNKNOWN if it has none.
uint64_t lrd_group_limit(const lrd_group *group);

/// What of the limit is used and cannot be dropped at once, in thousandths; 0 if that is unknown.
/// Files that nobody has read for a while count as free.
uint32_t lrd_group_permille(const lrd_group *group);

#pragma clang assume_nonnull end
