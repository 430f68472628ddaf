// SPDX-License-Identifier: Apache-2.0
/* lrdc_lookup.h — finds a key's value and keeps it readable, on the core's hit path or beside it.
 *
 *   value = lrdc_find()     NULL when there is none
 *     read or pin the value, run no other code
 *   lrdc_let_go()           only when there was one
 *
 * A loan is the hazard of a lookup. Where the thread has no lane, or several keys have the hash or
 * the tag, it is a pin that was taken under the lock. */
#pragma once

#include "lrdc_value.h"

#pragma clang assume_nonnull begin

typedef struct lrdc_loan {
  lrd_lane *_Nullable lane;       // the lane whose hazard holds the value's slot
  larder_value *_Nullable pinned; // otherwise the value, pinned
} lrdc_loan;

__attribute__((visibility("hidden")))
larder_value *_Nullable lrdc_find_slowly(larder_cache *cache, const lrdc_key *key, bool use,
                                         lrdc_loan *loan) LRD_COLD;

/// lrdc_matches() by callback. The callback must not use a cache. If it does, nothing breaks here:
/// the entry is on loan meanwhile, and the batch is distrusted afterwards. Also false when the
/// thread has no loan left.
LRD_INLINE bool lrdc_matches_object(const larder_cache *cache, lrd_lane *lane,
                                    const lrd_entry *entry, const lrdc_key *key) {
  if (!lrd_entry_may_match(entry, key->hash) || !lrd_loan_pin(lane)) return false;
  uint32_t applied = lrd_lane_applied(lane);
  bool same = lrdc_key_matches(cache, key, lrdc_value_of(entry));
  lrd_loan_unpin(lane);
  lrd_lane_found_at(lane, applied);
  return same;
}

/// Whether a found entry has the key. On the hit path.
LRD_INLINE bool lrdc_matches(const larder_cache *cache, lrd_lane *lane, const lrd_entry *entry,
                             const lrdc_key *key) {
  if (LRD_UNLIKELY(cache->objects)) return lrdc_matches_object(cache, lane, entry, key);
  return lrdc_key_matches(cache, key, lrdc_value_of(entry));
}

/// Notes that a key was not found. With `use` that counts as a miss.
LRD_INLINE void lrdc_note_missing(lrd_cache *core, lrd_lane *lane, uint64_t hash, bool use) {
  if (use) {
    lrd_miss(core, lane, hash);
  } else {
    lrd_note_absent(core, lane, hash);
  }
}

/// The value of `key`. With `use`, the lookup counts in the order and in the statistics.
LRD_INLINE larder_value *_Nullable lrdc_find(larder_cache *cache, const lrdc_key *key, bool use,
                                             lrdc_loan *loan) {
  lrd_cache *core = cache->core;
  lrd_lane *lane = use ? lrd_lane_current(core) : lrd_lane_plain(core);
  if (LRD_UNLIKELY(!lane)) return lrdc_find_slowly(cache, key, use, loan);
  lrd_entry *entry = lrd_find(core, lane, key->hash, LRDC_REFERENCES);
  if (!entry) {
    lrdc_note_missing(core, lane, key->hash, use);
    return NULL;
  }
  if (LRD_UNLIKELY(!lrdc_matches(cache, lane, entry, key))) {
    lrd_loan_end(lane);
    return lrdc_find_slowly(cache, key, use, loan);
  }
  if (use && LRD_UNLIKELY(!lrd_use(core, lane, entry, key->hash))) {
    lrd_loan_end(lane);
    lrd_miss(core, lane, key->hash);
    return NULL;
  }
  *loan = (lrdc_loan){.lane = lane};
  return lrdc_value_of(entry);
}

LRD_INLINE void lrdc_let_go(lrdc_loan *loan) {
  if (LRD_LIKELY(loan->lane)) {
    lrd_loan_end(loan->lane);
  } else {
    lrdc_value_unpin(loan->pinned);
  }
}

#pragma clang assume_nonnull end
