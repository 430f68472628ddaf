// SPDX-License-Identifier: Apache-2.0
/* lrdc_hash.h — the hash of byte strings.
 *
 * Up to 32 bytes the hash is the core's. Its second lane for longer text relies on the text being
 * ASCII: with any bytes allowed, keys can be written whose lanes cancel each other under every
 * seed. Longer keys therefore take one lane, in which each block meets a secret and the state of
 * all blocks before it. lrd_hash.h says how strong that is. */
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
  // 1...16 bytes are left; the block before them is hashed again in part.
  p -= 16 - left;
  return lrd_hash_finish(lrd_hash_load64(p) ^ seed1, lrd_hash_load64(p + 8) ^ state, count);
}

#pragma clang assume_nonnull end
