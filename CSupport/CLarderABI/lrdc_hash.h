// SPDX-License-Identifier: Apache-2.0
/* lrdc_hash.h — the hash of byte strings.
 *
 * Up to 32 bytes the hash is the core's. For longer text the core uses two lanes, which is safe for
 * ASCII only: with other bytes, somebody can write keys whose lanes cancel each other under every
 * seed. So longer keys take one lane here, which mixes each block with a secret and with the state
 * of all blocks before it. lrd_hash.h says how strong that is. */
#pragma once

#include "lrd_hash.h"

#pragma clang assume_nonnull begin

static inline uint64_t lrdc_hash_bytes(const void *bytes, size_t count, uint64_t seed0,
                                       uint64_t seed1) LRD_NONBLOCKING {
  const uint8_t *p = bytes;
  if (LRD_LIKELY(count <= 32)) return lrd_hash_bytes(p, count, seed0, seed1).hash;
  uint64_t state = seed0;
  size_t left = count;
  for (; left > 16; left -= 16, p += 16) {
    state = lrd_hash_fold(lrd_hash_load64(p) ^ seed1, lrd_hash_load64(p + 8) ^ state);
  }
  // 1 to 16 bytes are left. The last 16 bytes of the key are hashed, some of them a second time.
  p -= 16 - left;
  return lrd_hash_finish(lrd_hash_load64(p) ^ seed1, lrd_hash_load64(p + 8) ^ state, count);
}

#pragma clang assume_nonnull end
