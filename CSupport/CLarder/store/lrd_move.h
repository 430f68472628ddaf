// SPDX-License-Identifier: Apache-2.0
/* lrd_move.h — moves a table to its successor, bucket by bucket.
 *
 * A move publishes the entries of a bucket in `next`, sets MOVED in the old link, then clears the
 * old cells. A reader that meets MOVED goes to `next`. The buckets there are cleared just before
 * they can be reached, so no operation pays for more than a few.
 *
 * Most tables move to one of twice or four times the size. The entries of a bucket are then all
 * that its successors hold, so that a counter for each says where the next one goes. */
#pragma once

#include "lrd_table.h"

#pragma clang assume_nonnull begin

/// Moves the next bucket of `root` to `next`. False when `next` has too few free overflow buckets.
bool lrd_table_move_bucket_locked(lrd_table *root, lrd_slots slots);

/// The most buckets that take the entries of one bucket and of no other.
enum { LRD_SUCCESSORS_MOST = 4 };

/// Copies the entries of a main bucket that has no overflow bucket to its successors, which begin
/// with bucket `first` and are empty.
void lrd_table_split(const lrd_bucket *bucket, lrd_table *next, uint64_t first, lrd_slots slots);

#pragma clang assume_nonnull end
