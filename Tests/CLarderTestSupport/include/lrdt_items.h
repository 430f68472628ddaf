// SPDX-License-Identifier: Apache-2.0
/* lrdt_items.h — a set of entries as a test knows it, held against every way to look into a shard.
 */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// Two references of an entry: to where its key points, as if it were an address, and behind that.
const lrd_references *lrdt_two_references(void);

/// Where tests keep an entry's whole hash, as its key.
static inline uint64_t *lrdt_entry_key(lrd_entry *entry) {
  return (uint64_t *)(entry + 1);
}

typedef struct lrdt_item {
  lrd_entry *entry;
  uint64_t hash;
  bool present;
  // Where the last check found it; cleared by the test when it links the entry anew.
  const void *_Nullable slot;
  const lrd_bucket *_Nullable head;
  uint64_t link;
} lrdt_item;

/// NULL when all lookups, with and without the lock, find exactly the items that are present, else
/// the name of the one that does not. An item whose slot has changed since the last check must have
/// left another link in the bucket it was in: that is how readers learn of moves. One thread only.
const char *_Nullable lrdt_items_check(lrd_cache *cache, lrd_lane *lane, lrdt_item *items,
                                       size_t count);

/// The result of lrd_find() for items of the same shard, checked: NULL when it is what the items
/// say.
const char *_Nullable lrdt_item_find(lrd_cache *cache, lrd_lane *lane, const lrdt_item *item,
                                     const lrdt_item *items, size_t count);

#pragma clang assume_nonnull end
