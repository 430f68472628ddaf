// SPDX-License-Identifier: Apache-2.0
#include "lrd_chain.h"

void lrd_chain_check(const lrd_chain *chain, lrd_pool *pool) {
  uint32_t count = 0;
  const lrd_entry *last = NULL;
  for (lrd_entry *entry = chain->head; entry; entry = lrd_chain_next(pool, entry)) {
    LRD_CHECK(entry->state >= LRD_REMOVED_LIMIT);
    LRD_CHECK(++count <= chain->count);
    last = entry;
  }
  LRD_CHECK(count == chain->count);
  LRD_CHECK(last == chain->tail);
}
