// SPDX-License-Identifier: Apache-2.0
/* lrd_entry.h — the header of one stored pair: [ header | key | value ] in one slot of a pool.
 *
 * The core knows only the header. Key and value belong to the layer above, which writes them before
 * the entry is published and destroys them after the entry is retired; neither changes in between.
 *
 * FIELDS
 *   prev, next   slot ids of the neighbours on the policy's list. Guard: the shard's lock.
 *                An unlinked entry keeps its own slot id in `prev`; `next` chains it to others.
 *   hash_…       bits 16..63 of the hash. Written before publication, constant until destruction.
 *   state        where the entry is in its life. Guard: the shard's lock, then the owner.
 *   policy_bits  a policy's own byte, for those that count hits in the entry (relaxed, saturating).
 *   cost         the entry's cost. As hash. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// No slot: the end of a list or a chain.
#define LRD_NIL UINT32_MAX

/// The life of an entry. From LRD_REMOVED_LIMIT on the value tells why it was removed.
enum lrd_entry_state {
  LRD_ENTRY_FREE = 0,
  LRD_ENTRY_LINKED = 1,
  LRD_REMOVED_LIMIT = 2,
  LRD_REMOVED_TRIM = 3,
  LRD_REMOVED_REPLACED = 4,
  LRD_REMOVED_BY_CALL = 5,
};

typedef struct lrd_entry {
  uint32_t prev;
  uint32_t next;
  uint32_t hash_mid;
  uint16_t hash_high;
  uint8_t state;
  uint8_t policy_bits;
  uint64_t cost;
} lrd_entry;

/// Unlinked entries, chained by `next` in the order they were added.
typedef struct lrd_chain {
  lrd_entry *_Nullable head;
  lrd_entry *_Nullable tail;
  uint32_t count;
  uint64_t cost;
} lrd_chain;

/// The hash as far as placement needs it: bits 16..63, the rest 0.
LRD_INLINE uint64_t lrd_entry_place(const lrd_entry *entry) LRD_NONBLOCKING {
  return (uint64_t)entry->hash_high << 48 | (uint64_t)entry->hash_mid << 16;
}

/// Sets what the core has to know of an entry that is not yet published.
LRD_INLINE void lrd_entry_describe(lrd_entry *entry, uint64_t hash, uint64_t cost) {
  entry->hash_mid = (uint32_t)(hash >> 16);
  entry->hash_high = (uint16_t)(hash >> 48);
  entry->cost = cost;
}

/// True when the entry's key may be one whose hash is `hash`.
LRD_INLINE bool lrd_entry_may_match(const lrd_entry *entry, uint64_t hash) LRD_NONBLOCKING {
  return entry->hash_mid == (uint32_t)(hash >> 16) && entry->hash_high == (uint16_t)(hash >> 48);
}

#pragma clang assume_nonnull end
