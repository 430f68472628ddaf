// SPDX-License-Identifier: Apache-2.0
#include "lrd_lookup.h"

/// lrd_hazard_set() for systems with and without membarrier.
static void protect(_Atomic(uintptr_t) *hazard, const void *pointer) LRD_NONBLOCKING {
  atomic_store_explicit(hazard, (uintptr_t)pointer, memory_order_release);
  lrd_fence_light();
}

/// The result of one search of a chain.
typedef enum lrd_search { LRD_FOUND, LRD_ABSENT, LRD_DISTURBED } lrd_search;

/// Searches the chain of `hash` in `table`, which is `root` or its successor. Hazards protect both.
static lrd_search search(lrd_shard *shard, lrd_table *root, lrd_table *table, lrd_hazard *hazard,
                         uint64_t hash, uint64_t link, lrd_entry **found) LRD_NONBLOCKING {
  lrd_pool *pool = shard->pool;
  lrd_bucket *head = &table->bucket[lrd_table_index(table, hash)];
  lrd_bucket *bucket = head;
  uint64_t next = link;
  for (;;) {
    for (uint32_t bits = lrd_bucket_match(bucket, lrd_table_tag(hash)); bits; bits &= bits - 1) {
      _Atomic(uint32_t) *at = &bucket->ids[__builtin_ctz(bits)];
      uint32_t id = atomic_load_explicit(at, memory_order_acquire);
      uint64_t changes;
      if (!id) continue; // just emptied; if the entry has moved, the head's link tells below
      lrd_entry *entry = lrd_pool_locate(pool, id, &changes);
      protect(&hazard->entry, entry);
      if (atomic_load_explicit(at, memory_order_acquire) != id || LRD_LOAD(&shard->root) != root ||
          !lrd_pool_is_located(pool, changes)) {
        return LRD_DISTURBED;
      }
      if (!lrd_entry_may_match(entry, hash)) continue;
      *found = entry;
      return LRD_FOUND;
    }
    // Buckets may be reused. While the head's link is the same, the walk is still in one chain.
    atomic_thread_fence(memory_order_acquire);
    if (LRD_LOAD(&head->link) != link) return LRD_DISTURBED;
    if (!(next & LRD_LINK_OVERFLOW)) return LRD_ABSENT;
    bucket = lrd_table_overflow(table, (next & LRD_LINK_OVERFLOW) - 1);
    next = atomic_load_explicit(&bucket->link, memory_order_acquire);
  }
}

lrd_entry *lrd_find_slow(lrd_cache *cache, lrd_lane *lane, uint64_t hash) LRD_NONBLOCKING {
  lrd_shard *shard = lrd_cache_shard(cache, hash);
  lrd_hazard *hazard = lane->thread->top;
  lrd_search result = LRD_DISTURBED;
  lrd_entry *found = NULL;
  while (result == LRD_DISTURBED) {
    lrd_table *root = atomic_load_explicit(&shard->root, memory_order_acquire);
    lrd_table *table = root;
    protect(&hazard->table, root);
    // Acquire again: before the hazard could be seen, another table may have taken the address.
    if (atomic_load_explicit(&shard->root, memory_order_acquire) != root) continue;
    lrd_bucket *head = &table->bucket[lrd_table_index(table, hash)];
    uint64_t link = atomic_load_explicit(&head->link, memory_order_acquire);
    if (link & LRD_LINK_MOVED) {
      // While `root` is the root, its successor is not freed. `root` keeps its hazard: otherwise
      // its address could come back as that of a later root.
      table = atomic_load_explicit(&root->next, memory_order_acquire);
      protect(&hazard[1].table, table);
      if (LRD_LOAD(&shard->root) != root) continue;
      head = &table->bucket[lrd_table_index(table, hash)];
      link = atomic_load_explicit(&head->link, memory_order_acquire);
      // The successor is the root by now, and moves itself.
      if (link & LRD_LINK_MOVED) continue;
    }
    result = search(shard, root, table, hazard, hash, link, &found);
  }
  lrd_hazard_clear(&hazard[0].table);
  lrd_hazard_clear(&hazard[1].table);
  if (!found) lrd_hazard_clear(&hazard->entry);
  return found;
}
