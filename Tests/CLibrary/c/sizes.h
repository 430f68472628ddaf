/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.h — callbacks for keys that are nothing but a size. It is their hash, and keys of equal
 * sizes are equal. */
#ifndef SIZES_H
#define SIZES_H

#include <stdint.h>

static inline uint64_t sizes_hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)key;
  return size;
}

static inline int32_t sizes_equal(void *context, const void *a, uint64_t a_size, const void *b,
                                  uint64_t b_size) {
  (void)context, (void)a, (void)b;
  return a_size == b_size;
}

#endif
