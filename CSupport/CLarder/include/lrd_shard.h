// SPDX-License-Identifier: Apache-2.0
/* lrd_shard.h — a shard: one lock, one hash table and one policy order over the same entries.
 *
 * INVARIANTS, true whenever `lock` is free. lrd_shard_check() tests each and names its number, with
 * two exceptions: nobody tests L2 and L3; lrd_cache_check() tests I9, and that all entries are
 * timed.
 *   I1  An entry is in the policy's order exactly when one cell of its chain points to it, and then
 *       its state is LINKED.
 *   I2  `count` and `cost` are the number of those entries and the sum of their costs.
 *   I3  While a table moves, buckets of the old one below `moved` are empty, and marked MOVED.
 *   I4  L1 to L4 of lrd_limbo.h.
 *   I5  Every entry in a main bucket has hints of its references; their upper bits may be wrong.
 *   I6  With fewer entries than `at_ease`, the table does not move, is not full, and needs no
 *       successor; no flight is under way, and no entry can expire.
 *   I7  `flying` says whether `flights` is not 0. No more flights are under way than ever began.
 *   I8  The wheel of a timer has the linked entries that are timed, and no others. Where entries
 *       can expire, all are.
 *   I9  In all shards together, no more are counted to have left than have (lrd_statistics.h).
 * LOCKING
 *   `lock` guards every field but `root`, `bucket`, `buckets` and `hints`. It is a leaf: its holder
 *   allocates and frees nothing, runs no user code but ==, and takes no other lock but those of the
 *   cache's next shards (lrd_removal_of_all(), lrd_removal_observe(), fork). A policy may try a
 *   lock of its own. A function whose name ends in _locked needs the lock and keeps it. One marked
 *   LRD_RELEASE, or LRD_UNCHECKED_LOCKS where its answer decides, needs it and may give it up. Any
 *   other needs it free. Removed entries leave as a chain.
 * THE ROOT
 *   `root` is the table that readers start from. Written under the lock (release), read by all
 *   (acquire). While a table moves, the root is the old one, and its `next` is the new one.
 *   Emptying the shard sets another root: readers that have published an entry's hazard therefore
 *   load the cell and the root again.
 *   `bucket`, `buckets` and `hints` are written after the root (relaxed). They tell what to
 *   prefetch without the lock, when the root must not be followed. Wrong values do no harm.
 * LINES
 *   A processor waits for every line that another one wrote last. The fields that every change
 *   writes are therefore in few lines: the two from `lock` on, which end within `order`, and the
 *   one that `limbo` begins with. */
#pragma once

#include "lrd_limbo.h"
#include "lrd_policy.h"
#include "lrd_timer.h"

#pragma clang assume_nonnull begin

/// Why entries were evicted, for statistics. Evictions by count have no counter.
enum {
  LRD_EVICTED_BY_COST,
  LRD_EVICTED_BY_TRIM,
  LRD_EVICTED_BY_PRESSURE,
  LRD_EVICTIONS_COUNTED,
  LRD_EVICTED_BY_COUNT = LRD_EVICTIONS_COUNTED,
};

/// What has become of entries, ever. Insertions and evictions by count have no counter: they follow
/// from `count` and `unlinked` of the shard (lrd_statistics.h).
typedef struct lrd_counters {
  uint64_t replacements;
  uint64_t moves; // entries that copies of themselves have taken the place of
  uint64_t removals;
  uint64_t refusals;
  uint64_t expirations;
  uint64_t evictions[LRD_EVICTIONS_COUNTED];
} lrd_counters;

typedef struct lrd_shard {
  _Alignas(LRD_LINE_PAIR) _Atomic(lrd_table *) root;
  _Atomic(uintptr_t) bucket; // address of the root's first bucket, and the number of its buckets
  _Atomic(uint64_t) buckets;
  _Atomic(uintptr_t) hints; // address of the root's first hints, 0 for none
  const lrd_references *references;
  const lrd_policy *policy;
  lrd_pool *pool;
  uint64_t far;     // with so many entries the processor seldom has at hand what evictions touch
  uint64_t at_ease; // see I6; guard: `lock`. Changes with the tables, so it is beside the root

  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  bool flying;       // `flights` is not 0
  bool local;        // of a local cache: nobody makes the next table in advance
  uint64_t unlinked; // entries ever unlinked; a batch is sound while this does not change
  unsigned __int128 cost;
  uint64_t count;
  lrd_order order;
  uint64_t moved_seen; // `moved` of the root after the background thread's last slice
  lrd_limbo limbo;
  lrd_counters counters;
  uint64_t order_changes; // hits, misses, limits, entries put back or passed over, ever: for tours
  lrd_timer *_Nullable timer; // in caches whose entries can expire, or soon will
  uint64_t flights;           // loads of this shard's keys that the layer above has under way
  uint64_t flights_begun;     // and all that ever began
} lrd_shard;

/// The entries of a cache whose insertions begin to load what they will touch. 20,000 gain nothing
/// from it, or lose some per cent if they have objects. 32,000 numbers gain 8 %, 300,000 objects
/// 12 %, a million numbers a quarter.
#define LRD_FAR_ENTRIES 24576

/// Makes an empty shard, one of so many. `shared`: what the policy has made for all shards of the
/// cache. False without memory for the policy's state.
bool lrd_shard_open(lrd_shard *shard, const lrd_policy *policy, void *_Nullable shared,
                    lrd_pool *pool, const lrd_references *references, uint32_t shards);

/// Frees all tables and the policy's state. No entry may be left and no reader be inside.
void lrd_shard_close(lrd_shard *shard);

static inline lrd_table *lrd_shard_root_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return LRD_LOAD(&shard->root);
}

/// The table that the root moves to, NULL while it does not move.
static inline lrd_table *_Nullable lrd_shard_next_locked(lrd_shard *shard)
    LRD_REQUIRES(shard->lock) {
  return LRD_LOAD(&lrd_shard_root_locked(shard)->next);
}

static inline uint64_t lrd_shard_count_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->count;
}

static inline bool lrd_shard_is_below_locked(lrd_shard *shard, uint64_t ease)
    LRD_REQUIRES(shard->lock) {
  const lrd_history *history = &shard->order.history;
  return shard->count < ease && history->wanted == history->bytes &&
         lrd_table_overflow_left_locked(lrd_shard_root_locked(shard));
}

/// True when another entry needs no preparation, whatever its hash. Never where entries can expire.
static inline bool lrd_shard_is_at_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return lrd_shard_is_below_locked(shard, shard->at_ease);
}

/// The same where entries can expire, for the table alone.
static inline bool lrd_shard_is_timed_at_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return lrd_shard_is_below_locked(shard, shard->timer->at_ease);
}

/// Counts an eviction of this kind.
static inline void lrd_shard_note_eviction_locked(lrd_shard *shard, unsigned kind)
    LRD_REQUIRES(shard->lock) {
  if (kind != LRD_EVICTED_BY_COUNT) shard->counters.evictions[kind]++;
}

/// The evictions by count: the unlinked entries that no counter has. May wrap; see I9.
uint64_t lrd_shard_uncounted_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Counts an entry of this cost that is in the order.
LRD_INLINE void lrd_shard_note_admitted_locked(lrd_shard *shard, lrd_entry *entry, uint64_t cost)
    LRD_REQUIRES(shard->lock) {
  entry->state = LRD_ENTRY_LINKED;
  shard->count++;
  if (LRD_UNLIKELY(cost)) shard->cost += cost;
}

/// Puts a new entry of this cost into order and sums. The caller has reserved room for it, and
/// publishes it in the table.
LRD_INLINE void lrd_shard_admit_locked(lrd_shard *shard, lrd_entry *entry, uint64_t cost)
    LRD_REQUIRES(shard->lock) {
  shard->policy->insert(&shard->order, shard->pool, entry, entry->prev);
  lrd_shard_note_admitted_locked(shard, entry, cost);
}

/// True when a linked entry has expired. False at once in caches where none can.
static inline bool lrd_entry_is_expired_locked(lrd_shard *shard, const lrd_entry *entry)
    LRD_REQUIRES(shard->lock) {
  if (LRD_LIKELY(!(entry->fields & LRD_IS_TIMED))) return false;
  uint64_t limit = lrd_limit_at(lrd_timer_tick(shard->timer));
  return lrd_timer_is_over(entry, limit);
}

/// The same as lrd_shard_admit_locked(), and publishes the entry.
void lrd_shard_link_locked(lrd_shard *shard, lrd_entry *entry, uint64_t hash)
    LRD_REQUIRES(shard->lock);

/// Takes the entry in slot `id`, which is out of the order already, out of the table. Its state
/// becomes `reason`.
LRD_INLINE void lrd_shard_erase_locked(lrd_shard *shard, lrd_entry *entry, uint32_t id,
                                       uint8_t reason) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_slots slots = lrd_pool_slots(shard->pool);
  bool found = lrd_table_remove_locked(root, slots, id, lrd_entry_hash48_locked(entry));
  LRD_ASSERT(found);
  (void)found;
  entry->prev = id;
  entry->state = reason;
  shard->count--;
  shard->unlinked++;
}

/// Takes an entry of cost 0 that is in no wheel out of table and order. Its state becomes
/// `reason`.
LRD_INLINE void lrd_shard_detach_locked(lrd_shard *shard, lrd_entry *entry, uint8_t reason)
    LRD_REQUIRES(shard->lock) {
  uint32_t id = entry->prev;
  if (entry->state == LRD_ENTRY_LINKED) {
    bool evicted = lrd_removal_evicts(reason);
    id = shard->policy->remove(&shard->order, shard->pool, entry, evicted);
  }
  lrd_shard_erase_locked(shard, entry, id, reason);
}

/// Takes an entry with optional fields out of the sums that these belong to; returns its cost.
uint64_t lrd_shard_drop_fields_locked(lrd_shard *shard, lrd_entry *entry) LRD_REQUIRES(shard->lock);

/// lrd_shard_detach_locked() for any entry, which is added to `removed`.
static inline void lrd_shard_unlink_locked(lrd_shard *shard, lrd_entry *entry, uint8_t reason,
                                           lrd_chain *removed) LRD_REQUIRES(shard->lock) {
  uint64_t cost = LRD_UNLIKELY(entry->fields) ? lrd_shard_drop_fields_locked(shard, entry) : 0;
  lrd_shard_detach_locked(shard, entry, reason);
  lrd_chain_add_costing(removed, entry, cost);
}

/// Takes a linked entry out of the order but not out of the table. Before the lock is released it
/// must be replaced, unlinked, or put back as if new, by lrd_shard_restore_locked().
void lrd_shard_displace_locked(lrd_shard *shard, lrd_entry *entry) LRD_REQUIRES(shard->lock);
void lrd_shard_restore_locked(lrd_shard *shard, lrd_entry *entry) LRD_REQUIRES(shard->lock);

/// Publishes `entry` in place of `old`, which has the same key: readers see one or the other.
/// `entry` takes the place of `old` in the order, or enters as a new one if `old` is displaced.
/// `old` is added to `removed`.
void lrd_shard_replace_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint64_t hash,
                              lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// The same for a copy of `old` with the same cost: the policy takes it for no replacement, and the
/// deadline stays. If only the copy has a field for one, it gets one by the rule.
void lrd_shard_move_locked(lrd_shard *shard, lrd_entry *old, lrd_entry *entry, uint64_t hash,
                           lrd_chain *removed) LRD_REQUIRES(shard->lock);

/// Empties order and sums in O(1), after lrd_growth_leave_locked() has given up the tables. The
/// entries leave as `order`.
void lrd_shard_empty_locked(lrd_shard *shard, lrd_order *order) LRD_REQUIRES(shard->lock);

/// Adds all entries of such an order to `removed`. Needs no lock.
void lrd_order_dissolve(lrd_order *order, const lrd_policy *policy, lrd_pool *pool, uint8_t reason,
                        lrd_chain *removed);

/// True when the processor is unlikely to have at hand what a removal touches.
LRD_INLINE bool lrd_shard_is_far_locked(const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return shard->count >= shard->far;
}

/// Begins to load the bucket of a hash and its hints, `references` for each. Needs no lock.
static inline void lrd_shard_prefetch(lrd_shard *shard, uint64_t hash, uint32_t references) {
  uint64_t buckets = LRD_LOAD(&shard->buckets);
  uintptr_t first = LRD_LOAD(&shard->bucket);
  uint64_t index = (uint64_t)(((unsigned __int128)hash * buckets) >> 64);
  LRD_PREFETCH((const void *)(first + index * sizeof(lrd_bucket)));
  if (!references) return;
  uintptr_t hints = LRD_LOAD(&shard->hints);
  LRD_PREFETCH((const void *)(hints + index * references * sizeof(lrd_hints)));
}

/// True when `entry` is linked and its hash has these upper 48 bits. An entry that is not linked is
/// not touched.
static inline bool lrd_shard_holds_locked(lrd_shard *shard, const lrd_entry *entry, uint64_t hash48)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  lrd_slots slots = lrd_pool_slots(shard->pool);
  return lrd_table_holds_locked(root, slots, entry, hash48) && lrd_entry_hash48(entry) == hash48;
}

#pragma clang assume_nonnull end
