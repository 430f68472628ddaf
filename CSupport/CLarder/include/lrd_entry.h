// SPDX-License-Identifier: Apache-2.0
/* lrd_entry.h — the header of one stored pair: [ header | key | value ] in one slot of a pool.
 *
 * The core knows only the header. Key and value belong to the layer above, which writes them before
 * the entry is published and destroys them after the entry is retired; neither changes in between.
 * What a hit touches comes last, beside key and value: entries are packed, and the fewer bytes a
 * hit spans the rarer it needs a second cache line.
 *
 * FIELDS
 *   prev, next   slot ids the policy links entries with, into lists or trees. Guard: shard's lock.
 *                An unlinked entry keeps its own slot id in `prev`; `next` chains it to others.
 *   hash_…       bits 16..63 of the hash. Written before publication, constant until destruction.
 *   state        where the entry is in its life. Guard: the shard's lock, then the owner.
 *   queue        which of the policy's queues the entry is in. Guard and byte: that of `state`.
 *   policy_bits  hits since the policy last looked, for policies that have readers count them in
 *                the entry: relaxed and saturating, lost updates are accepted. It shares a byte
 *                with nothing, because readers store to it without a lock. Policies that get hits
 *                in batches keep what they like in it, under the lock.
 *   cost         the entry's cost. As hash. */
#pragma once

#include "lrd_base.h"
#include "lrd_hash.h"

#include <string.h>

#pragma clang assume_nonnull begin

/// No slot: the end of a list or a chain.
#define LRD_NIL UINT32_MAX

/// The life of an entry. From LRD_REMOVED_LIMIT on the value tells why it was removed. DISPLACED:
/// in the table and out of the order, while its replacement makes room; not seen without the lock.
enum lrd_entry_state {
  LRD_ENTRY_FREE = 0,
  LRD_ENTRY_LINKED = 1,
  LRD_ENTRY_DISPLACED = 2,
  LRD_REMOVED_LIMIT = 3,
  LRD_REMOVED_TRIM = 4,
  LRD_REMOVED_REPLACED = 5,
  LRD_REMOVED_BY_CALL = 6,
};

/// The limit, or a shard's share of it, where there is none.
#define LRD_UNBOUNDED UINT64_MAX

/// A number of entries, and the sum of their costs.
typedef struct lrd_amount {
  uint64_t count;
  uint64_t cost;
} lrd_amount;

typedef struct lrd_entry {
  uint32_t prev;
  uint32_t next;
  uint64_t cost;
  uint32_t hash_mid;
  uint16_t hash_high;
  uint8_t state : 4;
  uint8_t queue : 4;
  uint8_t policy_bits;
} lrd_entry;

/// Bits of an address, see lrd_table.h; the others tell something else wherever one is kept.
#define LRD_ADDRESS_BITS 48
#define LRD_ADDRESS_MASK (((uint64_t)1 << LRD_ADDRESS_BITS) - 1)

#define LRD_REFERENCES_MOST 2

/// Memory outside of an entry that a hit on it reads: `skip` bytes behind the address which is in
/// the entry at `offset`. The bits there need not be an address, and the upper 16 do not count.
typedef struct lrd_reference {
  uint32_t offset;
  uint32_t skip;
} lrd_reference;

/// All such memory of the entries of one cache. Constant once the cache is made.
typedef struct lrd_references {
  uint32_t count;
  lrd_reference at[LRD_REFERENCES_MOST];
} lrd_references;

/// Where what a reference of an entry refers to is, if it is an address.
LRD_INLINE uint64_t lrd_entry_refers_to(const lrd_entry *entry, lrd_reference reference) {
  uint64_t bits;
  memcpy(&bits, (const char *)entry + reference.offset, sizeof bits);
  return (bits & LRD_ADDRESS_MASK) + reference.skip;
}

/// The hash as far as placement needs it: bits 16..63, the rest 0.
LRD_INLINE uint64_t lrd_entry_hash48(const lrd_entry *entry) LRD_NONBLOCKING {
  return (uint64_t)entry->hash_high << 48 | (uint64_t)entry->hash_mid << 16;
}

/// The mixed hash of the entry's key: see lrd_hash_mix().
LRD_INLINE uint64_t lrd_entry_mixed_hash(const lrd_entry *entry) {
  return lrd_hash_mix(lrd_entry_hash48(entry));
}

/// Sets what the core has to know of an entry that is not yet published.
LRD_INLINE void lrd_entry_describe(lrd_entry *entry, uint64_t hash, uint64_t cost) {
  entry->hash_mid = (uint32_t)(hash >> 16);
  entry->hash_high = (uint16_t)(hash >> 48);
  entry->cost = cost;
}

/// The state alone. (Swift would load the whole header to get at a few bits of it, and with them
/// the byte that readers store to.)
LRD_INLINE uint8_t lrd_entry_get_state(const lrd_entry *entry) LRD_NONBLOCKING {
  return entry->state;
}

/// The hits counted in the entry.
LRD_INLINE uint8_t lrd_entry_bits(const lrd_entry *entry) LRD_NONBLOCKING {
  return __atomic_load_n(&entry->policy_bits, __ATOMIC_RELAXED);
}

/// Sets the count; a hit that a reader counts at the same time may be lost, or be all that is left.
LRD_INLINE void lrd_entry_set_bits(lrd_entry *entry, uint8_t bits) LRD_NONBLOCKING {
  __atomic_store_n(&entry->policy_bits, bits, __ATOMIC_RELAXED);
}

/// Counts a hit, up to `most`.
LRD_INLINE void lrd_entry_count_hit(lrd_entry *entry, uint8_t most) LRD_NONBLOCKING {
  uint8_t bits = lrd_entry_bits(entry);
  if (bits < most) lrd_entry_set_bits(entry, (uint8_t)(bits + 1));
}

/// True when the entry's key may be one whose hash is `hash`.
LRD_INLINE bool lrd_entry_may_match(const lrd_entry *entry, uint64_t hash) LRD_NONBLOCKING {
  return entry->hash_mid == (uint32_t)(hash >> 16) && entry->hash_high == (uint16_t)(hash >> 48);
}

#pragma clang assume_nonnull end
