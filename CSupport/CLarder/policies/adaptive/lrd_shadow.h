// SPDX-License-Identifier: Apache-2.0
/* lrd_shadow.h — the shadows: for each expert a small cache of keys without values that always
 * follows it.
 *
 * A shadow gets a sample of the requests, and has the same part of the real cache's capacity. It
 * misses the part of its requests that the real cache would miss under this expert (Waldspurger,
 * Saemundsson, Ahmad, Park, "Cache Modeling and Optimization using Miniature Simulations", USENIX
 * ATC 2017).
 *
 *   directory  heads of chains of keys, for all shadows together
 *   key        [ states: 7 × 4 | hash: 28 | chain: 16 ]     12 bytes; keys are numbered
 *   state      [ gone:1 | known:1 | credit:2 ]              in one shadow; 0: not there
 *   queues     rings of the numbers of keys: small (the first `old` of it are the older half), main
 *
 * All shadows get the same requests, so most keys are in most of them. One look into the directory
 * answers for all, and one addition notes a hit in all.
 *
 * A removed key leaves the directory at once, but its number stays in the queues until it is the
 * oldest there. Until then a shadow holds one key less. If there are more of them than a sixteenth
 * of the capacity, or up to two in some shadows, an eviction sweeps all of them out: there is room
 * then, as in the cache. Otherwise it drops one if the oldest of the main queue or of a half of the
 * small one is one, or else evicts another. A key that has left all queues is free: its number is
 * used again.
 *
 * Guard: the advisor's lock. */
#pragma once

#include "../lrd_ghosts.h"
#include "lrd_expert.h"

#pragma clang assume_nonnull begin

/// The most keys of a shadow. Numbers have 16 bits, and more keys would not improve the estimates.
enum { LRD_SHADOW_MOST = 1 << 13 };

/// The different keys for which there is room, in capacities of a shadow. Random phases, each of
/// which favours other experts, need up to 3.2, and with removals up to 3.8. Where there is too
/// little room, shadows hold fewer keys.
enum { LRD_SHADOW_KEYS = 4 };

/// A set of shadows: bit 4 i is that of expert i, as in the states of a key.
typedef uint32_t lrd_shadow_set;
#define LRD_SHADOWS_ALL UINT32_C(0x1111111)

typedef struct lrd_shadow_key {
  uint32_t states; // the lowest four bits are those of expert 0
  uint32_t hash;
  uint16_t chain; // the next key of its chain, or the next free one
} lrd_shadow_key;

typedef struct lrd_shadow_queue {
  uint16_t *keys;
  uint32_t first; // the place of the oldest, beyond the ring's size in the next round
  uint32_t count;
} lrd_shadow_queue;

typedef struct lrd_shadow {
  lrd_shadow_queue small;
  lrd_shadow_queue main;
  uint32_t old;          // of the small queue: those in the older half
  uint32_t small_target; // of the small queue
  uint32_t gone;         // removed keys that are still in a queue
  uint32_t full_for;     // stores for which the shadow still counts as full after an eviction
  lrd_ghosts ghosts;
} lrd_shadow;

typedef struct lrd_shadows {
  lrd_shadow_key *keys;
  uint16_t *directory;
  uint32_t mask;     // the size of the directory, and of each ring, less one
  uint32_t capacity; // of each
  uint32_t used;     // keys that have ever been in use
  uint16_t free;     // the first free one of these
  lrd_shadow shadow[LRD_EXPERTS];
} lrd_shadows;

/// The memory that shadows of this capacity need.
size_t lrd_shadows_bytes(uint32_t capacity);

/// The number of the first expert in a set, which is not empty.
static inline uint32_t lrd_shadow_first(lrd_shadow_set set) {
  return (uint32_t)__builtin_ctz(set) / 4;
}

/// Makes empty shadows in cleared memory of lrd_shadows_bytes(), aligned as lrd_shadows. `capacity`
/// is 1 to LRD_SHADOW_MOST.
lrd_shadows *lrd_shadows_open(void *memory, uint32_t capacity);

/// Looks a key up so many times in each shadow; 0 changes nothing. Returns those that hold it:
/// there it has so many hits more.
lrd_shadow_set lrd_shadows_use(lrd_shadows *shadows, uint64_t mixed, uint32_t hits);

/// Stores a key in the shadows of `set`, which is not empty. None of them holds it. One that is
/// full evicts another key. So does any while no number is free, and if none is free even then, it
/// does not store the key.
/// `missed`: a lookup has missed it, so a ghost counts. `demand`: decides whether the experts fill.
/// `keeps`: keys that age keep their hits. See lrd_expert.h.
void lrd_shadows_add(lrd_shadows *shadows, lrd_shadow_set set, uint64_t mixed, bool missed,
                     lrd_demand demand, bool keeps);

/// Removes a key wherever it is.
void lrd_shadows_remove(lrd_shadows *shadows, uint64_t mixed);

#pragma clang assume_nonnull end
