// SPDX-License-Identifier: Apache-2.0
/* lrd_shadow.h — a small cache of keys without values that always follows one expert.
 *
 * It is given a sample of the requests, and has that part of the real cache's capacity: what it
 * misses is what the real cache would miss under this expert (Waldspurger, Saemundsson, Ahmad,
 * Park, "Cache Modeling and Optimization using Miniature Simulations", USENIX ATC 2017).
 *
 *   node       [ key:28 place:2 credit:2 | newer:16 | chain:16 ]     8 bytes
 *   queues     oldest ─newer─▶ … ─newer─▶ newest       one link will do: entries leave at the old end
 *   directory  heads of chains of nodes by key
 *
 * Guard: the advisor's lock. */
#pragma once

#include "lrd_remnants.h"

#pragma clang assume_nonnull begin

/// Keys a shadow may hold: links are 16 bits. More would not make its estimates any better.
enum { LRD_SHADOW_MOST = 1 << 15 };

typedef struct lrd_node lrd_node;

typedef struct lrd_node_queue {
  uint16_t oldest;
  uint16_t newest;
  uint32_t count;
} lrd_node_queue;

typedef struct lrd_shadow {
  const lrd_expert *expert;
  lrd_node *nodes;
  uint16_t *directory;
  uint32_t directory_mask;
  uint32_t capacity;
  uint32_t used;         // nodes that have ever held a key
  uint16_t free;         // the node given back by the eviction just made
  uint32_t small_target; // of old and young together
  lrd_node_queue old;
  lrd_node_queue young;
  lrd_node_queue main;
  lrd_remnants remnants;
} lrd_shadow;

/// Memory that a shadow of this capacity needs.
size_t lrd_shadow_bytes(const lrd_expert *expert, uint32_t capacity);

/// Makes an empty shadow in cleared memory of that size, aligned to 8. `capacity` is at least 1.
void lrd_shadow_open(lrd_shadow *shadow, const lrd_expert *expert, uint32_t capacity, void *memory);

/// Asks for a key, and stores it if it is not there. True when it was.
bool lrd_shadow_request(lrd_shadow *shadow, uint64_t scrambled);

#pragma clang assume_nonnull end
