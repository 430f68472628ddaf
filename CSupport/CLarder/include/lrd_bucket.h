// SPDX-License-Identifier: Apache-2.0
/* lrd_bucket.h — a line of a hash table: seven tagged entry pointers, and a link to an overflow
 * bucket.
 *
 *   bucket   [ cell 0 | … | cell 6 | link ]        one cache line
 *   cell     [ tag:16 | entry address:48 ]         0 when empty
 *   link     [ MOVED:1 | version:35 | overflow:28 ] overflow = number of the next bucket + 1, or 0
 *
 * A search looks at all cells at once, and answers with a bit for each. The cells may change
 * meanwhile: each is read in one piece. Who may store is told in lrd_table.h. */
#pragma once

#include "lrd_entry.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#pragma clang assume_nonnull begin

#define LRD_BUCKET_CELLS 7
#define LRD_BUCKET_ALL ((1u << LRD_BUCKET_CELLS) - 1)

#define LRD_LINK_MOVED ((uint64_t)1 << 63)
#define LRD_LINK_OVERFLOW (((uint64_t)1 << 28) - 1)
#define LRD_LINK_VERSION ((uint64_t)1 << 28)

typedef struct lrd_bucket {
  _Alignas(64) _Atomic(uint64_t) cells[LRD_BUCKET_CELLS];
  _Atomic(uint64_t) link;
} lrd_bucket;

LRD_INLINE uint64_t lrd_table_tag(uint64_t hash) LRD_NONBLOCKING {
  return (hash & 0xffff) | 1;
}

LRD_INLINE uint64_t lrd_table_word(const lrd_entry *entry, uint64_t tag) LRD_NONBLOCKING {
  return tag << LRD_ADDRESS_BITS | (uint64_t)(uintptr_t)entry;
}

LRD_INLINE lrd_entry *lrd_table_entry(uint64_t word) LRD_NONBLOCKING {
  return (lrd_entry *)(uintptr_t)(word & LRD_ADDRESS_MASK);
}

#if defined(__SSE2__)
/// The lower or the upper halves of four cells. Written as instructions because C has no vector
/// load for memory that others store to atomically; the processor reads each aligned cell in one
/// piece.
LRD_INLINE __m128i lrd_bucket_low(const lrd_bucket *bucket, int first) LRD_NONBLOCKING {
  const __m128i *pairs = (const __m128i *)(const void *)&bucket->cells[first];
  __m128i halves;
  __asm__ volatile("movaps %1, %0\n\tshufps $0x88, %2, %0"
                   : "=&x"(halves)
                   : "m"(pairs[0]), "m"(pairs[1]));
  return halves;
}

LRD_INLINE __m128i lrd_bucket_high(const lrd_bucket *bucket, int first) LRD_NONBLOCKING {
  const __m128i *pairs = (const __m128i *)(const void *)&bucket->cells[first];
  __m128i halves;
  __asm__ volatile("movaps %1, %0\n\tshufps $0xdd, %2, %0"
                   : "=&x"(halves)
                   : "m"(pairs[0]), "m"(pairs[1]));
  return halves;
}

/// The sign bits of eight numbers, but of the link's.
LRD_INLINE uint32_t lrd_bucket_signs(__m128i first, __m128i second) LRD_NONBLOCKING {
  __m128i words = _mm_packs_epi32(first, second);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(words, words)) & LRD_BUCKET_ALL;
}
#endif

/// A bit for each cell whose tag is `tag`; 0 is that of empty cells.
LRD_INLINE uint32_t lrd_bucket_match(const lrd_bucket *bucket, uint64_t tag) LRD_NONBLOCKING {
#if defined(__SSE2__)
  __m128i tags = _mm_set1_epi16((short)tag);
  return lrd_bucket_signs(_mm_cmpeq_epi16(lrd_bucket_high(bucket, 0), tags),
                          _mm_cmpeq_epi16(lrd_bucket_high(bucket, 4), tags));
#else
  uint32_t bits = 0;
  for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
    bits |= (uint32_t)(LRD_LOAD(&bucket->cells[i]) >> LRD_ADDRESS_BITS == tag) << i;
  }
  return bits;
#endif
}

/// What lrd_bucket_match() says of `tag`, and from bit 8 on of empty cells.
LRD_INLINE uint32_t lrd_bucket_match_or_empty(const lrd_bucket *bucket, uint64_t tag) {
#if defined(__SSE2__)
  __m128i tags = _mm_set1_epi16((short)tag), none = _mm_setzero_si128();
  __m128i first = lrd_bucket_high(bucket, 0), second = lrd_bucket_high(bucket, 4);
  __m128i matching = _mm_packs_epi32(_mm_cmpeq_epi16(first, tags), _mm_cmpeq_epi16(second, tags));
  __m128i empty = _mm_packs_epi32(_mm_cmpeq_epi16(first, none), _mm_cmpeq_epi16(second, none));
  uint32_t bits = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(matching, empty));
  return bits & (LRD_BUCKET_ALL | LRD_BUCKET_ALL << 8);
#else
  return lrd_bucket_match(bucket, tag) | lrd_bucket_match(bucket, 0) << 8;
#endif
}

/// A bit for each cell whose address has the lower 32 bits of `entry`.
LRD_INLINE uint32_t lrd_bucket_match_entry(const lrd_bucket *bucket, const lrd_entry *entry) {
  uint32_t low = (uint32_t)(uintptr_t)entry;
#if defined(__SSE2__)
  __m128i lows = _mm_set1_epi32((int)low);
  return lrd_bucket_signs(_mm_cmpeq_epi32(lrd_bucket_low(bucket, 0), lows),
                          _mm_cmpeq_epi32(lrd_bucket_low(bucket, 4), lows));
#else
  uint32_t bits = 0;
  for (int i = 0; i < LRD_BUCKET_CELLS; i++) {
    bits |= (uint32_t)((uint32_t)LRD_LOAD(&bucket->cells[i]) == low) << i;
  }
  return bits;
#endif
}

/// The cell that holds `entry`, NULL when none does.
LRD_INLINE _Atomic(uint64_t) *_Nullable lrd_bucket_cell_of(lrd_bucket *bucket,
                                                           const lrd_entry *entry) {
  for (uint32_t bits = lrd_bucket_match_entry(bucket, entry); bits; bits &= bits - 1) {
    _Atomic(uint64_t) *cell = &bucket->cells[__builtin_ctz(bits)];
    if (LRD_LIKELY(lrd_table_entry(LRD_LOAD(cell)) == entry)) return cell;
  }
  return NULL;
}

#pragma clang assume_nonnull end
