// SPDX-License-Identifier: Apache-2.0
/* lrd_hazards.h — the hazards that a scan has read: the pointers of all readers at one moment.
 *
 * A filter answers most questions by one bit. Guard: the thread that gathered them owns them. */
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
  bool overflowed; // no memory for all: every pointer that passes the filter counts as named
} lrd_hazards;

/// Reads the hazards of all threads. Correct for pointers that were removed before a heavy fence
/// that has begun and ended before this call.
void lrd_hazards_gather(lrd_hazards *hazards);

/// True when a reader may have published `candidate`.
bool lrd_hazards_name(const lrd_hazards *hazards, const void *candidate);

/// Frees the memory that gathering has allocated.
void lrd_hazards_discard(lrd_hazards *hazards);

#pragma clang assume_nonnull end
