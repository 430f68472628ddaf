// SPDX-License-Identifier: Apache-2.0
/* lrd_hazard_set.h — the pointers that readers named in their hazard slots at one time. Guard: it
 * belongs to the thread that gathered it. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

enum { LRD_HAZARD_FILTER = 4096, LRD_HAZARDS_NEAR = 256 };

/// With a filter that answers most questions by one bit.
typedef struct lrd_hazard_set {
  uint64_t filter[LRD_HAZARD_FILTER / 64];
  uintptr_t near[LRD_HAZARDS_NEAR];
  uintptr_t *pointers;
  size_t count;
  size_t capacity;
  bool overflowed; // no memory for all of them: everything counts as held
} lrd_hazard_set;

/// Reads the slots of all threads. What they say of a removed pointer is right if a heavy fence has
/// begun and ended between its removal and this call.
void lrd_hazard_set_gather(lrd_hazard_set *set);

/// True when a slot named `candidate`.
bool lrd_hazard_set_has(const lrd_hazard_set *set, const void *candidate);

/// Frees what a gathered set has allocated.
void lrd_hazard_set_discard(lrd_hazard_set *set);

/// True when `candidate` is one of a few pointers.
static inline bool lrd_pointers_name(const uintptr_t *pointers, size_t count,
                                     const void *candidate) {
  for (size_t i = 0; i < count; i++) {
    if (pointers[i] == (uintptr_t)candidate) return true;
  }
  return false;
}

#pragma clang assume_nonnull end
