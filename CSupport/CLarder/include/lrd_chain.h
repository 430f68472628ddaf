// SPDX-License-Identifier: Apache-2.0
/* lrd_chain.h — unlinked entries on their way to destruction, first in, first out.
 *
 *   head ─▶ first ─▶ … ─▶ last ◀─ tail
 *
 * Entries are chained by `next`; `prev` holds each one's own slot id. `cost` stops at UINT64_MAX
 * and is 0 again once the chain is empty. Guard: the owner's. */
#pragma once

#include "lrd_pool.h"

#pragma clang assume_nonnull begin

typedef struct lrd_chain {
  lrd_entry *_Nullable head;
  lrd_entry *_Nullable tail;
  uint32_t count;
  uint64_t cost;
} lrd_chain;

/// Adds an unlinked entry of this cost whose `prev` is its own slot id.
static inline void lrd_chain_add_costing(lrd_chain *chain, lrd_entry *entry, uint64_t cost) {
  entry->next = LRD_NIL;
  if (chain->tail) {
    chain->tail->next = entry->prev;
  } else {
    chain->head = entry;
  }
  chain->tail = entry;
  chain->count++;
  if (LRD_UNLIKELY(cost)) chain->cost = chain->cost + cost < cost ? UINT64_MAX : chain->cost + cost;
}

static inline void lrd_chain_add(lrd_chain *chain, lrd_entry *entry) {
  lrd_chain_add_costing(chain, entry, lrd_entry_cost(entry));
}

static inline lrd_entry *_Nullable lrd_chain_next(lrd_pool *pool, const lrd_entry *entry) {
  return entry->next == LRD_NIL ? NULL : lrd_pool_entry(pool, entry->next);
}

/// Takes the first entry off.
static inline lrd_entry *_Nullable lrd_chain_take(lrd_chain *chain, lrd_pool *pool) {
  lrd_entry *entry = chain->head;
  if (!entry) return NULL;
  chain->head = lrd_chain_next(pool, entry);
  if (!chain->head) chain->tail = NULL;
  chain->count--;
  if (LRD_UNLIKELY(chain->cost)) {
    uint64_t cost = lrd_entry_cost(entry);
    chain->cost = chain->count && chain->cost > cost ? chain->cost - cost : 0;
  }
  return entry;
}

/// Moves all of `more` to the end of `chain`.
static inline void lrd_chain_append(lrd_chain *chain, lrd_chain *more) {
  if (!more->head) return;
  if (chain->tail) {
    chain->tail->next = more->head->prev;
  } else {
    chain->head = more->head;
  }
  chain->tail = more->tail;
  chain->count += more->count;
  chain->cost = chain->cost + more->cost < chain->cost ? UINT64_MAX : chain->cost + more->cost;
  *more = (lrd_chain){0};
}

/// Stops the process when an entry is not unlinked, or the count is wrong.
void lrd_chain_check(const lrd_chain *chain, lrd_pool *pool);

#pragma clang assume_nonnull end
