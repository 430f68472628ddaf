// SPDX-License-Identifier: Apache-2.0
/* lrd_move.h — moves a table to its successor, bucket by bucket.
 *
 * A move publishes the entries of a bucket in `next`, sets MOVED in the old link, then clears the
 * old cells. A reader that meets MOVED goes to `next`. The buckets there are cleared just before
 * they can be reached, so no operation pays for more than a few.
 *
 * Most tables move to one of twice the size. The entries of a bucket are then all that its two
 * successors hold, so that a counter for each says where the next one goes. */
#pragma once

#include "lrd_table.h"

#pragma clang assume_nonnull begin

/// Moves the next bucket of `root` to `next`. False when `next` has too few free overflow buckets.
bool lrd_table_move_bucket_locked(lrd_table *root, lrd_slots slots);

/// Copies the entries of main bucket `index`, which has no overflow bucket, to its two successors
/// in a table of twice the size.
void lrd_table_split(const lrd_bucket *bucket, lrd_table *twice, uint64_t index, lrd_slots slots);

#pragma clang assume_nonnull end
