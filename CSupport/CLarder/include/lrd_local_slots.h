// SPDX-License-Identifier: Apache-2.0
/* lrd_local_slots.h — the slots of a pool whose cache one thread has for itself.
 *
 * Slots and their ids are those of lrd_pool.h, so policies find entries as in any pool. But pages
 * have no headers, and the lock, the page lists and the reserve of the pool are not used. Page n
 * has twice the bytes of page n - 1, up to 2 MiB. Pages are freed together, when no slot is in use.
 *
 *   a free slot    [ the next one of its chain | its own id | state ]    in place of an entry
 *
 * Guard: that of the cache, see lrd_local.h. */
#pragma once

#include "lrd_alloc.h"
#include "lrd_pool.h"

#include <string.h>

#pragma clang assume_nonnull begin

typedef struct lrd_local_slots {
  lrd_entry *_Nullable free[2]; // chains of free slots, and of free pairs
  lrd_entry *_Nullable fresh;   // from here on, up to the id `end`, slots were never used
  uint32_t fresh_id;
  uint32_t end;
  uint32_t pages;
  uint64_t used;
  size_t bytes;
} lrd_local_slots;

/// No page, no slot.
void lrd_local_slots_open(lrd_local_slots *slots);

/// Frees all pages. No slot may be in use.
void lrd_local_slots_close(lrd_local_slots *slots, lrd_pool *pool);

/// Adds a slot to its chain, and takes the first one of a chain that is not empty.
LRD_INLINE void lrd_local_slots_push(lrd_entry *_Nullable *_Nonnull head, lrd_entry *entry,
                                     uint32_t id) {
  _Static_assert(offsetof(lrd_entry, hash_mid) >= sizeof(void *), "a pointer fits before the id");
  memcpy(entry, head, sizeof(void *));
  entry->hash_mid = id;
  entry->state = LRD_ENTRY_FREE;
  *head = entry;
}

LRD_INLINE lrd_entry *lrd_local_slots_pop(lrd_entry *_Nullable *_Nonnull head) {
  lrd_entry *entry = *head;
  memcpy(head, entry, sizeof(void *));
  entry->prev = entry->hash_mid;
  return entry;
}

/// lrd_local_slots_take() for an entry that takes a pair, or where no single slot is left. (Pairs
/// are never split.)
lrd_entry *_Nullable lrd_local_slots_take_slow(lrd_local_slots *slots, lrd_pool *pool,
                                               uint64_t cost);

/// Memory for an entry of this cost; its `prev` is its slot id. NULL without memory.
LRD_INLINE lrd_entry *_Nullable lrd_local_slots_take(lrd_local_slots *slots, lrd_pool *pool,
                                                     uint64_t cost) {
  if (LRD_UNLIKELY(cost && pool->odd & LRD_HAS_COST)) {
    return lrd_local_slots_take_slow(slots, pool, cost);
  }
  lrd_entry *entry;
  if (slots->free[0]) {
    entry = lrd_local_slots_pop(&slots->free[0]);
  } else {
    if (LRD_UNLIKELY(slots->fresh_id == slots->end)) {
      return lrd_local_slots_take_slow(slots, pool, cost);
    }
    entry = slots->fresh;
    slots->fresh = (lrd_entry *)(void *)((char *)entry + pool->stride);
    entry->prev = slots->fresh_id++;
  }
  slots->used++;
  LRD_UNPOISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  return entry;
}

/// Takes back the slot, or the pair, of an entry whose `prev` is its slot id.
static inline void lrd_local_slots_give(lrd_local_slots *slots, lrd_pool *pool, lrd_entry *entry) {
  bool pair = entry->fields & pool->odd;
  lrd_local_slots_push(&slots->free[pair], entry, entry->prev);
  LRD_POISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  slots->used--;
}

#pragma clang assume_nonnull end
