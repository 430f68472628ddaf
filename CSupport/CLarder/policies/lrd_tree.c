// SPDX-License-Identifier: Apache-2.0
#include "lrd_tree.h"

static lrd_entry *at(lrd_pool *pool, uint32_t id) {
  return lrd_pool_entry(pool, id);
}

static lrd_tree_node *node_at(lrd_pool *pool, uint32_t id) {
  return lrd_tree_node_of(pool, at(pool, id));
}

static int height_of(lrd_pool *pool, uint32_t id) {
  return id == LRD_NIL ? 0 : node_at(pool, id)->height;
}

/// The link that leads to a child of `parent`, or to the root when there is no parent.
static uint32_t *link_to(lrd_order *order, lrd_pool *pool, uint32_t parent, uint32_t child) {
  if (parent == LRD_NIL) return &order->hand;
  lrd_entry *entry = at(pool, parent);
  return entry->prev == child ? &entry->prev : &entry->next;
}

static uint32_t id_of(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  uint32_t parent = lrd_tree_node_of(pool, entry)->parent;
  if (parent == LRD_NIL) return order->hand;
  uint32_t left = at(pool, parent)->prev;
  return left != LRD_NIL && at(pool, left) == entry ? left : at(pool, parent)->next;
}

static void set_parent(lrd_pool *pool, uint32_t id, uint32_t parent) {
  if (id != LRD_NIL) node_at(pool, id)->parent = parent;
}

static void measure(lrd_pool *pool, uint32_t id) {
  const lrd_entry *entry = at(pool, id);
  int left = height_of(pool, entry->prev), right = height_of(pool, entry->next);
  node_at(pool, id)->height = (uint16_t)(1 + (left > right ? left : right));
}

/// Makes a child the parent of its parent: the left one, or the right one. Returns the child.
static uint32_t rotate(lrd_order *order, lrd_pool *pool, uint32_t id, bool left) {
  lrd_entry *entry = at(pool, id);
  uint32_t child = left ? entry->prev : entry->next;
  lrd_entry *risen = at(pool, child);
  uint32_t *inner = left ? &risen->next : &risen->prev;
  uint32_t parent = node_at(pool, id)->parent;
  *link_to(order, pool, parent, id) = child;
  if (left) {
    entry->prev = *inner;
  } else {
    entry->next = *inner;
  }
  set_parent(pool, *inner, id);
  *inner = id;
  node_at(pool, child)->parent = parent;
  node_at(pool, id)->parent = child;
  measure(pool, id);
  measure(pool, child);
  return child;
}

/// Restores heights and balance from `id` upwards, until nothing changes.
static void rebalance(lrd_order *order, lrd_pool *pool, uint32_t id) {
  while (id != LRD_NIL) {
    const lrd_entry *entry = at(pool, id);
    int before = height_of(pool, id);
    int lean = height_of(pool, entry->prev) - height_of(pool, entry->next);
    if (lean > 1 || lean < -1) {
      bool left = lean > 0;
      uint32_t child = left ? entry->prev : entry->next;
      const lrd_entry *tall = at(pool, child);
      int outer = height_of(pool, left ? tall->prev : tall->next);
      int inner = height_of(pool, left ? tall->next : tall->prev);
      if (inner > outer) rotate(order, pool, child, !left);
      id = rotate(order, pool, id, left);
    } else {
      measure(pool, id);
      if (height_of(pool, id) == before) return;
    }
    id = node_at(pool, id)->parent;
  }
}

static uint32_t outermost(lrd_pool *pool, uint32_t id, bool left) {
  for (;;) {
    const lrd_entry *entry = at(pool, id);
    uint32_t child = left ? entry->prev : entry->next;
    if (child == LRD_NIL) return id;
    id = child;
  }
}

/// The neighbour of an entry in the order: the next smaller, or the next larger.
static uint32_t neighbour(const lrd_order *order, lrd_pool *pool, lrd_entry *entry, bool smaller) {
  uint32_t inner = smaller ? entry->prev : entry->next;
  if (inner != LRD_NIL) return outermost(pool, inner, !smaller);
  uint32_t id = id_of(order, pool, entry);
  uint32_t parent = lrd_tree_node_of(pool, entry)->parent;
  while (parent != LRD_NIL) {
    const lrd_entry *above = at(pool, parent);
    if ((smaller ? above->prev : above->next) != id) return parent;
    id = parent;
    parent = node_at(pool, id)->parent;
  }
  return LRD_NIL;
}

/// Keys may wrap round. Their difference decides, and is below 2^63.
static bool is_before(uint64_t key, uint64_t other) {
  return (int64_t)(key - other) < 0;
}

void lrd_tree_add(lrd_order *order, lrd_pool *pool, lrd_entry *entry, uint32_t id, uint64_t key) {
  lrd_list *ends = &order->queue[0].list;
  lrd_tree_node *node = lrd_tree_node_of(pool, entry);
  uint32_t parent = LRD_NIL;
  uint32_t *link = &order->hand;
  bool smallest = true, largest = true;
  while (*link != LRD_NIL) {
    parent = *link;
    bool smaller = is_before(key, node_at(pool, parent)->key);
    smallest &= smaller;
    largest &= !smaller;
    link = smaller ? &at(pool, parent)->prev : &at(pool, parent)->next;
  }
  *link = id;
  entry->prev = entry->next = LRD_NIL;
  entry->queue = 0;
  node->key = key;
  node->parent = parent;
  node->height = 1;
  if (smallest) ends->tail = id;
  if (largest) ends->head = id;
  order->queue[0].size.count++;
  order->queue[0].size.cost += lrd_entry_cost(entry);
  rebalance(order, pool, parent);
}

uint32_t lrd_tree_remove(lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  lrd_list *ends = &order->queue[0].list;
  const lrd_tree_node *node = lrd_tree_node_of(pool, entry);
  uint32_t id = id_of(order, pool, entry);
  if (ends->tail == id) ends->tail = neighbour(order, pool, entry, false);
  if (ends->head == id) ends->head = neighbour(order, pool, entry, true);
  order->queue[0].size.count--;
  order->queue[0].size.cost -= lrd_entry_cost(entry);
  uint32_t *link = link_to(order, pool, node->parent, id);
  if (entry->prev == LRD_NIL || entry->next == LRD_NIL) {
    uint32_t child = entry->prev == LRD_NIL ? entry->next : entry->prev;
    *link = child;
    set_parent(pool, child, node->parent);
    rebalance(order, pool, node->parent);
    return id;
  }
  // The next larger entry has no left child. It leaves its place and takes that of the entry.
  uint32_t heir_id = outermost(pool, entry->next, true);
  lrd_entry *heir = at(pool, heir_id);
  lrd_tree_node *heir_node = lrd_tree_node_of(pool, heir);
  uint32_t changed = heir_id;
  if (heir_id != entry->next) {
    changed = heir_node->parent;
    at(pool, changed)->prev = heir->next;
    set_parent(pool, heir->next, changed);
    heir->next = entry->next;
    set_parent(pool, heir->next, heir_id);
  }
  heir->prev = entry->prev;
  set_parent(pool, heir->prev, heir_id);
  heir_node->parent = node->parent;
  heir_node->height = node->height;
  *link = heir_id;
  rebalance(order, pool, changed);
  return id;
}

uint32_t lrd_tree_move(lrd_order *order, lrd_pool *pool, lrd_entry *old, lrd_entry *entry,
                       uint32_t id) {
  lrd_list *ends = &order->queue[0].list;
  const lrd_tree_node *node = lrd_tree_node_of(pool, old);
  uint32_t old_id = id_of(order, pool, old);
  *link_to(order, pool, node->parent, old_id) = id;
  set_parent(pool, old->prev, id);
  set_parent(pool, old->next, id);
  if (ends->tail == old_id) ends->tail = id;
  if (ends->head == old_id) ends->head = id;
  entry->prev = old->prev;
  entry->next = old->next;
  entry->queue = 0;
  lrd_entry_set_bits(entry, lrd_entry_bits(old));
  *lrd_tree_node_of(pool, entry) = *node;
  return old_id;
}

uint32_t lrd_tree_drain(lrd_order *order, lrd_pool *pool) {
  uint32_t id = order->hand;
  if (id == LRD_NIL) return LRD_NIL;
  // Goes down to a leaf. The next call starts at its parent, so all calls together take O(n).
  for (;;) {
    const lrd_entry *entry = at(pool, id);
    uint32_t child = entry->prev != LRD_NIL ? entry->prev : entry->next;
    if (child == LRD_NIL) break;
    id = child;
  }
  uint32_t parent = node_at(pool, id)->parent;
  order->hand = parent;
  if (parent != LRD_NIL) *link_to(order, pool, parent, id) = LRD_NIL;
  return id;
}

uint32_t lrd_tree_colder(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  return neighbour(order, pool, entry, true);
}

uint32_t lrd_tree_hotter(const lrd_order *order, lrd_pool *pool, lrd_entry *entry) {
  return neighbour(order, pool, entry, false);
}

void lrd_tree_check(const lrd_order *order, lrd_pool *pool) {
  lrd_amount size = {0, 0};
  uint64_t key = 0;
  for (uint32_t id = order->queue[0].list.tail; id != LRD_NIL;) {
    lrd_entry *entry = at(pool, id);
    const lrd_tree_node *node = lrd_tree_node_of(pool, entry);
    int left = height_of(pool, entry->prev), right = height_of(pool, entry->next);
    LRD_CHECK(left - right <= 1 && right - left <= 1);
    LRD_CHECK(node->height == 1 + (left > right ? left : right));
    LRD_CHECK(entry->prev == LRD_NIL || node_at(pool, entry->prev)->parent == id);
    LRD_CHECK(entry->next == LRD_NIL || node_at(pool, entry->next)->parent == id);
    LRD_CHECK(size.count == 0 || !is_before(node->key, key));
    LRD_CHECK(++size.count <= order->queue[0].size.count);
    size.cost += lrd_entry_cost(entry);
    key = node->key;
    id = neighbour(order, pool, entry, false);
  }
  LRD_CHECK(size.count == order->queue[0].size.count);
  LRD_CHECK(size.cost == order->queue[0].size.cost);
  LRD_CHECK(order->hand == LRD_NIL || node_at(pool, order->hand)->parent == LRD_NIL);
}
