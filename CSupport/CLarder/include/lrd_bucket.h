// SPDX-License-Identifier: Apache-2.0
/* lrd_bucket.h — a line of a hash table: eleven cells, and a link to an overflow bucket.
 *
 *   bucket   [ tag 0 | … | tag 10 | – | id 0 | … | id 10 | link ]   one cache line
 *   tag      eight bits of the hash, which lookups compare first; 0 when the cell is empty
 *   id       the slot id of the entry (lrd_pool.h); 0 when the cell is empty
 *   link     [ MOVED:1 | version:35 | overflow:28 ]  overflow = number of the next bucket + 1, or 0
 *
 * A search looks at all tags at once, and answers with a bit for each. Tag and id of a cell are
 * stored one after the other, and who reads without the lock may see the one without the other:
 *   a cell is filled    the id, then the tag: who finds the tag finds the id, or a later one
 *   a cell is emptied   the id, then the tag: who finds the tag may find the id 0
 *   it gets another id  the id, then the tag: who finds the tag may find an entry of another hash
 * Who may store is told in lrd_table.h. */
#pragma once

#include "lrd_pool.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#pragma clang assume_nonnull begin

#define LRD_BUCKET_CELLS 11
#define LRD_BUCKET_ALL ((1u << LRD_BUCKET_CELLS) - 1)

#define LRD_LINK_MOVED ((uint64_t)1 << 63)
#define LRD_LINK_OVERFLOW (((uint64_t)1 << 28) - 1)
#define LRD_LINK_VERSION ((uint64_t)1 << 28)

#define LRD_BUCKET_WORDS 7

typedef struct __attribute__((aligned(64))) lrd_bucket {
  union {
    struct {
      _Atomic(uint8_t) tags[LRD_BUCKET_CELLS];
      _Atomic(uint32_t) ids[LRD_BUCKET_CELLS];
    };
    _Atomic(uint64_t) words[LRD_BUCKET_WORDS]; // all cells, to empty them at once
  };
  _Atomic(uint64_t) link;
} lrd_bucket;
_Static_assert(sizeof(lrd_bucket) == 64, "a line");

/// The bucket of a hash, among so many.
LRD_INLINE uint64_t lrd_bucket_of(uint64_t hash, uint64_t buckets) LRD_NONBLOCKING {
  return (uint64_t)(((unsigned __int128)lrd_hash48(hash) * buckets) >> 64);
}

/// Bits 24 to 31 of a hash, and 1 in place of 0. The shard is chosen by the bits below, and the
/// bucket by the highest.
LRD_INLINE uint8_t lrd_table_tag(uint64_t hash) LRD_NONBLOCKING {
  uint32_t tag = (uint32_t)hash >> 24;
  return (uint8_t)(tag + !tag);
}

#if defined(__SSE2__)
/// The tags, and what is behind them. Written as an instruction because C has no vector load for
/// memory that others store to atomically; the processor reads each tag in one piece.
LRD_INLINE __m128i lrd_bucket_tags(const lrd_bucket *bucket) LRD_NONBLOCKING {
  __m128i tags;
  __asm__ volatile("movaps %1, %0" : "=x"(tags) : "m"(*(const __m128i *)(const void *)bucket));
  return tags;
}

LRD_INLINE uint32_t lrd_tags_match(__m128i tags, __m128i wanted) LRD_NONBLOCKING {
  return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(tags, wanted)) & LRD_BUCKET_ALL;
}

/// A bit for each cell with the tag of a hash.
LRD_INLINE uint32_t lrd_bucket_search(const lrd_bucket *bucket, uint64_t hash) LRD_NONBLOCKING {
  // lrd_table_tag() in every byte.
  __m128i wanted = _mm_set1_epi32((int)(((uint32_t)hash >> 24) * 0x01010101));
  return lrd_tags_match(lrd_bucket_tags(bucket), _mm_max_epu8(wanted, _mm_set1_epi8(1)));
}
#else
/// A bit for each of eight bytes that is `tag`.
LRD_INLINE uint32_t lrd_tags_match(uint64_t tags, uint8_t tag) LRD_NONBLOCKING {
  const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
  uint64_t other = tags ^ tag * UINT64_C(0x0101010101010101);
  // The highest bit of each byte that is 0, and of no other: no sum carries into the next byte.
  uint64_t same = ~(((other & low) + low) | other | low);
  return (uint32_t)((same >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

/// Eight bytes of a bucket, of which each is read in one piece. The address of an id depends on
/// these, so processors load it later.
LRD_INLINE uint64_t lrd_bucket_bytes(const lrd_bucket *bucket, size_t first) LRD_NONBLOCKING {
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");
  return LRD_LOAD(&bucket->words[first / sizeof(uint64_t)]);
}
#endif

/// A bit for each cell whose tag is `tag`; 0 is that of empty cells.
LRD_INLINE uint32_t lrd_bucket_match(const lrd_bucket *bucket, uint8_t tag) LRD_NONBLOCKING {
#if defined(__SSE2__)
  return lrd_tags_match(lrd_bucket_tags(bucket), _mm_set1_epi8((char)tag));
#else
  uint32_t first = lrd_tags_match(lrd_bucket_bytes(bucket, 0), tag);
  return (first | lrd_tags_match(lrd_bucket_bytes(bucket, 8), tag) << 8) & LRD_BUCKET_ALL;
#endif
}

#if !defined(__SSE2__)
LRD_INLINE uint32_t lrd_bucket_search(const lrd_bucket *bucket, uint64_t hash) LRD_NONBLOCKING {
  return lrd_bucket_match(bucket, lrd_table_tag(hash));
}
#endif

/// A bit for each cell that is empty.
LRD_INLINE uint32_t lrd_bucket_empty(const lrd_bucket *bucket) LRD_NONBLOCKING {
  return lrd_bucket_match(bucket, 0);
}

/// A bit for each cell that is not.
LRD_INLINE uint32_t lrd_bucket_full(const lrd_bucket *bucket) LRD_NONBLOCKING {
  return LRD_BUCKET_ALL & ~lrd_bucket_match(bucket, 0);
}

/// The slot id in a cell, for those who have the lock.
LRD_INLINE uint32_t lrd_bucket_id(const lrd_bucket *bucket, int cell) {
  return LRD_LOAD(&bucket->ids[cell]);
}

/// The cell that holds the entry in slot `id`, whose tag this is; -1 when none does.
LRD_INLINE int lrd_bucket_cell_of(const lrd_bucket *bucket, uint8_t tag, uint32_t id) {
  for (uint32_t bits = lrd_bucket_match(bucket, tag); bits; bits &= bits - 1) {
    int cell = __builtin_ctz(bits);
    if (LRD_LIKELY(lrd_bucket_id(bucket, cell) == id)) return cell;
  }
  return -1;
}

/// Fills a cell, or puts another entry in the place of one. Release: readers load the id (acquire)
/// and see what was written to the entry and to the directory of its page.
LRD_INLINE void lrd_bucket_fill(lrd_bucket *bucket, int cell, uint8_t tag, uint32_t id) {
  atomic_store_explicit(&bucket->ids[cell], id, memory_order_release);
  atomic_store_explicit(&bucket->tags[cell], tag, memory_order_release);
}

/// Empties a cell. Release: who finds it empty sees what was stored before.
LRD_INLINE void lrd_bucket_clear_cell(lrd_bucket *bucket, int cell) {
  atomic_store_explicit(&bucket->ids[cell], 0, memory_order_release);
  atomic_store_explicit(&bucket->tags[cell], 0, memory_order_release);
}

/// Empties all cells. Release: as above.
LRD_INLINE void lrd_bucket_clear_cells(lrd_bucket *bucket) {
  for (int i = 0; i < LRD_BUCKET_WORDS; i++) {
    atomic_store_explicit(&bucket->words[i], 0, memory_order_release);
  }
}

#pragma clang assume_nonnull end
