// SPDX-License-Identifier: Apache-2.0
/* lrd_supply.h — memory that a shard lacks: asked for under its lock, allocated without it.
 *
 *   under the lock   lrd_growth_prepare_locked() or lrd_growth_tidy_locked() says what is `wanted`
 *   without it       lrd_supply_fetch()
 *   under the lock   the same call again takes `memory`, if it is still wanted
 *   at the end       lrd_supply_drop() frees memory that was not taken
 *
 * Guard: belongs to the thread that makes the call. */
#pragma once

#include "lrd_table.h"

#pragma clang assume_nonnull begin

/// Buckets of a shard's first table. It may be used at once: all its buckets are cleared when it is
/// made. Those of a larger table are cleared as entries move there.
enum { LRD_FIRST_BUCKETS = 4 };

typedef enum lrd_supply_kind {
  LRD_SUPPLY_NONE,
  LRD_SUPPLY_TABLE,
  LRD_SUPPLY_OVERFLOW, // a chunk of overflow buckets
  LRD_SUPPLY_HISTORY,  // of the policy
  LRD_SUPPLY_FORMER,   // a history that the policy has given up: to be freed
} lrd_supply_kind;

typedef struct lrd_supply {
  lrd_supply_kind wanted;
  uint64_t size;              // wanted: buckets of a table, otherwise bytes
  lrd_table *_Nullable table; // that wants the overflow buckets
  bool optional;              // the insertion can go on without it
  bool declined;              // go on without optional memory: there is none
  bool tidy;                  // the background thread should tidy the shard's table
  lrd_supply_kind given;      // what `memory` is
  uint64_t given_size;        // as `size`
  void *_Nullable memory;
} lrd_supply;

/// Frees the memory in the supply.
void lrd_supply_drop(lrd_supply *supply);

/// The same, then allocates what is wanted: a table is for entries with such references. False
/// without memory.
bool lrd_supply_fetch(lrd_supply *supply, const lrd_references *references);

#pragma clang assume_nonnull end
