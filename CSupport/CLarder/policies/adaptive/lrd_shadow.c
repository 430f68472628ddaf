// SPDX-License-Identifier: Apache-2.0
#include "lrd_shadow.h"

#include <string.h>

struct lrd_shadow_node {
  uint32_t key : 28;
  uint32_t credit : 2;
  uint32_t gone : 1;
  uint16_t newer;
  uint16_t chain;
};

static const uint16_t none = UINT16_MAX;

static uint32_t directory_size(uint32_t capacity) {
  uint32_t size = 1;
  while (size <= capacity / 2) size *= 2;
  return size;
}

/// A ghost lives for the rest of the epoch in which it was added, and for `life` more.
static uint32_t ghost_buckets(const lrd_expert *expert, uint32_t capacity) {
  if (!expert->life) return 0;
  return lrd_ghosts_buckets(lrd_expert_ghosts(capacity, capacity, expert->life + 1u));
}

size_t lrd_shadow_bytes(const lrd_expert *expert, uint32_t capacity) {
  uint32_t buckets = ghost_buckets(expert, capacity);
  return lrd_round_up(capacity * sizeof(lrd_shadow_node) +
                          directory_size(capacity) * sizeof(uint16_t) + lrd_ghosts_bytes(buckets),
                      8);
}

void lrd_shadow_open(lrd_shadow *shadow, const lrd_expert *expert, uint32_t capacity,
                     void *memory) {
  uint32_t size = directory_size(capacity);
  uint32_t buckets = ghost_buckets(expert, capacity);
  lrd_shadow_node *nodes = memory;
  uint16_t *directory = (uint16_t *)(nodes + capacity);
  memset(directory, 0xff, size * sizeof *directory);
  lrd_shadow_queue empty = {.oldest = none, .newest = none};
  *shadow = (lrd_shadow){
      .expert = expert,
      .nodes = nodes,
      .directory = directory,
      .directory_mask = size - 1,
      .capacity = capacity,
      .free = none,
      .small_target = (uint32_t)lrd_expert_small(expert, capacity),
      .old = empty,
      .young = empty,
      .main = empty,
  };
  lrd_ghosts_open(&shadow->ghosts, directory + size, buckets, lrd_expert_epoch(capacity));
}

static void push(lrd_shadow *shadow, lrd_shadow_queue *queue, uint16_t id) {
  lrd_shadow_node *node = &shadow->nodes[id];
  node->newer = none;
  if (queue->count++) {
    shadow->nodes[queue->newest].newer = id;
  } else {
    queue->oldest = id;
  }
  queue->newest = id;
}

static uint16_t pop(lrd_shadow *shadow, lrd_shadow_queue *queue) {
  uint16_t id = queue->oldest;
  queue->oldest = shadow->nodes[id].newer;
  queue->count--;
  return id;
}

/// A node keeps 28 bits of the mixed hash. They identify a key everywhere in a shadow: its ghosts
/// use no other bits.
static uint32_t key_of(uint64_t mixed) {
  return (uint32_t)(mixed >> 36);
}

static uint64_t mixed_of(uint32_t key) {
  return (uint64_t)key << 36 | (uint64_t)(key & LRD_GHOSTS_MARK_MASK) << LRD_GHOSTS_MARK_FROM;
}

static uint16_t *chain_of(const lrd_shadow *shadow, uint32_t key) {
  return &shadow->directory[key & shadow->directory_mask];
}

static lrd_shadow_node *find(const lrd_shadow *shadow, uint32_t key) {
  for (uint16_t id = *chain_of(shadow, key); id != none; id = shadow->nodes[id].chain) {
    if (shadow->nodes[id].key == key) return &shadow->nodes[id];
  }
  return NULL;
}

/// Takes a node out of its chain.
static void forget(lrd_shadow *shadow, uint16_t id) {
  uint16_t *link = chain_of(shadow, shadow->nodes[id].key);
  while (*link != id) link = &shadow->nodes[*link].chain;
  *link = shadow->nodes[id].chain;
}

/// Frees a node that has left its queue.
static void drop(lrd_shadow *shadow, uint16_t id) {
  if (!shadow->nodes[id].gone) forget(shadow, id);
  shadow->free = id;
}

/// Drops the oldest node of a queue if its key was removed.
static bool drop_gone(lrd_shadow *shadow, lrd_shadow_queue *queue) {
  if (!queue->count || !shadow->nodes[queue->oldest].gone) return false;
  drop(shadow, pop(shadow, queue));
  return true;
}

/// Evicts a key by the rules of lrd_policy_adaptive.c. The room of removed keys goes first.
static void evict(lrd_shadow *shadow) {
  if (drop_gone(shadow, &shadow->main) || drop_gone(shadow, &shadow->old) ||
      drop_gone(shadow, &shadow->young)) {
    return;
  }
  for (int steps = LRD_EXPERT_STEPS;; steps--) {
    uint32_t small = shadow->old.count + shadow->young.count;
    if (small && (small >= shadow->small_target || !shadow->main.count)) {
      bool young = !shadow->old.count;
      uint16_t id = pop(shadow, young ? &shadow->young : &shadow->old);
      lrd_shadow_node *node = &shadow->nodes[id];
      if (steps > 1 && !node->gone && lrd_expert_promotes(young, node->credit)) {
        node->credit = 0;
        push(shadow, &shadow->main, id);
        continue;
      }
      if (!node->gone) lrd_ghosts_add(&shadow->ghosts, mixed_of(node->key), 1);
      drop(shadow, id);
      return;
    }
    uint16_t id = pop(shadow, &shadow->main);
    lrd_shadow_node *node = &shadow->nodes[id];
    if (steps > 1 && node->credit) {
      node->credit = lrd_expert_round(shadow->expert, node->credit) & LRD_CREDIT_MOST;
      push(shadow, &shadow->main, id);
      continue;
    }
    drop(shadow, id);
    return;
  }
}

static uint16_t take_node(lrd_shadow *shadow) {
  if (shadow->used < shadow->capacity) return (uint16_t)shadow->used++;
  uint16_t id = shadow->free;
  shadow->free = none;
  return id;
}

bool lrd_shadow_holds(const lrd_shadow *shadow, uint64_t mixed) {
  return find(shadow, key_of(mixed)) != NULL;
}

bool lrd_shadow_use(lrd_shadow *shadow, uint64_t mixed, uint32_t hits) {
  lrd_shadow_node *known = find(shadow, key_of(mixed));
  if (!known) return false;
  known->credit = lrd_credit(known->credit + hits) & LRD_CREDIT_MOST;
  return true;
}

void lrd_shadow_remove(lrd_shadow *shadow, uint64_t mixed) {
  lrd_shadow_node *known = find(shadow, key_of(mixed));
  if (!known) return;
  forget(shadow, (uint16_t)(known - shadow->nodes));
  known->gone = true;
  known->credit = 0;
}

void lrd_shadow_add(lrd_shadow *shadow, uint64_t mixed, bool missed, lrd_demand demand) {
  const lrd_expert *expert = shadow->expert;
  uint32_t key = key_of(mixed);
  bool full = shadow->used == shadow->capacity;
  if (full) evict(shadow);
  bool proven = lrd_ghosts_recall(&shadow->ghosts, mixed_of(key), expert->life) && missed;
  bool small_full = shadow->old.count + shadow->young.count >= shadow->small_target;
  uint16_t id = take_node(shadow);
  uint16_t *head = chain_of(shadow, key);
  shadow->nodes[id] = (lrd_shadow_node){.key = key & 0xfffffff, .chain = *head};
  *head = id;
  bool fills = demand >= expert->fills && !full && small_full;
  push(shadow, expert->clock || proven || fills ? &shadow->main : &shadow->young, id);
  for (int i = 0; i < LRD_AGEING_MOST && shadow->young.count > shadow->small_target / 2; i++) {
    uint16_t ageing = pop(shadow, &shadow->young);
    shadow->nodes[ageing].credit = 0;
    push(shadow, &shadow->old, ageing);
  }
}
