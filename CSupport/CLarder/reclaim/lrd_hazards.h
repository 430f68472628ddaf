// SPDX-License-Identifier: Apache-2.0
/* lrd_hazards.h — the pointers that readers had published at one moment: what a scan reads.
 *
 * A filter answers most questions by one bit. Guard: belongs to the thread that gathered it. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

enum { LRD_HAZARDS_FILTER = 4096, LRD_HAZARDS_NEAR = 256 };

typedef struct lrd_hazards {
  uint64_t filter[LRD_HAZARDS_FILTER / 64];
  uintptr_t near[LRD_HAZARDS_NEAR];
  uintptr_t *pointers;
  size_t count;
  size_t capacity;
  bool overflowed; // no memory for all of them: everything counts as named
} lrd_hazards;

/// Reads the hazards of all threads. What they say of a removed pointer is right if a heavy fence
/// has begun and ended between its removal and this call.
void lrd_hazards_gather(lrd_hazards *hazards);

/// True when a reader had published `candidate`.
bool lrd_hazards_name(const lrd_hazards *hazards, const void *candidate);

/// Frees what gathering has allocated.
void lrd_hazards_discard(lrd_hazards *hazards);

#pragma clang assume_nonnull end
