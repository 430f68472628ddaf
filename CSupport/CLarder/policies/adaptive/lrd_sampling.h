// SPDX-License-Identifier: Apache-2.0
/* lrd_sampling.h — what a shard tells the advisor, as probes (lrd_probe.h).
 *
 *   insertion of a sampled key    STORE; but if the latest probe that waits in the shard is a MISS
 *                                 of this key, of any thread, that becomes a LOAD
 *   hits on a sampled entry       HIT, when a poll comes to the entry or an eviction looks at it
 *   lookups that missed           MISS, handed over by the thread's lane
 *   removal by a call             REMOVAL
 *
 * A hit adds to a count in its entry and tells nobody. Whoever finds that count higher than it was
 * turns the difference into a probe (lrd_samples.h).
 *
 * UPKEEP. After `rest` more insertions, which it counts down, a shard does what it owes the
 * advisor. In a large cache it takes one waiting probe through the shadows (lrd_advisor.h), in a
 * smaller one all of them. A miss that came last waits for the next probe: it may be the store of
 * its key. Once in a period of 2 to 17 insertions the upkeep also polls one to four buckets of
 * samples, follows the advisor's choice, and plans its memory. In between an insertion only notes
 * its own key, if that is sampled.
 *
 * Guard: the shard's lock. */
#pragma once

#include "lrd_adaptive.h"

#pragma clang assume_nonnull begin

/// True when the advisor hears of this key.
static inline bool lrd_sampling_hears(const lrd_adaptive *state, uint64_t hash48) {
  return (uint32_t)(hash48 >> 32) < state->threshold;
}

/// Tells the advisor about a sampled key. `hits`: see lrd_probe.
void lrd_sampling_tell(lrd_order *order, uint64_t mixed, lrd_heard heard, uint32_t hits) LRD_COLD;

/// Tells the advisor of the new hits of a sampled entry in slot `id`, which counts `hits` and is
/// about to count `left`.
void lrd_sampling_tell_hits(lrd_order *order, const lrd_entry *entry, uint32_t id, uint32_t hits,
                            uint32_t left) LRD_COLD;

/// Sets the count of an entry, which counts `hits`, to `left`. Tells the advisor if it is sampled.
LRD_INLINE void lrd_sampling_set_hits(lrd_order *order, const lrd_adaptive *state, lrd_entry *entry,
                                      uint32_t id, uint32_t hits, uint32_t left) {
  if (LRD_UNLIKELY(lrd_sampling_hears(state, lrd_entry_hash48_locked(entry)))) {
    lrd_sampling_tell_hits(order, entry, id, hits, left);
  }
  lrd_entry_set_bits(entry, (uint8_t)left);
}

/// Does the upkeep, and sets `rest` to the insertions before the next one.
void lrd_sampling_upkeep(lrd_order *order, lrd_slots slots);

/* The policy's functions of these names. */
void lrd_sampling_missed(lrd_order *order, uint64_t hash48);
void lrd_sampling_removed(lrd_order *order, uint64_t hash48);
uint32_t lrd_sampling_replace(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                              uint32_t id);
uint32_t lrd_sampling_move(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                           uint32_t id);

/// Stops the process when the sample has an entry that the shard does not have.
void lrd_sampling_check(const lrd_order *order, lrd_pool *pool);

#pragma clang assume_nonnull end
