// SPDX-License-Identifier: Apache-2.0
#include "lrd_hazard_set.h"

#include "lrd_alloc.h"
#include "lrd_thread.h"

#include <string.h>

static uint32_t filter_bit(uintptr_t pointer) {
  return (uint32_t)((uint64_t)pointer * 0x9E3779B97F4A7C15u >> 52);
}
_Static_assert(LRD_HAZARD_FILTER == 1 << (64 - 52), "filter_bit() is a bit of the filter");

static void note_hazard(void *context, uintptr_t pointer) {
  lrd_hazard_set *set = context;
  uint32_t bit = filter_bit(pointer);
  set->filter[bit / 64] |= (uint64_t)1 << bit % 64;
  if (set->count == set->capacity) {
    size_t capacity = set->capacity * 4;
    uintptr_t *grown = lrd_alloc(capacity * sizeof *grown, _Alignof(uintptr_t));
    if (!grown) {
      set->overflowed = true;
      return;
    }
    memcpy(grown, set->pointers, set->count * sizeof *grown);
    lrd_hazard_set_discard(set);
    set->pointers = grown;
    set->capacity = capacity;
  }
  set->pointers[set->count++] = pointer;
}

void lrd_hazard_set_gather(lrd_hazard_set *set) {
  memset(set->filter, 0, sizeof set->filter);
  set->pointers = set->near;
  set->count = 0;
  set->capacity = LRD_HAZARDS_NEAR;
  set->overflowed = false;
  lrd_thread_visit_hazards(note_hazard, set);
}

bool lrd_hazard_set_has(const lrd_hazard_set *set, const void *candidate) {
  uint32_t bit = filter_bit((uintptr_t)candidate);
  if (!(set->filter[bit / 64] >> bit % 64 & 1)) return false;
  return set->overflowed || lrd_pointers_name(set->pointers, set->count, candidate);
}

void lrd_hazard_set_discard(lrd_hazard_set *set) {
  if (set->pointers == set->near) return;
  lrd_free(set->pointers, set->capacity * sizeof *set->pointers, _Alignof(uintptr_t));
}
