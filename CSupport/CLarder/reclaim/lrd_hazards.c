// SPDX-License-Identifier: Apache-2.0
#include "lrd_hazards.h"

#include "lrd_alloc.h"
#include "lrd_thread.h"

#include <string.h>

static uint32_t filter_bit(uintptr_t pointer) {
  return (uint32_t)((uint64_t)pointer * 0x9E3779B97F4A7C15u >> 52);
}
_Static_assert(LRD_HAZARDS_FILTER == 1 << (64 - 52), "filter_bit() is a bit of the filter");

static void add(void *context, uintptr_t pointer) {
  lrd_hazards *hazards = context;
  uint32_t bit = filter_bit(pointer);
  hazards->filter[bit / 64] |= (uint64_t)1 << bit % 64;
  if (hazards->count == hazards->capacity) {
    size_t capacity = hazards->capacity * 4;
    uintptr_t *grown = lrd_alloc(capacity * sizeof *grown, _Alignof(uintptr_t));
    if (!grown) {
      hazards->overflowed = true;
      return;
    }
    memcpy(grown, hazards->pointers, hazards->count * sizeof *grown);
    lrd_hazards_discard(hazards);
    hazards->pointers = grown;
    hazards->capacity = capacity;
  }
  hazards->pointers[hazards->count++] = pointer;
}

void lrd_hazards_gather(lrd_hazards *hazards) {
  memset(hazards->filter, 0, sizeof hazards->filter);
  hazards->pointers = hazards->near;
  hazards->count = 0;
  hazards->capacity = LRD_HAZARDS_NEAR;
  hazards->overflowed = false;
  lrd_thread_visit_hazards(add, hazards);
}

bool lrd_hazards_name(const lrd_hazards *hazards, const void *candidate) {
  uint32_t bit = filter_bit((uintptr_t)candidate);
  if (!(hazards->filter[bit / 64] >> bit % 64 & 1)) return false;
  for (size_t i = 0; i < hazards->count; i++) {
    if (hazards->pointers[i] == (uintptr_t)candidate) return true;
  }
  return hazards->overflowed;
}

void lrd_hazards_discard(lrd_hazards *hazards) {
  if (hazards->pointers == hazards->near) return;
  lrd_free(hazards->pointers, hazards->capacity * sizeof *hazards->pointers, _Alignof(uintptr_t));
}
