// SPDX-License-Identifier: Apache-2.0
/* lrd_shrink.h — makes the tables and histories of a cache as small as what it holds, at once.
 *
 * Without it a table shrinks when it is eight times too large, to an eighth or to what its entries
 * need at that moment, whichever is more; a history shrinks with the next insertion. Who gives
 * entries up because memory is short does not wait for either: a table and a history for the
 * entries that were there before may take as much as the entries that are left.
 *
 * A few buckets move under each lock, which is taken, not tried. Former tables go to the limbo: a
 * reader may be inside. Without memory for a smaller one, a table stays until the background thread
 * finds it far too large. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Makes tables and histories as small as what they hold, in all shards. No lock is held.
void lrd_shrink(lrd_cache *cache);

#pragma clang assume_nonnull end
