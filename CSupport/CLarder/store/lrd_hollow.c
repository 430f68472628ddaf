// SPDX-License-Identifier: Apache-2.0
#include "lrd_hollow.h"

#include "lrd_alloc.h"

/// Counts an entry's slots, in use or not, in all pieces that they lie in.
static void count(lrd_hollow *hollow, uint32_t number, int by) {
  size_t start = hollow->header + number * hollow->each, last = start + hollow->each - 1;
  for (size_t i = start / LRD_SYSTEM_PAGE; i <= last / LRD_SYSTEM_PAGE; i++) {
    hollow->used[i] = (uint16_t)(hollow->used[i] + by);
  }
}

size_t lrd_hollow_measure(lrd_hollow *hollow, lrd_pool *pool, const lrd_page *page, uint32_t head) {
  lrd_shape shape = lrd_pool_shape(pool);
  bool is_extent = page->bytes >= LRD_EXTENT_BYTES &&
                   lrd_page_alignment(shape.alignment) <= LRD_EXTENT_ALIGNMENT;
  if (!is_extent || page->bytes > LRD_PAGE_BYTES_MOST) return 0;
  *hollow = (lrd_hollow){.used = {1}, .header = shape.header, .each = page->step * shape.stride};
  for (uint32_t i = 0; i < page->fresh; i++) count(hollow, i, 1);
  for (uint32_t id = head; id != LRD_NIL; id = lrd_pool_entry(pool, id)->next) {
    count(hollow, (id & LRD_SLOT_MASK) / page->step, -1);
  }
  size_t bytes = 0;
  for (size_t i = 0; i < page->bytes / LRD_SYSTEM_PAGE; i++) {
    if (!hollow->used[i]) bytes += LRD_SYSTEM_PAGE;
  }
  return bytes < page->bytes / 2 ? 0 : bytes;
}

void lrd_hollow_release(const lrd_hollow *hollow, lrd_page *page) {
  size_t end = page->bytes / LRD_SYSTEM_PAGE;
  lrd_extent_advise(page, page->bytes, false);
  for (size_t i = 0, first; i < end; i++) {
    for (first = i; i < end && !hollow->used[i]; i++) {
    }
    size_t bytes = (i - first) * LRD_SYSTEM_PAGE;
    if (bytes) lrd_extent_release((char *)page + first * LRD_SYSTEM_PAGE, bytes);
  }
}
