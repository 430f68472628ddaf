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

/// Releases what it can, if that is enough. Returns how many bytes. Nobody else takes from the page
/// or frees it; others may put slots in front of the chain, which begins at `head` here. No lock is
/// needed.
size_t lrd_hollow_out(lrd_pool *pool, lrd_page *page, uint32_t head);

#pragma clang assume_nonnull end
