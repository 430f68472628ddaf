// SPDX-License-Identifier: Apache-2.0
/* lrd_shard.h — a shard: one lock, one hash table and one policy order over the same entries.
 *
 * INVARIANTS, true whenever `lock` is free; lrd_shard_check() tests each by its number:
 *   I1  An entry is in the policy's order exactly when one cell of its chain points to it, and then
 *       its state is LINKED.
 *   I2  `count` and `cost` are the number of those entries and the sum of their costs.
 *   I3  While a table moves, buckets of the old one below `moved` are empty, and marked MOVED.
 *   I4  The limbo is sound: L1 to L3 of lrd_limbo.h.
 *   I5  Every entry in a main bucket has the hints of its references, but for the upper bits.
 *   I6  With fewer entries than `at_ease` an insertion finds the table as it should be: it neither
 *       moves, nor is it full, nor wants a successor to be made.
 * LOCKING
 *   `lock` guards every field but `root`, `bucket`, `buckets` and `hints`. It is a leaf: its holder
 *   takes no other lock but those of the same cache's next shards (lrd_removal_of_all(), fork),
 *   allocates and frees nothing, and runs no user code but ==. A policy may try a lock of its own
 *   under it. A name ending in _locked needs it; any other function needs it free. Removed entries
 *   leave as a chain.
 * THE ROOT
 *   `root` is the table readers start from. Written under the lock (release), read by everyone
 *   (acquire). While a table moves it stays the old one, whose `next` is the new one. Emptying the
 *   shard swaps in another root: readers therefore check, after publishing an entry's hazard, not
 *   only the cell but also that the root has not changed.
 *   `bucket`, `buckets` and `hints` are written after the root (relaxed) and tell what to load
 *   ahead of the lock, where the root itself must not be followed: whatever a thread sees of them,
 *   nothing is read there.
 * LINES
 *   A change of a shard that another processor changed last waits for each line that both write.
 *   What every change writes therefore lies together: in the two lines from `lock` on, which end
 *   within `order`, and in the two from `counters` on. */
#pragma once

#include "lrd_limbo.h"
#include "lrd_policy.h"

#pragma clang assume_nonnull begin

/// Why entries were evicted, for statistics.
enum { LRD_EVICTED_BY_COUNT, LRD_EVICTED_BY_COST, LRD_EVICTED_BY_TRIM, LRD_EVICTION_KINDS };

typedef struct lrd_counters {
  uint64_t insertions;
  uint64_t replacements;
  uint64_t removals;
  uint64_t refusals;
  uint64_t evictions[LRD_EVICTION_KINDS];
} lrd_counters;

typedef struct lrd_shard {
  _Alignas(LRD_LINE_PAIR) _Atomic(lrd_table *) root;
  _Atomic(uintptr_t) bucket; // address of the root's first bucket, and the number of its buckets
  _Atomic(uint64_t) buckets;
  _Atomic(uintptr_t) hints; // address of the root's first hints, 0 for none
  const lrd_references *references;
  const lrd_policy *policy;
  lrd_pool *pool;
  uint64_t at_ease; // see I6; guard: `lock`. Changes with the tables, so it is beside the root

  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  bool full;         // the last insertion had to evict
  uint64_t unlinked; // entries that ever left; a batch of hits is sound while this stands still
  unsigned __int128 cost;
  uint64_t count;
  lrd_order order;
  uint64_t moved_seen; // `moved` of the root when the background thread left
  lrd_counters counters;
  lrd_limbo limbo; // entries that left and may still be read
} lrd_shard;

/// Makes an empty shard of a policy (with what its shards share), for entries of that pool with such
/// references. False without memory for what the policy keeps in it.
bool lrd_shard_open(lrd_shard *shard, const lrd_policy *policy, void *_Nullable shared,
                    lrd_pool *pool, const lrd_references *references);

/// Frees all tables, and what the policy keeps. The shard must hold no entry, and no reader may be
/// inside.
void lrd_shard_close(lrd_shard *shard);

/// The table lookups start from.
static inline lrd_table *lrd_shard_root_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return atomic_load_explicit(&shard->root, memory_order_relaxed);
}

/// The table that the root moves to, NULL while it does not move.
static inline lrd_table *_Nullable lrd_shard_next_locked(lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  return atomic_load_explicit(&lrd_shard_root_locked(shard)->next, memory_order_relaxed);
}

/// Linked entries.
static inline uint64_t lrd_shard_count_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->count;
}

/// Publishes a new entry and links it; the caller has reserved its room.
void lrd_shard_link_locked(lrd_shard *shard, lrd_entry *entry, uint64_t hash)
    LRD_REQUIRES(shard->lock);

/// Takes a linked entry out of table and order and adds it to `removed` with the reason as its
/// state.
void lrd_shard_unlink_locked(lrd_shard *shard, lrd_entry *entry, uint8_t reason, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Takes a linked entry out of the order and leaves it in the table, where it is to be replaced or
/// unlinked before the lock is released, or put back by lrd_shard_restore_locked() as if new.
void lrd_shard_displace_locked(lrd_shard *shard, lrd_entry *entry) LRD_REQUIRES(shard->lock);
void lrd_shard_restore_locked(lrd_shard *shard, lrd_entry *entry) LRD_REQUIRES(shard->lock);

/// Publishes `entry` in the place of `old`, which has the same key: readers see the one or the
/// other. It takes the place of `old` in the order, too, unless that is displaced: then it enters
/// the order as a new one. `old` is added to `removed`.
void lrd_shard_replace_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint64_t hash,
                              lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Takes everything out of order and sums, in O(1), after lrd_growth_leave_locked() has given up the
/// tables. The entries leave as `order`, to be turned into a chain by lrd_order_dissolve() without
/// the lock.
void lrd_shard_empty_locked(lrd_shard *shard, lrd_order *order) LRD_REQUIRES(shard->lock);

/// Adds all entries of an order nobody else can reach to `removed`.
void lrd_order_dissolve(lrd_order *order, const lrd_policy *policy, lrd_pool *pool, uint8_t reason,
                        lrd_chain *removed);

/// Begins to load the bucket of a hash and its hints, before or without the lock.
static inline void lrd_shard_prefetch(lrd_shard *shard, uint64_t hash) {
  uint64_t buckets = atomic_load_explicit(&shard->buckets, memory_order_relaxed);
  uintptr_t first = atomic_load_explicit(&shard->bucket, memory_order_relaxed);
  uint64_t index = (uint64_t)(((unsigned __int128)hash * buckets) >> 64);
  LRD_PREFETCH((const void *)(first + index * sizeof(lrd_bucket)));
  uintptr_t hints = atomic_load_explicit(&shard->hints, memory_order_relaxed);
  size_t stride = shard->references->count * sizeof(lrd_hints);
  if (hints) LRD_PREFETCH((const void *)(hints + index * stride));
}

/// True when `entry` is linked under a hash with these upper 48 bits. Otherwise it is not touched.
static inline bool lrd_shard_holds_locked(lrd_shard *shard, const lrd_entry *entry, uint64_t hash48)
    LRD_REQUIRES(shard->lock) {
  lrd_cell cell;
  lrd_table *root = lrd_shard_root_locked(shard);
  return lrd_table_find_locked(root, entry, hash48, &cell) && lrd_entry_hash48(entry) == hash48;
}

/// A walk over the linked entries of one hash, while the lock is held and nothing is changed. Equal
/// hashes are not equal keys.
typedef struct lrd_matches {
  lrd_table *table;
  lrd_bucket *bucket;
  uint64_t hash;
  uint32_t bits; // cells of `bucket` still to be looked at
} lrd_matches;

static inline lrd_matches lrd_shard_matches_locked(lrd_shard *shard, uint64_t hash)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_table *table = lrd_table_home_locked(root, hash);
  lrd_bucket *bucket = &table->bucket[lrd_table_index(table, hash)];
  uint32_t bits = lrd_bucket_match(bucket, lrd_table_tag(hash));
  return (lrd_matches){.table = table, .bucket = bucket, .hash = hash, .bits = bits};
}

/// The next entry whose hash is that of the walk; NULL at the end.
static inline lrd_entry *_Nullable lrd_matches_next_locked(lrd_matches *matches) {
  for (;;) {
    while (matches->bits) {
      int cell = __builtin_ctz(matches->bits) / 4;
      matches->bits &= matches->bits - 1;
      uint64_t word = atomic_load_explicit(&matches->bucket->cells[cell], memory_order_relaxed);
      if (lrd_entry_may_match(lrd_table_entry(word), matches->hash)) return lrd_table_entry(word);
    }
    uint64_t overflow = atomic_load_explicit(&matches->bucket->link, memory_order_relaxed);
    overflow &= LRD_LINK_OVERFLOW;
    if (!overflow) return NULL;
    matches->bucket = lrd_table_overflow(matches->table, overflow - 1);
    matches->bits = lrd_bucket_match(matches->bucket, lrd_table_tag(matches->hash));
  }
}

#pragma clang assume_nonnull end
