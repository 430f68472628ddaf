// SPDX-License-Identifier: Apache-2.0
/* lrdt_items.h — the entries that a test has stored, compared with every way to look into a shard.
 */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// Two references of an entry, to be prefetched: its key as if that were an address, and the
/// address behind it.
const lrd_references *lrdt_two_references(void);

/// The key of an entry. Tests keep the whole hash there.
static inline uint64_t *lrdt_entry_key(lrd_entry *entry) {
  return (uint64_t *)(entry + 1);
}

typedef struct lrdt_item {
  lrd_entry *entry;
  uint64_t hash;
  bool present;
  // Where the last check found the entry. A test that links the entry anew clears these.
  const void *_Nullable slot;
  const lrd_bucket *_Nullable head;
  uint64_t link;
} lrdt_item;

/// Looks all items up, with and without the lock. NULL when each lookup finds exactly the items
/// that are present, otherwise the name of the one that does not. If an item has changed its slot
/// since the last check, the link of its former bucket must have changed, too: that is how readers
/// learn of moves. One thread only.
const char *_Nullable lrdt_items_check(lrd_cache *cache, lrd_lane *lane, lrdt_item *items,
                                       size_t count);

/// Calls lrd_find() for an item. `items` are all those of its shard. NULL when the result is what
/// they say, otherwise what went wrong.
const char *_Nullable lrdt_item_find(lrd_cache *cache, lrd_lane *lane, const lrdt_item *item,
                                     const lrdt_item *items, size_t count);

#pragma clang assume_nonnull end
