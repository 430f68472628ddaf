// SPDX-License-Identifier: Apache-2.0
/* lrd_entry.h — the header of one stored pair, in one slot of a pool.
 *
 *   [ cost ][ links | word ][ header | key | value … ]
 *                           ▲ the address of the entry
 *
 * OPTIONAL FIELDS lie before the header, so that key and value are in the same place with and
 * without them. Entries that have none pay nothing for them. One bit of the header says whether the
 * entry has a cost other than 0, and one whether it has a deadline (lrd_deadline.h); only then is
 * there a field for it. The cost moves to where the deadline would be if there is none.
 *
 * The core knows the header and what is before it. Key and value belong to the layer above. It
 * writes them before the entry is published and destroys them when no reader can hold the entry;
 * neither changes in between. The fields that a hit touches come last, beside key and value: a hit
 * then seldom needs a second cache line.
 *
 * FIELDS
 *   prev, next   slot ids by which the policy links entries into lists or trees. Guard: the shard's
 *                lock. An unlinked entry has its own slot id in `prev`, and `next` chains it.
 *   hash_…       bits 16..63 of the hash. Written before publication, constant until destruction.
 *   state        where the entry is in its life. Guard: the shard's lock, then the owner.
 *   queue        the policy's queue that the entry is in. Guard and byte: those of `state`.
 *   policy_bits  hits since the policy last looked, if readers count them in the entry: relaxed,
 *                saturating, updates may be lost. It has a byte of its own, because readers store
 *                to it without a lock. Policies that get hits in batches use it freely, under the
 *                lock.
 *   fields       the optional fields: a set of lrd_fields. Written as hash_…; byte: that of
 *                `state` */
#pragma once

#include "lrd_base.h"
#include "lrd_hash.h"

#include <stddef.h>
#include <string.h>

#pragma clang assume_nonnull begin

/// No slot: the end of a list or a chain.
#define LRD_NIL UINT32_MAX

/// The life of an entry. From LRD_REMOVED_LIMIT on the state says why it was removed. DISPLACED: in
/// the table but not in the order, while its replacement makes room; never when the lock is free.
enum lrd_entry_state {
  LRD_ENTRY_FREE = 0,
  LRD_ENTRY_LINKED = 1,
  LRD_ENTRY_DISPLACED = 2,
  LRD_REMOVED_LIMIT = 3,
  LRD_REMOVED_TRIM = 4,
  LRD_REMOVED_REPLACED = 5,
  LRD_REMOVED_BY_CALL = 6,
  LRD_REMOVED_EXPIRED = 7,
  LRD_REMOVED_PRESSURE = 8,
};

/// True for reasons that are an eviction: the policy may remember the key.
LRD_INLINE bool lrd_removal_evicts(uint8_t reason) {
  return reason == LRD_REMOVED_LIMIT || reason == LRD_REMOVED_TRIM ||
         reason == LRD_REMOVED_PRESSURE;
}

/// The optional fields of an entry.
enum lrd_fields { LRD_HAS_COST = 1, LRD_IS_TIMED = 2 };

/// A limit that is not set, or a shard's share of it.
#define LRD_UNBOUNDED UINT64_MAX

/// A number of entries, and the sum of their costs.
typedef struct lrd_amount {
  uint64_t count;
  uint64_t cost;
} lrd_amount;

typedef struct lrd_entry {
  uint32_t prev;
  uint32_t next;
  uint32_t hash_mid;
  uint16_t hash_high;
  uint8_t state : 4;
  uint8_t fields : 2;
  uint8_t queue : 2;
  uint8_t policy_bits;
} lrd_entry;
_Static_assert(sizeof(lrd_entry) == 16, "two entries of two words fill a cache line");

/// The bytes of a cost before a header, and of a deadline with its links.
#define LRD_COST_BYTES sizeof(uint64_t)
#define LRD_TIME_BYTES (2 * sizeof(uint64_t))

/// The bits of an address. What a program keeps in the others of a word is not part of it.
#define LRD_ADDRESS_BITS 48
#define LRD_ADDRESS_MASK (((uint64_t)1 << LRD_ADDRESS_BITS) - 1)

#define LRD_REFERENCES_MOST 2

/// Memory outside an entry that a hit reads: `skip` bytes behind the address that lies in the entry
/// at `offset`. The bits there may be something else than an address. The upper 16 are ignored.
typedef struct lrd_reference {
  uint32_t offset;
  uint32_t skip;
} lrd_reference;

/// The references of all entries of a cache. Constant once the cache is made.
typedef struct lrd_references {
  uint32_t count;
  lrd_reference at[LRD_REFERENCES_MOST];
} lrd_references;

/// The address that a reference of an entry leads to, if its bits are an address.
LRD_INLINE uint64_t lrd_entry_refers_to(const lrd_entry *entry, lrd_reference reference) {
  uint64_t bits;
  memcpy(&bits, (const char *)entry + reference.offset, sizeof bits);
  return (bits & LRD_ADDRESS_MASK) + reference.skip;
}

/// Begins to load the memory that an entry refers to, before it is destroyed: two cache lines of
/// each reference. The first has an object's reference count. The second is for whoever gets the
/// memory next, which is most likely the next insertion's value: a processor locks only when all
/// stores before that are done, and stores to memory that is far away take long. With one line,
/// insertions of new objects into a full cache of 100,000 take a fifth longer.
static inline void lrd_entry_prefetch_references(const lrd_entry *entry,
                                                 const lrd_references *references) {
  for (uint32_t i = 0; i < references->count; i++) {
    uint64_t address = lrd_entry_refers_to(entry, references->at[i]);
    LRD_PREFETCH((const void *)(uintptr_t)address);
    LRD_PREFETCH((const void *)(uintptr_t)(address + LRD_LINE_PAIR / 2));
  }
}

/// Where the cost of an entry with these fields lies.
LRD_INLINE uint64_t *lrd_entry_cost_field(lrd_entry *entry, uint8_t fields) {
  return (uint64_t *)(void *)entry - (fields & LRD_IS_TIMED ? 3 : 1);
}

/// True when the entry has a field for its cost. Under the shard's lock if the entry is linked:
/// `fields` shares its byte with `state`.
LRD_INLINE bool lrd_entry_has_cost(const lrd_entry *entry) {
  return entry->fields & LRD_HAS_COST;
}

/// The cost. The lock as above.
LRD_INLINE uint64_t lrd_entry_cost(const lrd_entry *entry) {
  if (LRD_LIKELY(!lrd_entry_has_cost(entry))) return 0;
  return *lrd_entry_cost_field((lrd_entry *)(uintptr_t)entry, entry->fields);
}

/// Bits 16..63 of the hash, the rest 0: enough to find bucket and shard.
LRD_INLINE uint64_t lrd_entry_hash48(const lrd_entry *entry) LRD_NONBLOCKING {
  return (uint64_t)entry->hash_high << 48 | (uint64_t)entry->hash_mid << 16;
}

/// The same, in one load, which reads a half of `next` as well: for those who may read the links.
LRD_INLINE uint64_t lrd_entry_hash48_locked(const lrd_entry *entry) {
  _Static_assert(offsetof(lrd_entry, hash_mid) == offsetof(lrd_entry, next) + 4 &&
                     offsetof(lrd_entry, hash_high) == offsetof(lrd_entry, hash_mid) + 4,
                 "next, then the hash");
  uint64_t bits;
  memcpy(&bits, (const char *)&entry->hash_mid - 2, sizeof bits);
  return lrd_hash48(bits);
}

/// lrd_hash_mix() of the entry's hash.
LRD_INLINE uint64_t lrd_entry_mixed_hash(const lrd_entry *entry) {
  return lrd_hash_mix(lrd_entry_hash48_locked(entry));
}

/// Sets hash and cost of an entry that is not yet published, and clears the rest of its header but
/// for the links. Its slot must have been taken for an entry of this cost.
LRD_INLINE void lrd_entry_describe(lrd_entry *entry, uint64_t hash, uint64_t cost) {
  // One store for the second half of the header: all its fields but the hash are 0.
  uint64_t half = hash >> 16;
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the hash comes first");
  memcpy(&entry->hash_mid, &half, sizeof half);
  if (LRD_UNLIKELY(cost)) {
    entry->fields = LRD_HAS_COST;
    *lrd_entry_cost_field(entry, LRD_HAS_COST) = cost;
  }
}

/// Makes such an entry, which costs nothing, a linked one: a byte has state, fields and queue.
LRD_INLINE void lrd_entry_set_linked(lrd_entry *entry) {
  LRD_ASSERT(!entry->fields && !entry->queue);
  uint8_t *byte = (uint8_t *)&entry->hash_high + sizeof entry->hash_high;
  *byte = LRD_ENTRY_LINKED;
  LRD_ASSERT(entry->state == LRD_ENTRY_LINKED && !entry->fields && !entry->queue);
}

/// The state. (Swift would load the whole header for it, and the byte that readers store to.)
LRD_INLINE uint8_t lrd_entry_get_state(const lrd_entry *entry) LRD_NONBLOCKING {
  return entry->state;
}

/// The hits counted in the entry.
LRD_INLINE uint8_t lrd_entry_bits(const lrd_entry *entry) LRD_NONBLOCKING {
  return __atomic_load_n(&entry->policy_bits, __ATOMIC_RELAXED);
}

/// Sets the count. If a reader counts a hit at the same time, either store may be lost.
LRD_INLINE void lrd_entry_set_bits(lrd_entry *entry, uint8_t bits) LRD_NONBLOCKING {
  __atomic_store_n(&entry->policy_bits, bits, __ATOMIC_RELAXED);
}

/// Counts a hit, up to `most`.
LRD_INLINE void lrd_entry_count_hit(lrd_entry *entry, uint8_t most) LRD_NONBLOCKING {
  uint8_t bits = lrd_entry_bits(entry);
  if (bits < most) lrd_entry_set_bits(entry, (uint8_t)(bits + 1));
}

/// True when the hash of the entry's key may be `hash`.
LRD_INLINE bool lrd_entry_may_match(const lrd_entry *entry, uint64_t hash) LRD_NONBLOCKING {
  return entry->hash_mid == (uint32_t)(hash >> 16) && entry->hash_high == (uint16_t)(hash >> 48);
}

#pragma clang assume_nonnull end
