// SPDX-License-Identifier: Apache-2.0
/* lrd_use.h — the end of a hit: asks whether the entry that was found has expired, and if not,
 * notes its use.
 *
 * A lane keeps the time for two milliseconds (lrd_lane_limit()). In most hits that time is recent
 * enough, the entry lives, and its deadline need not move. Only this case is inlined. */
#pragma once

#include "lrd_lookup.h"

#pragma clang assume_nonnull begin

/// True when an entry of a cache that compares deadlines lives for certain, and its use need not
/// move its deadline.
LRD_INLINE bool lrd_entry_has_plenty(lrd_cache *cache, const lrd_lane *lane,
                                     const lrd_entry *entry) LRD_NONBLOCKING {
  if (LRD_UNLIKELY(lrd_cycles() - lane->limit_read >= lane->limit_lasts)) return false;
  uint64_t word = LRD_LOAD(&lrd_entry_time(entry)->word);
  // So much is left of most words, soft or not: one comparison is then enough.
  if (LRD_LIKELY(word >= lane->limit + LRD_LOAD(&cache->plenty))) return true;
  LRD_KEEP(lane); // reads its limit again: to keep it at hand would cost every hit an instruction
  return word >= lane->limit && !lrd_word_is_soft(word);
}

/// lrd_entry_prolong() and lrd_use() where that is not certain.
bool lrd_entry_prolong_slow(lrd_cache *cache, lrd_lane *lane,
                            lrd_entry *entry) LRD_COLD LRD_NONBLOCKING;
bool lrd_use_slow(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry,
                  uint64_t hash) LRD_COLD LRD_NONBLOCKING;

/// False when the entry just found, of a cache whose entries can expire, has done so.
LRD_INLINE bool lrd_entry_is_alive(lrd_cache *cache, lrd_lane *lane,
                                   const lrd_entry *entry) LRD_NONBLOCKING {
  return LRD_LOAD(&lrd_entry_time(entry)->word) >= lrd_lane_limit(cache, lane);
}

/// lrd_entry_is_alive() for a use of the entry: moves the deadline of one that goes by its last
/// use.
LRD_INLINE bool lrd_entry_prolong(lrd_cache *cache, lrd_lane *lane,
                                  lrd_entry *entry) LRD_NONBLOCKING {
  return lrd_entry_has_plenty(cache, lane, entry) || lrd_entry_prolong_slow(cache, lane, entry);
}

/// lrd_hit() on what was found by lrd_lane_current(). False if it has expired: then nothing is
/// noted.
LRD_INLINE bool lrd_use(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry,
                        uint64_t hash) LRD_NONBLOCKING {
  // One branch that always goes the same way, on a value beside those the lookup has loaded. Where
  // nothing expires it costs no more than lrd_hit().
  uint8_t use = cache->use;
  if (LRD_UNLIKELY(use >= LRD_HITS_TIMED)) {
    if (use == LRD_HITS_TIMED) {
      if (LRD_UNLIKELY(!lrd_entry_has_plenty(cache, lane, entry))) {
        return lrd_use_slow(cache, lane, entry, hash);
      }
      use = cache->hits_most;
    }
    if (use == LRD_HITS_BATCHED) {
      lrd_count(&lane->hits);
      lrd_batch_hit(cache, lane, entry, hash);
      return true;
    }
  }
  lrd_count(&lane->hits);
  lrd_entry_count_hit(entry, use);
  return true;
}

#pragma clang assume_nonnull end
