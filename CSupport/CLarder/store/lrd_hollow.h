// SPDX-License-Identifier: Apache-2.0
/* lrd_hollow.h — gives the free part of a vacated page back to the system (lrd_vacancy.h).
 *
 * The free slots are those of the page's chain, and those that were never used. A page of the
 * system is released if all slots that lie in it, some maybe in part, are free. They are lost until
 * the page is freed: so it must give none out any more. Only extents can be released in pieces, and
 * it is not worth it for less than half of a page. */
#pragma once

#include "lrd_pool.h"

#pragma clang assume_nonnull begin

enum { LRD_HOLLOW_PIECES = LRD_PAGE_BYTES_MOST / LRD_SYSTEM_PAGE };

/// For each system page of a page, how many slots lie in it that are in use.
typedef struct lrd_hollow {
  uint16_t used[LRD_HOLLOW_PIECES];
  size_t header; // of the page
  size_t each;   // bytes of the slots that an entry takes
} lrd_hollow;

/// Finds what can be released. Returns how many bytes; 0 if that is not enough. Nobody else takes
/// from the page or frees it; others may put slots in front of the chain, which begins at `head`
/// here. No lock is needed.
size_t lrd_hollow_measure(lrd_hollow *hollow, lrd_pool *pool, const lrd_page *page, uint32_t head);

/// Releases that. The page has forgotten its chain before.
void lrd_hollow_release(const lrd_hollow *hollow, lrd_page *page);

#pragma clang assume_nonnull end
