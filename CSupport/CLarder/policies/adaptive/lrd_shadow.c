// SPDX-License-Identifier: Apache-2.0
#include "lrd_shadow.h"

#include <string.h>

/// Stores after an eviction for which a shadow counts as full, as a shard does for some periods:
/// where keys are removed, room that comes free now and then is no cache that fills up.
enum { full_after_eviction = 32 };

/// A state; the two bits below are the credit.
enum { known = 4, gone = 8 };

/// No number of a key.
static const uint16_t none = UINT16_MAX;
_Static_assert(LRD_SHADOWS_ALL == ((UINT64_C(1) << 4 * LRD_EXPERTS) - 1) / 15, "one bit for each");
_Static_assert(LRD_SHADOW_KEYS *LRD_SHADOW_MOST < UINT16_MAX, "16 bits are enough");

/// The places of a ring, and the chains of the directory: a power of two, and at least as many as a
/// shadow has keys. (Shadows have most of their keys in common.)
static uint32_t size_for(uint32_t capacity) {
  uint32_t size = 1;
  while (size < capacity) size *= 2;
  return size;
}

/// A ghost lives for the rest of the epoch in which it was added, and for `life` more.
static uint32_t ghost_buckets(const lrd_expert *expert, uint32_t capacity) {
  if (!expert->life) return 0;
  return lrd_ghosts_buckets(lrd_expert_ghosts(capacity, capacity, expert->life + 1u));
}

size_t lrd_shadows_bytes(uint32_t capacity) {
  size_t bytes = sizeof(lrd_shadows) + LRD_SHADOW_KEYS * capacity * sizeof(lrd_shadow_key);
  bytes += (1 + 2 * LRD_EXPERTS) * size_for(capacity) * sizeof(uint16_t);
  for (int i = 0; i < LRD_EXPERTS; i++) {
    bytes += lrd_ghosts_bytes(ghost_buckets(&lrd_experts[i], capacity));
  }
  return bytes;
}

lrd_shadows *lrd_shadows_open(void *memory, uint32_t capacity) {
  lrd_shadows *shadows = memory;
  lrd_shadow_key *keys = (lrd_shadow_key *)(shadows + 1);
  uint32_t size = size_for(capacity);
  uint16_t *rest = (uint16_t *)(keys + LRD_SHADOW_KEYS * capacity);
  *shadows = (lrd_shadows){
      .keys = keys,
      .directory = rest,
      .mask = size - 1,
      .capacity = capacity,
      .free = none,
  };
  memset(rest, 0xff, size * sizeof *rest);
  rest += size;
  for (int i = 0; i < LRD_EXPERTS; i++) {
    lrd_shadow *shadow = &shadows->shadow[i];
    uint32_t buckets = ghost_buckets(&lrd_experts[i], capacity);
    shadow->small.keys = rest;
    shadow->main.keys = rest + size;
    shadow->small_target = (uint32_t)lrd_expert_small(&lrd_experts[i], capacity);
    rest += 2 * size;
    lrd_ghosts_open(&shadow->ghosts, rest, buckets, lrd_expert_epoch(capacity));
    rest += lrd_ghosts_bytes(buckets) / sizeof *rest;
  }
  return shadows;
}

/* Keys. */

/// A key has 28 bits of the mixed hash. They identify it everywhere in the shadows: the ghosts use
/// no other bits.
static uint32_t hash_of(uint64_t mixed) {
  return (uint32_t)(mixed >> 36);
}

static uint64_t mixed_of(uint32_t hash) {
  return (uint64_t)hash << 36 | (uint64_t)(hash & LRD_GHOSTS_MARK_MASK) << LRD_GHOSTS_MARK_FROM;
}

static uint16_t *chain_of(const lrd_shadows *shadows, uint32_t hash) {
  return &shadows->directory[hash & shadows->mask];
}

static uint16_t find(const lrd_shadows *shadows, uint32_t hash) {
  uint16_t id = *chain_of(shadows, hash);
  while (id != none && shadows->keys[id].hash != hash) id = shadows->keys[id].chain;
  return id;
}

/// Enters a key that is in no shadow yet. `none` if all numbers are in use.
static uint16_t make(lrd_shadows *shadows, uint32_t hash) {
  uint16_t *head = chain_of(shadows, hash), id = shadows->free;
  if (id != none) {
    shadows->free = shadows->keys[id].chain;
  } else if (shadows->used < LRD_SHADOW_KEYS * shadows->capacity) {
    id = (uint16_t)shadows->used++;
  } else {
    return none;
  }
  shadows->keys[id] = (lrd_shadow_key){.hash = hash, .chain = *head};
  *head = id;
  return id;
}

/// Takes a key out of its chain.
static void forget(lrd_shadows *shadows, uint16_t id) {
  uint16_t *link = chain_of(shadows, shadows->keys[id].hash);
  while (*link != id) link = &shadows->keys[*link].chain;
  *link = shadows->keys[id].chain;
}

LRD_INLINE uint32_t state_of(const lrd_shadow_key *key, uint32_t number) {
  return key->states >> 4 * number & 15;
}

LRD_INLINE void set_state(lrd_shadow_key *key, uint32_t number, uint32_t state) {
  key->states = (key->states & ~(15u << 4 * number)) | state << 4 * number;
}

/// The shadows that hold a key.
LRD_INLINE lrd_shadow_set holders(const lrd_shadow_key *key) {
  return key->states / known & LRD_SHADOWS_ALL;
}

/// Takes a key out of a shadow that has it in no queue any more.
LRD_INLINE void leave(lrd_shadows *shadows, uint32_t number, uint16_t id) {
  lrd_shadow_key *key = &shadows->keys[id];
  bool was_gone = state_of(key, number) & gone;
  shadows->shadow[number].gone -= was_gone;
  set_state(key, number, 0);
  if (key->states) return;
  if (!was_gone) forget(shadows, id);
  key->chain = shadows->free;
  shadows->free = id;
}

/* Queues. */

LRD_INLINE void push(const lrd_shadows *shadows, lrd_shadow_queue *queue, uint16_t id) {
  queue->keys[(queue->first + queue->count++) & shadows->mask] = id;
}

LRD_INLINE uint16_t pop(const lrd_shadows *shadows, lrd_shadow_queue *queue) {
  uint16_t id = queue->keys[queue->first++ & shadows->mask];
  queue->count--;
  return id;
}

/// Takes the oldest key out of the small queue.
LRD_INLINE uint16_t pop_small(const lrd_shadows *shadows, lrd_shadow *shadow) {
  if (shadow->old) shadow->old--;
  return pop(shadows, &shadow->small);
}

/// Makes the oldest young key an old one.
static void age(lrd_shadows *shadows, uint32_t number, bool keeps) {
  lrd_shadow *shadow = &shadows->shadow[number];
  uint32_t place = (shadow->small.first + shadow->old++) & shadows->mask;
  lrd_shadow_key *key = &shadows->keys[shadow->small.keys[place]];
  if (!keeps) key->states &= ~((uint32_t)LRD_CREDIT_MOST << 4 * number);
}

/// True when the key at this place of a queue, counted from the oldest, is a removed one.
static bool is_gone(const lrd_shadows *shadows, uint32_t number, const lrd_shadow_queue *queue,
                    uint32_t place) {
  if (place >= queue->count) return false;
  uint16_t id = queue->keys[(queue->first + place) & shadows->mask];
  return state_of(&shadows->keys[id], number) & gone;
}

/// Takes the oldest young key out. The older half moves up by a place.
static uint16_t pop_young(const lrd_shadows *shadows, lrd_shadow *shadow) {
  lrd_shadow_queue *small = &shadow->small;
  uint32_t place = small->first + shadow->old;
  uint16_t id = small->keys[place & shadows->mask];
  for (; place != small->first; place--) {
    small->keys[place & shadows->mask] = small->keys[(place - 1) & shadows->mask];
  }
  small->first++;
  small->count--;
  return id;
}

/// Takes a removed key out of a shadow if it is the oldest of the main queue or of a half of the
/// small one. False when none is.
static bool drop_gone(lrd_shadows *shadows, uint32_t number) {
  lrd_shadow *shadow = &shadows->shadow[number];
  if (is_gone(shadows, number, &shadow->main, 0)) {
    leave(shadows, number, pop(shadows, &shadow->main));
  } else if (is_gone(shadows, number, &shadow->small, 0)) {
    leave(shadows, number, pop_small(shadows, shadow));
  } else if (is_gone(shadows, number, &shadow->small, shadow->old)) {
    leave(shadows, number, pop_young(shadows, shadow));
  } else {
    return false;
  }
  return true;
}

/// Takes the removed keys out of a queue. Returns how many of them were among the oldest `part`.
static uint32_t sweep_queue(lrd_shadows *shadows, uint32_t number, lrd_shadow_queue *queue,
                            uint32_t part) {
  uint32_t kept = 0, old = 0;
  for (uint32_t place = 0; place < queue->count; place++) {
    uint16_t id = queue->keys[(queue->first + place) & shadows->mask];
    if (state_of(&shadows->keys[id], number) & gone) {
      old += place < part;
      leave(shadows, number, id);
    } else {
      queue->keys[(queue->first + kept++) & shadows->mask] = id;
    }
  }
  queue->count = kept;
  return old;
}

/// Makes room in a full shadow by removed keys alone: all of them, if there are many, or one that is
/// the oldest. Each shadow waits for more of them than the one before, so that as long as few are
/// removed at a time not all are swept for the same request. False if it evicts a key instead.
static LRD_COLD bool sweep(lrd_shadows *shadows, uint32_t number) {
  lrd_shadow *shadow = &shadows->shadow[number];
  uint32_t few = shadows->capacity / 16 + shadows->capacity / 128 * number;
  if (shadow->gone <= few) return drop_gone(shadows, number);
  shadow->old -= sweep_queue(shadows, number, &shadow->small, shadow->old);
  sweep_queue(shadows, number, &shadow->main, 0);
  return true;
}

/// Evicts a key, by the rules of lrd_policy_adaptive.c.
LRD_INLINE void evict(lrd_shadows *shadows, uint32_t number) {
  lrd_shadow *shadow = &shadows->shadow[number];
  for (int steps = LRD_EXPERT_STEPS;; steps--) {
    uint32_t small = shadow->small.count;
    if (small && (small >= shadow->small_target || !shadow->main.count)) {
      bool young = !shadow->old;
      uint16_t id = pop_small(shadows, shadow);
      lrd_shadow_key *key = &shadows->keys[id];
      uint32_t state = state_of(key, number);
      if (steps == 1 || !lrd_expert_promotes(young, state & LRD_CREDIT_MOST)) {
        if (LRD_LIKELY(state & known)) lrd_ghosts_add(&shadow->ghosts, mixed_of(key->hash), 1);
        leave(shadows, number, id);
        return;
      }
      set_state(key, number, known);
      push(shadows, &shadow->main, id);
    } else {
      uint16_t id = pop(shadows, &shadow->main);
      lrd_shadow_key *key = &shadows->keys[id];
      uint32_t credit = state_of(key, number) & LRD_CREDIT_MOST;
      if (steps == 1 || !credit) {
        leave(shadows, number, id);
        return;
      }
      set_state(key, number, known | lrd_expert_round(&lrd_experts[number], credit));
      push(shadows, &shadow->main, id);
    }
  }
}

/* Requests. */

lrd_shadow_set lrd_shadows_use(lrd_shadows *shadows, uint64_t mixed, uint32_t hits) {
  uint16_t id = find(shadows, hash_of(mixed));
  if (id == none) return 0;
  lrd_shadow_key *key = &shadows->keys[id];
  lrd_shadow_set all = holders(key);
  uint32_t most = LRD_SHADOWS_ALL * LRD_CREDIT_MOST;
  // No state carries into the next: each credit is at most 6. Those above 3 have bit 2.
  uint32_t credit = (key->states & most) + all * lrd_credit(hits);
  credit |= (credit / 4 & LRD_SHADOWS_ALL) * LRD_CREDIT_MOST;
  key->states = all * known | (credit & most);
  return all;
}

void lrd_shadows_remove(lrd_shadows *shadows, uint64_t mixed) {
  uint16_t id = find(shadows, hash_of(mixed));
  if (id == none) return;
  forget(shadows, id);
  lrd_shadow_key *key = &shadows->keys[id];
  lrd_shadow_set all = holders(key);
  key->states = all * gone;
  for (int i = 0; i < LRD_EXPERTS; i++) shadows->shadow[i].gone += all >> 4 * i & 1;
}

/// True when the key that comes next is one of those that fill the main queue.
static bool fills(const lrd_shadow *shadow, const lrd_expert *expert, lrd_demand demand) {
  return demand >= expert->fills && shadow->small.count >= shadow->small_target;
}

void lrd_shadows_add(lrd_shadows *shadows, lrd_shadow_set set, uint64_t mixed, bool missed,
                     lrd_demand demand, bool keeps) {
  uint32_t hash = hash_of(mixed);
  uint16_t id = find(shadows, hash);
  if (id == none) id = make(shadows, hash);
  for (; set; set &= set - 1) {
    uint32_t number = lrd_shadow_first(set);
    lrd_shadow *shadow = &shadows->shadow[number];
    const lrd_expert *expert = &lrd_experts[number];
    bool for_main = expert->clock;
    uint32_t count = shadow->small.count + shadow->main.count;
    if (LRD_UNLIKELY(count < shadows->capacity && (id != none || !count))) {
      if (!shadow->full_for) for_main |= fills(shadow, expert, demand);
      shadow->full_for -= shadow->full_for != 0;
    } else if (LRD_LIKELY(!shadow->gone) || !sweep(shadows, number)) {
      evict(shadows, number);
      shadow->full_for = full_after_eviction;
    }
    bool proven = lrd_ghosts_recall(&shadow->ghosts, mixed_of(hash), expert->life);
    for_main |= proven && missed;
    // Has the eviction freed a number?
    if (LRD_UNLIKELY(id == none) && (id = make(shadows, hash)) == none) continue;
    set_state(&shadows->keys[id], number, known);
    push(shadows, for_main ? &shadow->main : &shadow->small, id);
    uint32_t most = shadow->small_target / 2;
    for (int i = 0; i < LRD_AGEING_MOST && shadow->small.count - shadow->old > most; i++) {
      age(shadows, number, keeps);
    }
  }
}
