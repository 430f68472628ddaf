// SPDX-License-Identifier: Apache-2.0
/* lrd_ghosts.h — the keys a policy evicted lately, by their hashes: a first-in-first-out set.
 *
 *   bucket   [ slot 0 | … | slot 15 ]           one cache line
 *   slot     [ fingerprint:20 | epoch:12 ]      0 when empty
 *   alive    what is left of each epoch, oldest … newest: the weight of its ghosts
 *
 * A slot tells its ghost's age in epochs, 256 or more to a full set. When the set is too large the
 * oldest epoch dies as a whole, in O(1): its slots are free for others, and found no more. A new
 * ghost takes an empty slot of its bucket or that of the oldest one there; buckets are half full of
 * live ghosts on average. A ghost weighs 1, or, where only the cost of entries is limited, the cost
 * of its entry: the set then is as large as so much of the limit. A key that was never added is
 * found once in 60,000 lookups or more rarely. (The paper on S3-FIFO proposes such a table; there a
 * ghost's age is the number of those added since, whether or not they are still there.)
 *
 * Slots and counts are the order's history. What is here is the policy's state, guarded like it. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

typedef struct lrd_ghosts {
  uint64_t buckets;
  uint64_t wanted_buckets; // of the history asked for
  uint64_t granule;        // ghosts that make an epoch
  uint64_t newest;         // the epoch that new ghosts belong to
  uint64_t filled;         // how many it has been given
  uint64_t oldest;         // the oldest epoch with live ghosts
  uint64_t live;           // weight of all ghosts alive
  uint64_t count;          // their number
} lrd_ghosts;

/// Remembers an evicted entry, and forgets the oldest ghosts beyond so many hundredths of the
/// shard's share. Asks for a history where there is none, or one of quite another size; a ghost is
/// lost while there is none.
void lrd_ghosts_add(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry, uint32_t percent);

/// Forgets the entry's key. True when it was a live ghost.
bool lrd_ghosts_take(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry);

/// Adopts a new history: no ghost is left.
void lrd_ghosts_renewed(lrd_ghosts *ghosts);

#pragma clang assume_nonnull end
