// SPDX-License-Identifier: Apache-2.0
/* lrd_directory.h — where the pages of a pool are, by their numbers.
 *
 * A full directory is replaced by a larger one. Outgrown ones are kept until the pool is closed,
 * because another thread may be reading one. Guard: see lrd_pool.h. */
#pragma once

#include "lrd_entry.h"

#pragma clang assume_nonnull begin

typedef struct lrd_directory {
  struct lrd_directory *_Nullable smaller; // its predecessor
  uint32_t capacity;
  _Atomic(char *_Nullable) slots[]; // address of the entry in slot 0 by page number; NULL for none
} lrd_directory;

/// A directory for so many pages, cleared; NULL without memory.
lrd_directory *_Nullable lrd_directory_create(uint32_t capacity);

/// Frees one directory, and one with all its predecessors.
void lrd_directory_destroy(lrd_directory *_Nullable directory);
void lrd_directory_destroy_all(lrd_directory *_Nullable directory);

/// Makes room for a page of this number. Puts `*larger` in the place of a directory that is too
/// small (release, see lrd_pool.h), and sets it to NULL. False when one is needed and missing.
bool lrd_directory_reaches(_Atomic(lrd_directory *) *directory, uint32_t number,
                           lrd_directory *_Nullable *_Nonnull larger);

#pragma clang assume_nonnull end
