// SPDX-License-Identifier: Apache-2.0
/* CPurgeable.h — memory that may be offered to the kernel, which takes pages of it when it is
 * short.
 *
 *   created ──▶ kept ──offer()──▶ offered ──reclaim() true──▶ kept
 *                                    └──────reclaim() false─▶ lost: destroy it
 *
 * LINUX. Whole pages from mmap(), offered with MADV_FREE: the kernel drops such a page when it
 * needs memory, without writing it anywhere, unless it has been written to since; a dropped page
 * reads as zeros. The kernel does not tell which pages it dropped, so a word of each page that is
 * not zero is remembered when the memory is offered: it is zero exactly if the page is lost. A page
 * without such a word holds zeros, and is the same when lost. To take a page back is to write to
 * it, see lrd_purgeable_reclaim(). Where MADV_FREE is refused (locked memory, kernels before 4.5)
 * nothing is ever taken. MADV_COLD would add nothing: MADV_FREE already moves pages to where the
 * kernel looks first.
 *
 * DARWIN. The purgeable zone of malloc, whose memory the kernel takes as a whole.
 *
 * THREADS. The caller lets no two calls on one memory run at the same time, save is_intact() beside
 * itself, and touches the bytes only while the memory is kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef struct lrd_purgeable {
  void *_Nullable bytes;     // zeros at first
  size_t length;             // whole pages, or 0
  uint16_t *_Nullable marks; // Linux: for each page the word that is not zero
} lrd_purgeable;

/// Memory for `bytes` bytes, kept. False without memory.
bool lrd_purgeable_create(lrd_purgeable *memory, size_t bytes);

/// Gives the memory back, in whatever state it is.
void lrd_purgeable_destroy(lrd_purgeable *memory);

/// Offers kept memory to the kernel.
void lrd_purgeable_offer(lrd_purgeable *memory);

/// Takes offered memory back. False if the kernel has taken some of it: then none of it is of use.
bool lrd_purgeable_reclaim(lrd_purgeable *memory);

/// Whether offered memory is all there at this moment. It remains offered.
bool lrd_purgeable_is_intact(lrd_purgeable *memory);

#pragma clang assume_nonnull end
