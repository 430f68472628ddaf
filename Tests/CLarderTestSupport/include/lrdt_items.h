// SPDX-License-Identifier: Apache-2.0
/* lrdt_items.h — the entries that a test has stored, compared with every way to look into a shard.
 */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// Two references of an entry, which lookups prefetch: its key, taken for an address, and 80 bytes
/// behind that.
const lrd_references *lrdt_two_references(void);

/// The key of an entry. Tests keep the whole hash there.
static inline uint64_t *lrdt_entry_key(lrd_entry *entry) {
  return (uint64_t *)(entry + 1);
}

typedef struct lrdt_item {
  lrd_entry *entry;
  uint32_t id; // of its slot
  uint64_t hash;
  bool present;
  // Where the last check found the entry. A test that links the entry anew clears these.
  const void *_Nullable cell;
  const lrd_bucket *_Nullable head;
  uint64_t link;
} lrdt_item;

/// Looks all items up, with and without the lock. Each lookup must find exactly the items that are
/// present. If an item is in another cell than at the last check, the link of its former bucket
/// must have changed: readers learn of moves by that. NULL, or what is wrong. One thread only.
const char *_Nullable lrdt_items_check(lrd_cache *cache, lrd_lane *lane, lrdt_item *items,
                                       size_t count);

/// Calls lrd_find() for an item. `items` are all those of its shard, and tell what it must find.
/// NULL, or what is wrong.
const char *_Nullable lrdt_item_find(lrd_cache *cache, lrd_lane *lane, const lrdt_item *item,
                                     const lrdt_item *items, size_t count);

#pragma clang assume_nonnull end
