// SPDX-License-Identifier: Apache-2.0
/* lrd_shard.h — a shard: one lock, one hash table and one policy order over the same entries.
 *
 * INVARIANTS, true whenever `lock` is free; lrd_shard_check() tests each by its number:
 *   I1  An entry is in the policy's order exactly when one slot of its chain points to it, and then
 *       its state is LINKED.
 *   I2  `count` and `cost` are the number of those entries and the sum of their costs.
 *   I3  While a table moves, buckets of the old one below `moved` are empty, and marked MOVED.
 *   I4  `retired`, `awaiting` and `proven` hold unlinked entries only, and their counts are right;
 *       `held` is empty when `proven` is.
 *   I5  Every entry in a main bucket has the hints of its references, but for the upper bits.
 *   I6  With fewer entries than `at_ease` an insertion finds the table as it should be: it neither
 *       moves, nor is it full, nor wants a successor to be made.
 * LOCKING
 *   `lock` guards every field but `root`, `bucket`, `buckets` and `hints`. It is a leaf: its holder
 *   takes no other lock but those of the same cache's next shards (lrd_change_empty(), fork),
 *   allocates and frees nothing, and runs no user code but ==. A policy may try a lock of its own
 *   under it. A name ending in _locked needs it; any other function needs it free. Removed entries
 *   leave as a chain.
 * THE ROOT
 *   `root` is the table readers start from. Written under the lock (release), read by everyone
 *   (acquire). While a table moves it stays the old one, whose `next` is the new one. Emptying the
 *   shard swaps in another root: readers therefore check, after publishing an entry's hazard, not
 *   only the slot but also that the root has not changed.
 *   `bucket`, `buckets` and `hints` are written after the root (relaxed) and tell what to load
 *   ahead of the lock, where the root itself must not be followed: whatever a thread sees of them,
 *   nothing is read there.
 * LINES
 *   A change of a shard that another processor changed last waits for each line that both write.
 *   What every change writes therefore lies together: in the two lines from `lock` on, which end
 *   within `order`, and in the two from `counters` on.
 * RETIREMENT
 *   Unlinked entries wait in `retired` until some have gathered, then in `awaiting` for a grace
 *   period (lrd_grace.h) after `ticket`, until a scan of all hazard slots proves them free; those
 *   wait in `proven` until somebody destroys them. Where the scan has found only a few hazards the
 *   entries go to `proven` unseen and the hazards to `held`: who takes an entry out looks whether
 *   it is one of them, and if so it is retired again. So no write pays for looking at a hundred
 *   entries. Every entry in `awaiting` was unlinked before `ticket` was drawn. Every entry in
 *   `proven` was unlinked before a scan that found nobody holding it, or whose hazards are all in
 *   `held`; hazards are added there with the entries, and forgotten when `proven` is empty. At most
 *   lrd_shard_retired_most() entries, and twice as many as readers hold, or the cache's retire cost
 *   wait in all three; the writer that goes past that scans and destroys itself. */
#pragma once

#include "lrd_chain.h"
#include "lrd_policy.h"
#include "lrd_table.h"

#pragma clang assume_nonnull begin

/// Bounds of how many entries may wait for destruction in one shard.
enum { LRD_RETIRED_FEW = 256, LRD_RETIRED_MANY = 2048 };

/// Hazards a scan may find and still leave it to later to look for them among what it scanned.
#define LRD_HELD_MOST 16

/// Alignment of what a policy keeps in a shard.
#define LRD_STATE_ALIGNMENT ((size_t)64)

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
  uint64_t at_ease; // see I6; guard: `lock`. Changes with the tables, so it is beside the root

  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  uint32_t guarded;  // entries a scan found in readers' hands, all still in `retired`
  uint64_t unlinked; // entries that ever left; a batch is sound while this stands still
  unsigned __int128 cost;
  uint64_t count;
  lrd_order order;
  lrd_table *_Nullable retired_tables;
  lrd_counters counters;
  uint32_t held_count;
  bool full; // the last insertion had to evict
  lrd_chain retired;
  lrd_chain proven;
  uintptr_t held[LRD_HELD_MOST]; // hazards that what is in `proven` is to be compared with
  lrd_chain awaiting;
  uint64_t ticket;
  bool fencing;        // a writer has taken on the fence for `ticket`
  uint64_t visited;    // `unlinked` when the maintenance thread came last
  bool attended;       // and writers did so much since the time before that they need no help
  uint64_t moved_seen; // `moved` of the root when that thread left
} lrd_shard;

/// Entries that may wait for destruction: a sixteenth of those that are there, within bounds.
static inline uint32_t lrd_shard_retired_most(const lrd_shard *shard) {
  uint64_t part = shard->count / 16;
  if (part > LRD_RETIRED_MANY) part = LRD_RETIRED_MANY;
  return part < LRD_RETIRED_FEW ? LRD_RETIRED_FEW : (uint32_t)part;
}

/// Memory an insertion needs before it can go on, and that is allocated outside the lock.
typedef enum lrd_need_kind {
  LRD_NEED_NOTHING,
  LRD_NEED_TABLE,
  LRD_NEED_OVERFLOW,
  LRD_NEED_HISTORY,
} lrd_need_kind;

typedef struct lrd_need {
  lrd_need_kind kind;                         // what is missing
  lrd_table *_Nullable table;                 // that needs the overflow chunk
  uint64_t buckets;                           // of the new table
  const lrd_references *_Nullable references; // of its entries
  size_t bytes;                               // of the new chunk or history
  bool may_wait;                              // the insertion can go on without it
  bool wait;                                  // set by the caller: go on without what may wait
  bool foreseen;                              // the maintenance thread should tidy the shard
  lrd_need_kind supplied;                     // what `memory` is
  void *_Nullable memory;
  size_t memory_bytes;
} lrd_need;

/// Makes an empty shard, for entries with such references. False without memory for what the policy
/// keeps in it.
bool lrd_shard_open(lrd_shard *shard, const lrd_policy *policy, void *_Nullable shared,
                    const lrd_references *references);

/// Frees all tables, and what the policy keeps. The shard must hold no entry, and no reader may be
/// inside.
void lrd_shard_close(lrd_shard *shard, const lrd_policy *policy);

/// Tells the policy what this shard may hold.
void lrd_shard_resize_locked(lrd_shard *shard, const lrd_policy *policy, lrd_amount share)
    LRD_REQUIRES(shard->lock);

/// Allocates what `need` asks for, after freeing what it holds unused. False without memory.
bool lrd_need_supply(lrd_need *need);

/// Frees what was supplied and not used.
void lrd_need_drop(lrd_need *need);

/// The table lookups start from.
static inline lrd_table *lrd_shard_root_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  return atomic_load_explicit(&shard->root, memory_order_relaxed);
}

/// lrd_shard_prepare_locked() where something may be missing.
bool lrd_shard_prepare_slow_locked(lrd_shard *shard, const lrd_policy *policy, uint64_t hash,
                                   lrd_need *need) LRD_REQUIRES(shard->lock);

/// Makes room in the table for one more entry of hash `hash`, moving a few buckets when the table
/// grows. Uses what `need` holds; true when the entry can be inserted. On false `need` says what is
/// missing: release the lock, supply it and ask again.
static inline bool lrd_shard_prepare_locked(lrd_shard *shard, const lrd_policy *policy,
                                            uint64_t hash, lrd_need *need)
    LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  const lrd_history *history = &shard->order.history;
  bool at_ease = shard->count < shard->at_ease && history->wanted == history->bytes &&
                 need->supplied == LRD_NEED_NOTHING && lrd_table_overflow_left_locked(root);
  return LRD_LIKELY(at_ease) || lrd_shard_prepare_slow_locked(shard, policy, hash, need);
}

/// What `at_ease` is to be for the table and the share as they are.
uint64_t lrd_shard_ease_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// True while a table moves.
static inline bool lrd_shard_moves_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  lrd_table *root = lrd_shard_root_locked(shard);
  return atomic_load_explicit(&root->next, memory_order_relaxed) != NULL;
}

/// Gives up the tables with all that is in them: from one moment to the next readers see an empty
/// shard. Order and sums are left to the caller, lrd_shard_empty_locked().
void lrd_shard_leave_table_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets. False when the new table first needs an overflow chunk.
bool lrd_shard_move_locked(lrd_shard *shard, int buckets) LRD_REQUIRES(shard->lock);

/// True when the table, or the one it moves to, is far too large for the entries.
bool lrd_shard_oversized_locked(lrd_shard *shard) LRD_REQUIRES(shard->lock);

/// Moves up to `buckets` buckets of a moving table, or begins to shrink one that is far too large,
/// or to move to the successor of a large one that is nearly full.
/// Uses what `need` holds. On false `need` says what is missing, as lrd_shard_prepare_locked()
/// does.
bool lrd_shard_tidy_locked(lrd_shard *shard, int buckets, lrd_need *need) LRD_REQUIRES(shard->lock);

/// Starts moving to `table`. The shard must not be moving already.
void lrd_shard_start_move_locked(lrd_shard *shard, lrd_table *table) LRD_REQUIRES(shard->lock);

/// Publishes a new entry and links it; the caller has reserved its room.
void lrd_shard_link_locked(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool,
                           lrd_entry *entry, uint64_t hash) LRD_REQUIRES(shard->lock);

/// Takes a linked entry out of table and order and adds it to `removed` with the reason as its
/// state.
void lrd_shard_unlink_locked(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool,
                             lrd_entry *entry, uint8_t reason, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Takes a linked entry out of the order and leaves it in the table, where it is to be replaced or
/// unlinked before the lock is released, or put back by lrd_shard_restore_locked() as if new.
void lrd_shard_displace_locked(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool,
                               lrd_entry *entry) LRD_REQUIRES(shard->lock);
void lrd_shard_restore_locked(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool,
                              lrd_entry *entry) LRD_REQUIRES(shard->lock);

/// Publishes `entry` in the place of `old`, which has the same key: readers see the one or the
/// other. It takes the place of `old` in the order, too, unless that is displaced: then it enters
/// the order as a new one. `old` is added to `removed`.
void lrd_shard_replace_locked(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool,
                              lrd_entry *old, lrd_entry *entry, uint64_t hash, lrd_chain *removed)
    LRD_REQUIRES(shard->lock);

/// Takes everything out at once, in O(1): readers see an empty shard from one moment to the next.
/// The entries leave as `order`, to be turned into a chain by lrd_order_dissolve() without the
/// lock.
void lrd_shard_empty_locked(lrd_shard *shard, const lrd_policy *policy, lrd_order *order)
    LRD_REQUIRES(shard->lock);

/// Adds all entries of an order nobody else can reach to `removed`.
void lrd_order_dissolve(lrd_order *order, const lrd_policy *policy, lrd_pool *pool, uint8_t reason,
                        lrd_chain *removed);

/// Begins to load the bucket of a hash and its hints, before or without the lock.
static inline void lrd_shard_foresee(lrd_shard *shard, uint64_t hash) {
  uint64_t buckets = atomic_load_explicit(&shard->buckets, memory_order_relaxed);
  uintptr_t first = atomic_load_explicit(&shard->bucket, memory_order_relaxed);
  uint64_t index = (uint64_t)(((unsigned __int128)hash * buckets) >> 64);
  LRD_PREFETCH((const void *)(first + index * sizeof(lrd_bucket)));
  uintptr_t hints = atomic_load_explicit(&shard->hints, memory_order_relaxed);
  size_t stride = shard->references->count * sizeof(lrd_hints);
  if (hints) LRD_PREFETCH((const void *)(hints + index * stride));
}

/// True when `entry` is linked under a hash with these upper 48 bits. Otherwise it is not touched.
static inline bool lrd_shard_holds_locked(lrd_shard *shard, const lrd_entry *entry, uint64_t place)
    LRD_REQUIRES(shard->lock) {
  lrd_place found;
  lrd_table *root = lrd_shard_root_locked(shard);
  return lrd_table_find_locked(root, entry, place, &found) && lrd_entry_place(entry) == place;
}

/// Stops the process when an invariant is broken. Locks `lock`.
void lrd_shard_check(lrd_shard *shard, const lrd_policy *policy, lrd_pool *pool);

#pragma clang assume_nonnull end
