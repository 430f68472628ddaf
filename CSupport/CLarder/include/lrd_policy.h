// SPDX-License-Identifier: Apache-2.0
/* lrd_policy.h — an eviction policy: a few functions over the order of one shard.
 *
 * A policy orders entries. It does not touch the table, the limits or the states of entries. Unless
 * said otherwise, its functions run under the shard's lock, neither allocate nor free, and take a
 * bounded number of steps, whatever the shard holds.
 *
 * HITS reach a policy in one of three ways, which `hits_most` chooses:
 *   LRD_HITS_IGNORED    not at all: a hit stores nothing but its thread's own counter
 *   1 … LRD_HITS_MOST   a hit adds one to the entry's `policy_bits` until they reach this number.
 *                       The policy reads and resets them in search of a victim. Updates may be
 *                       lost; nothing else that threads share is written
 *   LRD_HITS_BATCHED    threads gather their hits and hand them to `access`, oldest first, when a
 *                       trylock gets the shard, and in any case before they change it
 *
 * LOOKUPS THAT MISS reach a policy that `listens`, for a sample of the keys. The thread notes them
 * in its lane and hands them over when it has a shard's lock anyway, or gets one by a trylock.
 *
 * AN INSERTION calls, in this order:
 *   prefetch             if the last one had to evict
 *   access               for a replacement, which is a hit, if hits are batched; else the hit adds
 *                        one to the entry's bits
 *   victim and remove    until there is room; in between maybe pass, victim and renew
 *   insert or replace
 * A new entry is thus never its own victim. Where one entry is to go for a new one, the short way
 * (lrd_shortway.h) and local caches prefer `exchange`: victim, remove and insert in one. */
#pragma once

#include "lrd_order.h"

#pragma clang assume_nonnull begin

enum { LRD_HITS_IGNORED = 0, LRD_HITS_MOST = 15, LRD_HITS_BATCHED = 255 };

/// In place of these, where a hit looks at a deadline first (lrd_use()).
enum { LRD_HITS_TIMED = 254 };

/// `steps_most`, if the policy has no reason for another number.
enum { LRD_VICTIM_STEPS = 64 };

typedef struct lrd_policy {
  uint8_t hits_most;
  uint8_t entry_bytes; // kept in each entry beyond the header, see lrd_pool_extra(); multiple of 8
  uint16_t steps_most; // entries that an eviction may look at in search of its victim
  bool by_cost;        // is of use only with a cost limit
  bool divisible;      // gives as many hits when entries are spread over shards
  size_t state_bytes;  // of `state` in each order; cleared when it is made

  /// Makes what the shards of one cache share, without a lock; false without memory. Has its own
  /// lock or none. 0 shards: there is one, which one thread uses, so no lock is taken. NULL: they
  /// share nothing.
  bool (*_Nullable create)(void *_Nullable *_Nonnull shared, uint32_t shards);
  void (*_Nullable destroy)(void *_Nullable shared);
  /// Memory that is shared now. Called without a lock at any time.
  size_t (*_Nullable shared_bytes)(void *_Nullable shared);
  /// A limit of the cache has changed, and then `resize` follows for each shard; or an insertion
  /// asked for it by `order->adjust`. Called without a lock, by several threads at once maybe.
  void (*_Nullable adjust)(void *shared);

  /// Keys whose hashes have upper 32 bits below this number are heard of when a search does not find them.
  /// The number may change at any time. NULL: none are.
  const _Atomic(uint32_t) *_Nonnull (*_Nullable listens)(void *_Nullable shared);
  /// A lookup missed the key with these upper 48 bits of the hash. Only for a policy that listens.
  void (*_Nullable missed)(lrd_order *order, uint64_t hash48);
  /// A call removes such a key, which the order does not hold. NULL: the policy does not care.
  void (*_Nullable removed)(lrd_order *order, uint64_t hash48);

  /// Prepares state: the order is empty, new or after removeAll(). History and share stay.
  void (*_Nullable open)(lrd_order *order);
  /// `order->share` has changed, or was set for the first time. A history that is far too large for
  /// it is wanted smaller, or not at all.
  void (*_Nullable resize)(lrd_order *order);
  /// `order->history` is new memory of the wanted size, cleared; none if that is 0.
  void (*_Nullable renewed)(lrd_order *order);

  /// Links a new entry that sits in slot `id`. Its bits and its queue are 0.
  void (*insert)(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);
  /// Unlinks an entry; returns its slot id. `evicted`: to make room, because `victim` has named it
  /// or a quota, a veto or a trim chose it. Otherwise a call removed it, which is no evidence for
  /// or against anything. `prev` of the entry stays, or becomes LRD_NIL: the caller begins to load
  /// the one that was hotter.
  uint32_t (*remove)(lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool evicted);
  /// Links `entry`, which sits in slot `id` and has the same key, in the place of `old`, with the
  /// bits of `old`; returns the slot id of `old`.
  uint32_t (*replace)(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                      uint32_t id);
  /// The same for a copy of `old`, which was moved: nothing has been stored, and everything that
  /// the policy knows stays as it is. NULL: `replace` does no more than that.
  uint32_t (*_Nullable move)(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                             uint32_t id);
  /// Notes `count` hits, oldest first. Only for LRD_HITS_BATCHED.
  void (*_Nullable access)(lrd_order *order, lrd_pool *pool,
                           lrd_entry *_Nonnull const *_Nonnull entries, uint32_t count);
  /// The slot id of the entry to evict next, LRD_NIL when there is none. Leaves it linked; may move
  /// others, and looks at `steps_most` of them at most, counting each in `order->steps`. Where
  /// `order->trim` is LRD_TRIM_DEEP, many calls follow each other, and the hottest entries are to
  /// stay.
  uint32_t (*victim)(lrd_order *order, lrd_pool *pool);
  /// Evicts and inserts: `victim`, `remove` and `insert` in one, but never in a trim, and only
  /// where no entry of the shard has a cost, the new one included. Returns what `remove` would,
  /// with `prev` of the victim as there, after the insertion too; LRD_NIL if there is no victim:
  /// then nothing is inserted. NULL: the three are called.
  uint32_t (*_Nullable exchange)(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id);

  /// Makes `victim` name others before this entry, which it has just named, as well as a few steps
  /// can. The policy learns nothing from that. NULL where cost decides: nothing is passed over.
  void (*_Nullable pass)(lrd_order *order, lrd_pool *pool, lrd_entry *entry);
  /// Puts `entry`, whose latest hit is noted already, where a hit noted now would have put it:
  /// others were passed over since. The policy learns nothing from that. NULL: hits move nothing.
  void (*_Nullable renew)(lrd_order *order, lrd_pool *pool, lrd_entry *entry);

  /// Begins to load what inserting a key with these upper 48 bits of the hash into a full shard,
  /// and the eviction for it, will touch of the order and the history, so that cache misses
  /// overlap. Changes nothing. NULL: what an eviction itself begins to load is enough.
  void (*_Nullable prefetch)(const lrd_order *order, lrd_pool *pool, uint64_t hash48);

  /// Unlinks some entry of a taken order and returns its slot id, LRD_NIL when none is left.
  uint32_t (*drain)(lrd_order *order, lrd_pool *pool);
  /// The order in which snapshots list a shard, from either end; LRD_NIL behind the last. Changes
  /// nothing.
  uint32_t (*hottest)(const lrd_order *order, lrd_pool *pool);
  uint32_t (*coldest)(const lrd_order *order, lrd_pool *pool);
  uint32_t (*colder)(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
  uint32_t (*hotter)(const lrd_order *order, lrd_pool *pool, lrd_entry *entry);
  /// Stops the process when an invariant of the order is broken. May take many steps.
  void (*check)(const lrd_order *order, lrd_pool *pool);
} lrd_policy;

#pragma clang assume_nonnull end
