// SPDX-License-Identifier: Apache-2.0
#include "lrd_page.h"

#include "lrd_alloc.h"

#include <string.h>

static const size_t smallest_page = 4096;

void lrd_page_free(lrd_shape shape, lrd_page *page) {
  LRD_UNPOISON(page, page->bytes);
  lrd_free(page, page->bytes, lrd_page_alignment(shape.alignment));
}

void lrd_page_free_all(lrd_shape shape, lrd_page *pages) {
  for (lrd_page *next; pages; pages = next) {
    next = pages->next;
    lrd_page_free(shape, pages);
  }
}

/// The bytes of a page with room for the slots that are still expected, or for a 64th more than
/// there are: other threads hold free ones, and what was removed waits for readers.
static size_t fitting_bytes(lrd_shape shape, size_t mapped, uint64_t expected) {
  uint64_t present = mapped / shape.stride, more = present / 64;
  uint64_t left = expected > present ? expected - present : 0;
  if (left < more) left = more;
  if (!expected || left > LRD_PAGE_BYTES_MOST / shape.stride) return LRD_PAGE_BYTES_MOST;
  return lrd_round_up(shape.header + (size_t)left * shape.stride, smallest_page);
}

/// The size the next page should have: as much again as there is, within the bounds.
static size_t next_bytes(lrd_shape shape, uint32_t step, size_t mapped, uint64_t expected) {
  size_t bytes = smallest_page, fitting = fitting_bytes(shape, mapped, expected);
  while (bytes < LRD_PAGE_BYTES_MOST && (bytes < mapped || lrd_page_slots(shape, bytes) < 8)) {
    bytes *= 2;
  }
  if (fitting < bytes) bytes = fitting;
  size_t least = shape.header + step * shape.stride;
  return bytes < least ? least : bytes;
}

static lrd_page *create(lrd_shape shape, uint32_t step, size_t bytes, bool prefault) {
  size_t alignment = lrd_page_alignment(shape.alignment);
  lrd_page *page = (prefault ? lrd_alloc : lrd_alloc_piecemeal)(bytes, alignment);
  if (!page) return NULL;
  if (prefault) lrd_prefault(page, bytes);
  memset(page, 0, sizeof *page);
  page->bytes = bytes;
  page->step = step;
  page->capacity = page->free = lrd_page_slots(shape, bytes) / step;
  page->free_head = LRD_NIL;
  return page;
}

lrd_page *lrd_page_create(lrd_shape shape, uint32_t step, size_t mapped, uint64_t expected,
                          bool prefault) {
  return create(shape, step, next_bytes(shape, step, mapped, expected), prefault);
}

size_t lrd_page_bytes_for(lrd_shape shape, uint32_t step, uint64_t entries) {
  size_t each = step * shape.stride, most = LRD_PAGE_BYTES_MOST;
  size_t bytes = entries > most / each ? most : shape.header + (size_t)entries * each;
  bytes = lrd_round_up(bytes, smallest_page);
  if (bytes > most) bytes = most;
  return bytes < shape.header + each ? shape.header + each : bytes;
}

lrd_page *lrd_page_create_for(lrd_shape shape, uint32_t step, uint64_t entries) {
  return create(shape, step, lrd_page_bytes_for(shape, step, entries), false);
}
