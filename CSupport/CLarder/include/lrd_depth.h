// SPDX-License-Identifier: Apache-2.0
/* lrd_depth.h — how much a trim or an answer to memory pressure takes at once.
 *
 * A deep one takes more than an eighth of the cache. A policy that takes hits away from each entry
 * it spares would have forgotten before the end which entries were hot, so it may do otherwise. */
#pragma once

#include "lrd_entry.h"

/// For what a policy is asked for a victim.
typedef enum lrd_trimming {
  LRD_NO_TRIM,   // an insertion
  LRD_TRIM_FEW,  // a trim, or an answer to pressure
  LRD_TRIM_DEEP, // a deep one
} lrd_trimming;

/// The rounds of a deep trim through a cache: one for each number of hits.
enum { LRD_ROUNDS = 16 };

/// One trim, or one answer.
typedef struct lrd_depth {
  bool deep;
  uint64_t begun; // a bit for each shard whose policy was asked already
} lrd_depth;

/// True when up to `most` evictions that bring `held` within the bounds take more than an eighth.
static inline bool lrd_amount_is_deep(lrd_amount held, lrd_amount bounds, uint64_t most) {
  uint64_t count = held.count > bounds.count ? held.count - bounds.count : 0;
  uint64_t cost = held.cost > bounds.cost ? held.cost - bounds.cost : 0;
  return most > held.count / 8 && (count > held.count / 8 || cost > held.cost / 8);
}
