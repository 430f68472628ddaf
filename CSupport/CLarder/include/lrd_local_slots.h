// SPDX-License-Identifier: Apache-2.0
/* lrd_local_slots.h — the slots of a pool whose cache one thread has for itself.
 *
 * Slots and their ids are those of lrd_pool.h, so policies find entries as in any pool. But pages
 * have no headers, and the lock, the page lists and the reserve of the pool are not used. Page n
 * has twice the bytes of page n - 1, up to 2 MiB. Pages are freed together, when no slot is in use.
 *
 * Guard: that of the cache, see lrd_local.h. */
#pragma once

#include "lrd_alloc.h"
#include "lrd_pool.h"

#pragma clang assume_nonnull begin

typedef struct lrd_local_slots {
  uint32_t free_head[2]; // chains of free slots, and of free pairs, by entry->next
  uint32_t fresh;        // ids from here to `end` were never used
  uint32_t end;
  uint32_t pages;
  uint64_t used;
  size_t bytes;
} lrd_local_slots;

/// No page, no slot.
void lrd_local_slots_open(lrd_local_slots *slots);

/// Frees all pages. No slot may be in use.
void lrd_local_slots_close(lrd_local_slots *slots, lrd_pool *pool);

/// lrd_local_slots_take() where all slots are in use, or single ones are too small.
lrd_entry *_Nullable lrd_local_slots_take_slow(lrd_local_slots *slots, lrd_pool *pool,
                                               uint64_t cost);

/// Memory for an entry of this cost; its `prev` is its slot id. NULL without memory.
LRD_INLINE lrd_entry *_Nullable lrd_local_slots_take(lrd_local_slots *slots, lrd_pool *pool,
                                                     uint64_t cost) {
  if (LRD_UNLIKELY(cost && pool->odd & LRD_HAS_COST)) {
    return lrd_local_slots_take_slow(slots, pool, cost);
  }
  uint32_t id = slots->free_head[0];
  lrd_entry *entry;
  if (id != LRD_NIL) {
    entry = lrd_pool_entry(pool, id);
    slots->free_head[0] = entry->next;
  } else {
    id = slots->fresh;
    if (LRD_UNLIKELY(id == slots->end)) return lrd_local_slots_take_slow(slots, pool, cost);
    entry = lrd_pool_entry(pool, id);
    slots->fresh = id + 1;
  }
  slots->used++;
  LRD_UNPOISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  entry->prev = id;
  return entry;
}

/// Takes back the slot, or the pair, of an entry whose `prev` is its slot id.
static inline void lrd_local_slots_give(lrd_local_slots *slots, lrd_pool *pool, lrd_entry *entry) {
  uint32_t *head = &slots->free_head[(entry->fields & pool->odd) != 0];
  entry->state = LRD_ENTRY_FREE;
  entry->next = *head;
  LRD_POISON(entry + 1, pool->stride - pool->prefix - sizeof *entry);
  *head = entry->prev;
  slots->used--;
}

#pragma clang assume_nonnull end
