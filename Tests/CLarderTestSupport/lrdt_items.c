// SPDX-License-Identifier: Apache-2.0
#include "lrdt_items.h"

const lrd_references *lrdt_two_references(void) {
  static const lrd_references two = {.count = 2,
                                     .at = {{sizeof(lrd_entry), 0}, {sizeof(lrd_entry), 80}}};
  return &two;
}

static bool same_hash(uint64_t a, uint64_t b) {
  return a >> 16 == b >> 16; // an entry has no more of it
}

static size_t count_of_hash(const lrdt_item *items, size_t count, uint64_t hash) {
  size_t equal = 0;
  for (size_t i = 0; i < count; i++) equal += items[i].present && same_hash(items[i].hash, hash);
  return equal;
}

static bool is_of_hash(const lrdt_item *items, size_t count, const lrd_entry *entry,
                       uint64_t hash) {
  for (size_t i = 0; i < count; i++) {
    if (items[i].entry == entry) return items[i].present && same_hash(items[i].hash, hash);
  }
  return false;
}

const char *lrdt_item_find(lrd_cache *cache, lrd_lane *lane, const lrdt_item *item,
                           const lrdt_item *items, size_t count) {
  lrd_entry *found = lrd_find(cache, lane, item->hash, 2);
  if (found && !lrd_entry_may_match(found, item->hash))
    found = lrd_find_slow(cache, lane, item->hash);
  const char *fault = NULL;
  if (!found && count_of_hash(items, count, item->hash)) fault = "lrd_find: missing";
  if (found && !is_of_hash(items, count, found, item->hash)) fault = "lrd_find: not there";
  lrd_loan_end(lane);
  return fault;
}

static const char *check_under_lock(lrd_shard *shard, const lrdt_item *item, const lrdt_item *items,
                                    size_t count) LRD_UNCHECKED_LOCKS {
  size_t walked = 0;
  bool seen = false;
  lrd_matches matches = lrd_shard_matches_locked(shard, item->hash);
  for (lrd_entry *entry; (entry = lrd_matches_next_locked(&matches));) {
    if (!is_of_hash(items, count, entry, item->hash)) return "lrd_matches_next_locked: not there";
    seen |= entry == item->entry;
    if (++walked > count) return "lrd_matches_next_locked: endless";
  }
  if (walked != count_of_hash(items, count, item->hash) || seen != item->present)
    return "lrd_matches_next_locked: missing";
  return NULL;
}

/// Finds the cell that points to the item. If that is another one than before, a reader must be
/// able to notice it.
static const char *check_cell(lrd_table *root, lrd_slots slots, lrdt_item *item) {
  lrd_cell cell;
  bool found = lrd_table_find_locked(root, item->id, item->hash, &cell);
  if (found != item->present) return "lrd_table_find_locked";
  if (lrd_table_holds_locked(root, slots, item->entry, item->hash) != found)
    return "lrd_table_holds_locked";
  if (!found) return NULL;
  lrd_item held = lrd_bucket_item(cell.bucket, cell.number, slots);
  if (held.entry != item->entry || held.id != item->id || held.tag != lrd_table_tag(item->hash))
    return "what the cell holds";
  const void *at = &cell.bucket->ids[cell.number];
  if (item->cell && item->cell != at &&
      atomic_load_explicit(&item->head->link, memory_order_relaxed) == item->link)
    return "a move no reader can notice";
  item->cell = at;
  item->head = cell.head;
  item->link = atomic_load_explicit(&cell.head->link, memory_order_relaxed);
  return NULL;
}

const char *lrdt_items_check(lrd_cache *cache, lrd_lane *lane, lrdt_item *items, size_t count) {
  for (size_t i = 0; i < count; i++) {
    lrdt_item *item = &items[i];
    lrd_shard *shard = lrd_cache_shard(cache, item->hash);
    lrd_table *root = atomic_load_explicit(&shard->root, memory_order_relaxed);
    const char *fault = check_cell(root, lrd_pool_slots(shard->pool), item);
    if (!fault) fault = check_under_lock(shard, item, items, count);
    if (!fault) fault = lrdt_item_find(cache, lane, item, items, count);
    if (fault) return fault;
  }
  return NULL;
}
