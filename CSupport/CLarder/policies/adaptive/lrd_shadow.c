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
      .small_target = (uint32_t)lrd_expert_small(expert, capacity),
      .old = empty,
      .young = empty,
      .main = empty,
  };
  lrd_ghosts_open(&shadow->ghosts, directory + size, buckets, lrd_expert_epoch(capacity));
}

static void push(lrd_shadow *shadow, lrd_shadow_queue *queue, uint16_t id) {
  shadow->nodes[id].newer = none;
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

static void push_young(lrd_shadow *shadow, uint16_t id) {
  if (!shadow->young.count && shadow->old.count) shadow->nodes[shadow->old.newest].newer = id;
  push(shadow, &shadow->young, id);
}

/// Makes the oldest young node an old one.
static void age(lrd_shadow *shadow, bool keeps) {
  uint16_t id = pop(shadow, &shadow->young);
  if (!keeps) shadow->nodes[id].credit = 0;
  if (!shadow->old.count++) shadow->old.oldest = id;
  shadow->old.newest = id;
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

/// Takes the oldest node of a queue out if its key was removed; returns it, or `none`.
static uint16_t take_gone(lrd_shadow *shadow, lrd_shadow_queue *queue) {
  if (!queue->count || !shadow->nodes[queue->oldest].gone) return none;
  uint16_t id = pop(shadow, queue);
  if (queue == &shadow->young && shadow->old.count) {
    shadow->nodes[shadow->old.newest].newer = queue->oldest;
  }
  return id;
}

/// The same for any queue.
static LRD_COLD uint16_t take_any_gone(lrd_shadow *shadow) {
  uint16_t id = take_gone(shadow, &shadow->main);
  if (id == none) id = take_gone(shadow, &shadow->old);
  if (id == none) id = take_gone(shadow, &shadow->young);
  return id;
}

/// Takes the key to evict out of its queue, by the rules of lrd_policy_adaptive.c. Returns
/// its node.
LRD_INLINE uint16_t take_victim(lrd_shadow *shadow) {
  for (int steps = LRD_EXPERT_STEPS;; steps--) {
    uint32_t small = shadow->old.count + shadow->young.count;
    if (small && (small >= shadow->small_target || !shadow->main.count)) {
      bool young = !shadow->old.count;
      uint16_t id = pop(shadow, young ? &shadow->young : &shadow->old);
      lrd_shadow_node *node = &shadow->nodes[id];
      if (LRD_UNLIKELY(node->gone)) return id;
      if (steps == 1 || !lrd_expert_promotes(young, node->credit)) {
        lrd_ghosts_add(&shadow->ghosts, mixed_of(node->key), 1);
        return id;
      }
      node->credit = 0;
      push(shadow, &shadow->main, id);
    } else {
      uint16_t id = pop(shadow, &shadow->main);
      lrd_shadow_node *node = &shadow->nodes[id];
      if (steps == 1 || !node->credit) return id;
      node->credit = lrd_expert_round(shadow->expert, node->credit) & LRD_CREDIT_MOST;
      push(shadow, &shadow->main, id);
    }
  }
}

/// Makes room; returns the node that is free. The room of removed keys goes first.
LRD_INLINE uint16_t evict(lrd_shadow *shadow) {
  uint16_t id = LRD_UNLIKELY(shadow->gone) ? take_any_gone(shadow) : none;
  if (id == none) id = take_victim(shadow);
  if (LRD_UNLIKELY(shadow->nodes[id].gone)) {
    shadow->gone--;
  } else {
    forget(shadow, id);
  }
  return id;
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
  shadow->gone++;
}

/// True when the key that comes next is one of those that fill the main queue.
static bool fills(const lrd_shadow *shadow, lrd_demand demand) {
  return demand >= shadow->expert->fills &&
         shadow->old.count + shadow->young.count >= shadow->small_target;
}

void lrd_shadow_add(lrd_shadow *shadow, uint64_t mixed, bool missed, lrd_demand demand,
                    bool keeps) {
  const lrd_expert *expert = shadow->expert;
  uint32_t key = key_of(mixed);
  uint16_t id, *head = chain_of(shadow, key);
  bool for_main = expert->clock;
  if (LRD_LIKELY(shadow->used == shadow->capacity)) {
    id = evict(shadow);
  } else {
    for_main |= fills(shadow, demand);
    id = (uint16_t)shadow->used++;
  }
  bool proven = lrd_ghosts_recall(&shadow->ghosts, mixed_of(key), expert->life);
  for_main |= proven && missed;
  shadow->nodes[id] = (lrd_shadow_node){.key = key & 0xfffffff, .chain = *head};
  *head = id;
  if (for_main) {
    push(shadow, &shadow->main, id);
  } else {
    push_young(shadow, id);
  }
  uint32_t most = shadow->small_target / 2;
  for (int i = 0; i < LRD_AGEING_MOST && shadow->young.count > most; i++) age(shadow, keeps);
}
