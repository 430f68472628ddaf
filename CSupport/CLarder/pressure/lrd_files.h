// SPDX-License-Identifier: Apache-2.0
/* lrd_files.h — what files of the system tell. Files that are missing, unreadable or garbage tell
 * nothing. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

enum { LRD_PATH_BYTES = 1024 };

/// What a read file can tell.
#define LRD_UNKNOWN UINT64_MAX

/// Opens a file below `folder` to read; -1 and errno if it cannot.
int lrd_file_open(const char *folder, const char *name);

/// Reads the beginning of a file into `text` and ends it with a 0. False if it cannot.
bool lrd_file_read(const char *folder, const char *name, char *text, size_t room);

/// The number that follows `word` and one character in `text`, or that `text` begins with if the
/// word is "". LRD_UNKNOWN if there is none.
uint64_t lrd_number_after(const char *text, const char *word);

/// How much of the last ten seconds tasks have waited for memory by a file of stalls, in hundredths
/// of a percent. `who`: "some", at least one of them; or "full", all at once. LRD_UNKNOWN if the
/// file tells nothing.
uint64_t lrd_stalls_average(const char *folder, const char *name, const char *who);

/// True when less than a fifth of the machine's memory is available, or that is unknown. System
/// files are looked for under `root`, which is "" but in tests.
bool lrd_system_is_short(const char *root);

#pragma clang assume_nonnull end
