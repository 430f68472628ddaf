// SPDX-License-Identifier: Apache-2.0
#include "lrd_use.h"

/// The soft word of an entry that is used at a time, by the rule that its `word` was made by.
static uint64_t moved(lrd_cache *cache, const lrd_entry *entry, uint64_t word, uint64_t limit,
                      uint64_t late) LRD_NONBLOCKING {
  const lrd_idle *idle = &cache->idle[lrd_word_is_odd(word)];
  uint64_t ticks =
      lrd_spread(LRD_LOAD(&idle->ticks), LRD_LOAD(&idle->jitter), lrd_entry_hash48(entry));
  uint64_t used = lrd_word_deadline(limit) - 1;
  uint64_t made = lrd_word_make(used, ticks, LRD_LIFE_SOFT, word & LRD_WORD_PARITY);
  // By what is not worth a store, an entry may live shorter.
  uint64_t least = ticks / 64;
  if (least > late) least -= late;
  return made > word + (least << LRD_WORD_SHIFT) ? made : word;
}

bool lrd_entry_prolong_slow(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry) LRD_NONBLOCKING {
  _Atomic(uint64_t) *field = &lrd_entry_time(entry)->word;
  // Acquire, partner: the release store of whoever changes `hard` or the rule (lrd_deadline.h).
  uint64_t word = atomic_load_explicit(field, memory_order_acquire);
  uint64_t limit = lrd_lane_limit(cache, lane);
  if (word < limit) return false;
  uint64_t latest = limit + (LRD_LATE << LRD_WORD_SHIFT);
  if (!lrd_word_is_soft(word) || moved(cache, entry, word, latest, 0) == word) return true;
  // A lane that is late must not bring back what others have seen expired. (A thread that stands
  // still between here and its swap, for longer than the entry has left, may: nobody has touched
  // the entry since, so the hit counts as if it had ended before it expired.)
  limit = lrd_lane_read_clock(cache, lane, lrd_cycles());
  if (word < limit) return false;
  // What was worth reading the clock is worth a store. Otherwise the next hits would read it, too,
  // until it is.
  uint64_t made = moved(cache, entry, word, limit, LRD_LATE);
  if (made == word) return true;
  uint64_t hard = LRD_LOAD(lrd_entry_hard_field(&cache->pool, entry));
  if (made > hard || lrd_word_is_endless(made)) made = hard;
  // If another hit is faster, or the deadline is being changed, that counts. Relaxed: a swap
  // carries on the release of the store before it, so a later hit's acquire still sees the new
  // `hard`.
  atomic_compare_exchange_strong_explicit(field, &word, made, memory_order_relaxed,
                                          memory_order_relaxed);
  return true;
}

bool lrd_use_slow(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry,
                  uint64_t hash) LRD_NONBLOCKING {
  if (!lrd_entry_prolong_slow(cache, lane, entry)) return false;
  lrd_hit(cache, lane, entry, hash);
  return true;
}
