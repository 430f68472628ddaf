// SPDX-License-Identifier: Apache-2.0
/* lrd_page.h — the pages that a pool cuts into slots: what they begin with, and how large they are.
 *
 * What a pool does with them is told in lrd_pool.h, and so is the guard of their fields. */
#pragma once

#include "lrd_entry.h"

#pragma clang assume_nonnull begin

#define LRD_PAGE_BYTES_MOST ((size_t)2 << 20)

typedef struct lrd_page {
  struct lrd_page *_Nullable next;            // in the list of pages with free slots
  struct lrd_page *_Nullable *_Nullable link; // that leads here: `next` of another, or `with_room`
  size_t bytes;
  uint32_t number;
  uint32_t step;      // slots that an entry takes, 1 to LRD_STEP_MOST. The others count entries:
  uint32_t capacity;  // all that it has room for
  uint32_t fresh;     // from here on they were never used
  uint32_t free;      // free now: used before, or fresh
  uint32_t free_head; // chain of free ones by entry->next
  bool vacated;       // in no list, and gives no slots out; see lrd_vacancy.h, with what follows
  bool hollow;        // the system has memory of it back: its free slots are lost
  bool awaits;        // made for entries that will move here: stays though it is empty
  bool kept;          // a thread looks through it: stays though it is empty
  size_t released;    // bytes that the system has back
} lrd_page;

/// How a pool cuts its pages.
typedef struct lrd_shape {
  size_t header; // bytes before the slots
  size_t stride;
  size_t alignment;
} lrd_shape;

static inline size_t lrd_page_alignment(size_t alignment) {
  return alignment > 64 ? alignment : 64;
}

/// How many slots fit in a page of so many bytes.
static inline uint32_t lrd_page_slots(lrd_shape shape, size_t bytes) {
  return bytes < shape.header ? 0 : (uint32_t)((bytes - shape.header) / shape.stride);
}

/// A page for entries that take `step` slots, as large as a pool of `mapped` bytes wants it, where
/// so many slots are expected or, if that is 0, nobody knows. NULL without memory. `prefault`: the
/// system provides its memory now.
lrd_page *_Nullable lrd_page_create(lrd_shape shape, uint32_t step, size_t mapped,
                                    uint64_t expected, bool prefault);

/// The same for so many entries.
lrd_page *_Nullable lrd_page_create_for(lrd_shape shape, uint32_t step, uint64_t entries);

/// The bytes of that page: those of the entries, at most LRD_PAGE_BYTES_MOST unless one is larger.
size_t lrd_page_bytes_for(lrd_shape shape, uint32_t step, uint64_t entries);

/// Frees a page that is in no list.
void lrd_page_free(lrd_shape shape, lrd_page *page);

/// Frees pages that are in no list of a pool, chained by `next`.
void lrd_page_free_all(lrd_shape shape, lrd_page *_Nullable pages);

#pragma clang assume_nonnull end
