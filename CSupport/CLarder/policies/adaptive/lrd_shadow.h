// SPDX-License-Identifier: Apache-2.0
/* lrd_shadow.h — a shadow: a small cache of keys without values that always follows one expert.
 *
 * A shadow gets a sample of the requests, and has the same part of the real cache's capacity. It
 * misses the part of its requests that the real cache would miss under this expert (Waldspurger,
 * Saemundsson, Ahmad, Park, "Cache Modeling and Optimization using Miniature Simulations", USENIX
 * ATC 2017).
 *
 *   node       [ key:28 credit:2 gone:1 | newer:16 | chain:16 ]     8 bytes
 *   queues     oldest ─newer─▶ … ─newer─▶ newest             nodes leave at the old end only
 *              old ─newer─▶ young                            and age without being moved
 *   directory  heads of chains of nodes by key
 *
 * A removed key leaves the directory at once. Links lead one way only, so its node stays in its
 * queue until it is the oldest there. Until then the shadow holds one key less. An eviction drops
 * such a node if a queue's oldest is one, and evicts a key only if none is.
 *
 * Guard: the advisor's lock. */
#pragma once

#include "../lrd_ghosts.h"
#include "lrd_expert.h"

#pragma clang assume_nonnull begin

/// The most keys of a shadow. Links have 16 bits, and more keys would not improve the estimates.
enum { LRD_SHADOW_MOST = 1 << 15 };

typedef struct lrd_shadow_node lrd_shadow_node;

typedef struct lrd_shadow_queue {
  uint16_t oldest;
  uint16_t newest;
  uint32_t count;
} lrd_shadow_queue;

typedef struct lrd_shadow {
  const lrd_expert *expert;
  lrd_shadow_node *nodes;
  uint16_t *directory;
  uint32_t directory_mask;
  uint32_t capacity;
  uint32_t used;         // nodes that have ever held a key
  uint32_t small_target; // the target of `old` and `young` together
  uint32_t gone;         // nodes of removed keys
  lrd_shadow_queue old;  // its newest node leads on to the oldest of `young`
  lrd_shadow_queue young;
  lrd_shadow_queue main;
  lrd_ghosts ghosts;
} lrd_shadow;

/// The memory that a shadow of this capacity needs.
size_t lrd_shadow_bytes(const lrd_expert *expert, uint32_t capacity);

/// Makes an empty shadow in cleared memory of lrd_shadow_bytes(), aligned to 8. `capacity` is at
/// least 1.
void lrd_shadow_open(lrd_shadow *shadow, const lrd_expert *expert, uint32_t capacity, void *memory);

/// Looks a key up so many times; 0 changes nothing. True when it is there: then it has so many hits
/// more.
bool lrd_shadow_use(lrd_shadow *shadow, uint64_t mixed, uint32_t hits);

/// Stores a key that is absent. Evicts another if the shadow is full. `missed`: a lookup has missed
/// it, so a ghost counts. `demand`: decides whether the expert fills. `keeps`: keys that age keep
/// their hits. See lrd_expert.h.
void lrd_shadow_add(lrd_shadow *shadow, uint64_t mixed, bool missed, lrd_demand demand, bool keeps);

/// Removes a key, if it is there.
void lrd_shadow_remove(lrd_shadow *shadow, uint64_t mixed);

#pragma clang assume_nonnull end
