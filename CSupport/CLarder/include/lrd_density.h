// SPDX-License-Identifier: Apache-2.0
/* lrd_density.h — how far the background thread is with a pool that is sparse (lrd_dense.h).
 *
 * Guard: that thread, and the only one in the child of fork(). */
#pragma once

#include "lrd_sweep.h"

#pragma clang assume_nonnull begin

typedef struct lrd_density {
  uint64_t since;      // when the pool was first seen to be as sparse as this; 0: it is not
  uint64_t used;       // slots in use then
  uint64_t moved_ever; // entries, by anybody, until then
  bool moves;          // pages are vacated; the next slice is `sweep` of `shard`
  int passes;          // that have come to their end since
  uint64_t moved;      // by the present one
  uint32_t shard;
  lrd_sweep sweep;
} lrd_density;

#pragma clang assume_nonnull end
