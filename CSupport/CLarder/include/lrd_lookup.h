// SPDX-License-Identifier: Apache-2.0
/* lrd_lookup.h — the hit path: finds an entry, lends it and notes the hit, without a lock.
 *
 *   lane = lrd_lane_current()     (lrd_lane.h) NULL: use lrd_find_slow(), or the lock
 *   entry = lrd_find()            stays valid until lrd_loan_end()
 *     compare the key, copy or use the value: pinned (lrd_loan_pin()) if that may run user code
 *   found, and lrd_use():         lrd_loan_end()
 *   found, but not lrd_use():     lrd_loan_end(), lrd_miss(): it has expired (lrd_use.h)
 *   not found:                    lrd_miss()
 *
 * Everything stored here is the thread's own, its hazards and its lane; but where the policy has
 * hits counted in entries, also a byte of the entry until it is at its most. The protocol is told
 * in lrd_thread.h (hazards), lrd_table.h (moves) and lrd_shard.h (the root). On large caches the
 * number of instructions here decides how many lookups the processor overlaps, hence the care. */
#pragma once

#include "lrd_lane.h"

#pragma clang assume_nonnull begin

/// Publishes `pointer` as a hazard. Release: what the hazard protected before stays protected
/// until all reads of it are done. The fence pairs with lrd_fence_heavy() of reclaimers.
LRD_INLINE void lrd_hazard_set(_Atomic(uintptr_t) *hazard, const void *pointer) LRD_NONBLOCKING {
  atomic_store_explicit(hazard, (uintptr_t)pointer, memory_order_release);
  lrd_fence_hit();
}

LRD_INLINE void lrd_hazard_clear(_Atomic(uintptr_t) *hazard) LRD_NONBLOCKING {
  atomic_store_explicit(hazard, 0, memory_order_release);
}

/// lrd_find() for moving tables, overflow buckets, lost races, equal tags, and systems without
/// membarrier. NULL when no entry has this hash.
lrd_entry *_Nullable lrd_find_slow(lrd_cache *cache, lrd_lane *lane,
                                   uint64_t hash) LRD_COLD LRD_NONBLOCKING;

/// An entry whose hash may be `hash`, safe to read until lrd_loan_end(); NULL when there is none.
/// If its key differs, call lrd_find_slow(), which compares hashes. Begins to load the memory that
/// the entry refers to: the first `references` of those that the cache's options name.
LRD_INLINE lrd_entry *_Nullable lrd_find(lrd_cache *cache, lrd_lane *lane, uint64_t hash,
                                         uint32_t references) LRD_NONBLOCKING {
  lrd_shard *shard = lrd_cache_shard(cache, hash);
  LRD_KEEP(shard);
  lrd_hazard *hazard = lane->thread->top;
  lrd_table *root = atomic_load_explicit(&shard->root, memory_order_acquire);
  lrd_hazard_set(&hazard->table, root);
  lrd_entry *entry = NULL;
  // Acquire again: before the hazard could be seen, another table may have come to the same
  // address.
  if (LRD_UNLIKELY(atomic_load_explicit(&shard->root, memory_order_acquire) != root)) goto slow;
  uint64_t index = lrd_table_index(root, hash);
  lrd_bucket *bucket = &root->bucket[index];
  size_t hints = index * references;
  uintptr_t hints_at = (uintptr_t)root->hints + hints * sizeof(lrd_hints);
  if (references) LRD_PREFETCH((const void *)hints_at);
  uint64_t link = atomic_load_explicit(&bucket->link, memory_order_acquire);
  uint32_t bits = lrd_bucket_search(bucket, hash);
  if (LRD_LIKELY(bits)) {
    int cell = __builtin_ctz(bits);
    _Atomic(uint32_t) *at = &bucket->ids[cell];
    uint32_t id = atomic_load_explicit(at, memory_order_acquire);
    uint64_t changes;
    entry = lrd_pool_locate(&cache->pool, id, &changes);
    for (uint32_t i = 0; i < references; i++) {
      lrd_hints_prefetch(&root->hints[hints + i], cell);
    }
    lrd_hazard_set(&hazard->entry, entry);
    // Unchanged id and root: the entry was linked after its hazard could be seen. Acquire again:
    // the same id may by now stand for a later entry in the same memory.
    if (LRD_UNLIKELY(atomic_load_explicit(at, memory_order_acquire) != id || !entry ||
                     LRD_LOAD(&shard->root) != root ||
                     !lrd_pool_is_located(&cache->pool, changes))) {
      goto slow;
    }
  } else if (LRD_UNLIKELY(link & (LRD_LINK_MOVED | LRD_LINK_OVERFLOW))) {
    goto slow;
  } else {
    // Pairs with the release stores of moves: had a cell been emptied by a move, the link differs.
    atomic_thread_fence(memory_order_acquire);
    if (LRD_UNLIKELY(LRD_LOAD(&bucket->link) != link)) goto slow;
  }
  lrd_hazard_clear(&hazard->table);
  return entry;
slow:
  return lrd_find_slow(cache, lane, hash);
}

/// Pins the loan of the entry just found: user code (`==`, a closure) may then use caches on this
/// thread until lrd_loan_unpin(). False when all loans are in use.
LRD_INLINE bool lrd_loan_pin(lrd_lane *lane) LRD_NONBLOCKING {
  lrd_thread *thread = lane->thread;
  if (LRD_UNLIKELY(thread->top == &thread->hazards[LRD_LOANS])) return false;
  thread->top++;
  return true;
}

LRD_INLINE void lrd_loan_unpin(lrd_lane *lane) LRD_NONBLOCKING {
  lane->thread->top--;
}

/// Ends the loan of the entry found last; it must not be pinned. Nothing done with the entry may
/// move below: the compiler barrier holds back retains, the release store everything else.
LRD_INLINE void lrd_loan_end(lrd_lane *lane) LRD_NONBLOCKING {
  __asm__ volatile("" ::: "memory");
  lrd_hazard_clear(&lane->thread->top->entry);
}

/// Adds one to a counter that only this thread writes.
LRD_INLINE void lrd_count(_Atomic(uint64_t) *counter) LRD_NONBLOCKING {
  LRD_STORE(counter, LRD_LOAD(counter) + 1);
}

/// Puts a hit into the lane's batch.
LRD_INLINE void lrd_batch_hit(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry,
                              uint64_t hash) LRD_NONBLOCKING {
  uint32_t next = lane->touches;
  lane->touched[next] = entry;
  lane->touched_hash[next] = hash;
  lane->touches = next + 1;
  if (LRD_UNLIKELY(next + 1 >= lane->flush_at)) lrd_lane_flush(cache, lane);
}

/// Notes a hit on an entry found before. If this lane's batch may have been applied in between,
/// call lrd_lane_found_at() first: the entry may be unlinked by now.
LRD_INLINE void lrd_hit(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry,
                        uint64_t hash) LRD_NONBLOCKING {
  lrd_count(&lane->hits);
  uint8_t most = cache->hits_most;
  if (most != LRD_HITS_BATCHED) {
    lrd_entry_count_hit(entry, most);
  } else {
    lrd_batch_hit(cache, lane, entry, hash);
  }
}

/// Notes that nothing was found for `hash` if the policy listens for this key. Searches that are no
/// lookups note it, too: a program that only asks so before it stores would otherwise never tell
/// the policy what it lacks.
LRD_INLINE void lrd_note_absent(lrd_cache *cache, lrd_lane *lane, uint64_t hash) LRD_NONBLOCKING {
  if (LRD_UNLIKELY((uint32_t)(hash >> 32) < LRD_LOAD(cache->listens))) {
    lrd_lane_note_miss(cache, lane, hash);
  }
}

/// Counts a lookup of `hash` that found nothing, and notes that.
LRD_INLINE void lrd_miss(lrd_cache *cache, lrd_lane *lane, uint64_t hash) LRD_NONBLOCKING {
  lrd_count(&lane->misses);
  lrd_note_absent(cache, lane, hash);
}

/// Begins to load the bucket of `hash`, for a lookup that follows on this thread. Leaves the
/// table's hazard set.
LRD_INLINE void lrd_prefetch_bucket(lrd_cache *cache, lrd_lane *lane,
                                    uint64_t hash) LRD_NONBLOCKING {
  lrd_shard *shard = lrd_cache_shard(cache, hash);
  lrd_hazard *hazard = lane->thread->top;
  lrd_table *root = atomic_load_explicit(&shard->root, memory_order_acquire);
  lrd_hazard_set(&hazard->table, root);
  if (atomic_load_explicit(&shard->root, memory_order_acquire) != root) return;
  LRD_PREFETCH(&root->bucket[lrd_table_index(root, hash)]);
}

/// Begins to load an entry of `bytes` bytes, which may lie in two cache lines.
LRD_INLINE void lrd_prefetch_entry(const lrd_entry *entry, intptr_t bytes) LRD_NONBLOCKING {
  LRD_PREFETCH(&entry->hash_mid);
  LRD_PREFETCH((const char *)entry + bytes - 1);
}

/// Loans that the calling thread can still pin.
LRD_INLINE intptr_t lrd_loans_left(const lrd_lane *lane) LRD_NONBLOCKING {
  return &lane->thread->hazards[LRD_LOANS] - lane->thread->top;
}

/// Begins to load the object that a stored reference points to. Its bits need not be an address.
LRD_INLINE void lrd_prefetch_object(const void *reference) LRD_NONBLOCKING {
  LRD_PREFETCH(*(const void *const *)reference);
}

/// Ends prefetching when the last lookup may not have happened: clears the table's hazard.
LRD_INLINE void lrd_prefetch_end(lrd_lane *lane) LRD_NONBLOCKING {
  lrd_hazard_clear(&lane->thread->top->table);
}

#pragma clang assume_nonnull end
