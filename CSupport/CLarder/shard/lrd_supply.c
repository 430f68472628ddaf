// SPDX-License-Identifier: Apache-2.0
#include "lrd_supply.h"

#include "lrd_alloc.h"
#include "lrd_order.h"

static size_t alignment_of(lrd_supply_kind kind) {
  return kind >= LRD_SUPPLY_HISTORY ? LRD_STATE_ALIGNMENT : _Alignof(lrd_bucket);
}

void lrd_supply_drop(lrd_supply *supply) {
  if (supply->given == LRD_SUPPLY_TABLE) {
    lrd_table_destroy(supply->memory);
  } else if (supply->given != LRD_SUPPLY_NONE) {
    lrd_free(supply->memory, supply->given_size, alignment_of(supply->given));
  }
  supply->given = LRD_SUPPLY_NONE;
  supply->memory = NULL;
}

static void *make(const lrd_supply *supply, const lrd_references *references) {
  if (supply->wanted == LRD_SUPPLY_TABLE) {
    lrd_table *table = lrd_table_create(supply->size, references);
    if (table && supply->size <= LRD_FIRST_BUCKETS) lrd_table_make_ready(table);
    return table;
  }
  // A table that can have no more overflow buckets wants none.
  if (!supply->size) return NULL;
  bool cleared = supply->wanted == LRD_SUPPLY_HISTORY;
  return (cleared ? lrd_alloc_zeroed : lrd_alloc_piecemeal)(supply->size,
                                                            alignment_of(supply->wanted));
}

bool lrd_supply_fetch(lrd_supply *supply, const lrd_references *references) {
  lrd_supply_drop(supply);
  // A policy that wants no history gives up the one it has: that takes no memory.
  if (supply->wanted == LRD_SUPPLY_HISTORY && !supply->size) return true;
  supply->memory = make(supply, references);
  if (!supply->memory) return false;
  supply->given = supply->wanted;
  supply->given_size = supply->size;
  return true;
}
