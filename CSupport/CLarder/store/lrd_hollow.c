// SPDX-License-Identifier: Apache-2.0
#include "lrd_hollow.h"

#include "lrd_alloc.h"

enum { PIECES = LRD_PAGE_BYTES_MOST / LRD_SYSTEM_PAGE };

/// For each system page of a page, how many slots lie in it that are in use.
typedef struct pieces {
  uint16_t used[PIECES];
  size_t header; // of the page
  size_t each;   // bytes of the slots that an entry takes
} pieces;

/// Counts an entry's slots, in use or not, in all pieces that they lie in.
static void count(pieces *pieces, uint32_t number, int by) {
  size_t start = pieces->header + number * pieces->each, last = start + pieces->each - 1;
  for (size_t i = start / LRD_SYSTEM_PAGE; i <= last / LRD_SYSTEM_PAGE; i++) {
    pieces->used[i] = (uint16_t)(pieces->used[i] + by);
  }
}

/// The bytes of pieces without slots in use.
static size_t bytes_free(const lrd_page *page, const pieces *pieces) {
  size_t bytes = 0;
  for (size_t i = 0; i < page->bytes / LRD_SYSTEM_PAGE; i++) {
    if (!pieces->used[i]) bytes += LRD_SYSTEM_PAGE;
  }
  return bytes;
}

static void release(lrd_page *page, const pieces *pieces) {
  size_t end = page->bytes / LRD_SYSTEM_PAGE;
  for (size_t i = 0, first; i < end; i++) {
    for (first = i; i < end && !pieces->used[i]; i++) {
    }
    size_t bytes = (i - first) * LRD_SYSTEM_PAGE;
    if (bytes) lrd_extent_release((char *)page + first * LRD_SYSTEM_PAGE, bytes);
  }
}

size_t lrd_hollow_out(lrd_pool *pool, lrd_page *page, uint32_t head) {
  lrd_shape shape = lrd_pool_shape(pool);
  bool is_extent = page->bytes >= LRD_EXTENT_BYTES &&
                   lrd_page_alignment(shape.alignment) <= LRD_EXTENT_ALIGNMENT;
  if (!is_extent || page->bytes > LRD_PAGE_BYTES_MOST) return 0;
  pieces pieces = {.used = {1}, .header = shape.header, .each = page->step * shape.stride};
  for (uint32_t i = 0; i < page->fresh; i++) count(&pieces, i, 1);
  for (uint32_t id = head; id != LRD_NIL; id = lrd_pool_entry(pool, id)->next) {
    count(&pieces, (id & LRD_SLOT_MASK) / page->step, -1);
  }
  size_t bytes = bytes_free(page, &pieces);
  if (bytes < page->bytes / 2) return 0;
  lrd_extent_thin(page, page->bytes);
  release(page, &pieces);
  return bytes;
}
