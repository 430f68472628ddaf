// SPDX-License-Identifier: Apache-2.0
#if defined(__APPLE__)

#include "CPurgeable.h"

#include <mach/mach.h>
#include <malloc/malloc.h>
#include <string.h>

bool lrd_purgeable_create(lrd_purgeable *memory, size_t bytes) {
  *memory = (lrd_purgeable){0};
  if (!bytes) return true;
  if (bytes > SIZE_MAX - vm_page_size) return false;
  // Whole pages: the zone makes purgeable only what has pages of its own.
  size_t length = (bytes + vm_page_size - 1) / vm_page_size * vm_page_size;
  void *pages = malloc_zone_malloc(malloc_default_purgeable_zone(), length);
  if (!pages) return false;
  memset(pages, 0, length);
  *memory = (lrd_purgeable){.bytes = pages, .length = length};
  return true;
}

void lrd_purgeable_destroy(lrd_purgeable *memory) {
  if (memory->length) malloc_zone_free(malloc_default_purgeable_zone(), memory->bytes);
  *memory = (lrd_purgeable){0};
}

void lrd_purgeable_offer(lrd_purgeable *memory) {
  if (memory->length) malloc_make_purgeable(memory->bytes);
}

bool lrd_purgeable_reclaim(lrd_purgeable *memory) {
  return !memory->length || malloc_make_nonpurgeable(memory->bytes) == 0;
}

bool lrd_purgeable_is_intact(lrd_purgeable *memory) {
  // The zone answers only as it takes the memory back.
  bool intact = lrd_purgeable_reclaim(memory);
  if (intact) lrd_purgeable_offer(memory);
  return intact;
}

#endif
