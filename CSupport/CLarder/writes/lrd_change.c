// SPDX-License-Identifier: Apache-2.0
#include "lrd_change.h"

_Thread_local lrd_change *lrd_changes;

void lrd_change_begin(lrd_change *change, const void *cache, const lrd_entry *entry) {
  *change = (lrd_change){.cache = cache, .entry = entry, .outer = lrd_changes};
  lrd_changes = change;
}

void lrd_change_end(lrd_change *change) {
  LRD_ASSERT(lrd_changes == change);
  lrd_changes = change->outer;
}

void lrd_change_note_slow(const lrd_entry *entry) {
  for (lrd_change *change = lrd_changes; change; change = change->outer) {
    if (change->entry == entry) change->spoiled = true;
  }
}

void lrd_change_note_all_slow(const void *cache) {
  for (lrd_change *change = lrd_changes; change; change = change->outer) {
    if (change->cache == cache) change->spoiled = true;
  }
}
