// SPDX-License-Identifier: Apache-2.0
#include "lrd_directory.h"

#include "lrd_alloc.h"

static size_t bytes_of(uint32_t capacity) {
  return sizeof(lrd_directory) + capacity * sizeof(char *);
}

lrd_directory *lrd_directory_create(uint32_t capacity) {
  lrd_directory *directory = lrd_alloc_zeroed(bytes_of(capacity), _Alignof(lrd_directory));
  if (directory) directory->capacity = capacity;
  return directory;
}

void lrd_directory_destroy(lrd_directory *directory) {
  if (directory) lrd_free(directory, bytes_of(directory->capacity), _Alignof(lrd_directory));
}

void lrd_directory_destroy_all(lrd_directory *directory) {
  for (lrd_directory *smaller; directory; directory = smaller) {
    smaller = directory->smaller;
    lrd_directory_destroy(directory);
  }
}

bool lrd_directory_reaches(_Atomic(lrd_directory *) *directory, uint32_t number,
                           lrd_directory **larger) {
  lrd_directory *current = LRD_LOAD(directory);
  if (number < current->capacity) return true;
  if (!*larger || (*larger)->capacity <= number) return false;
  for (uint32_t i = 0; i < current->capacity; i++) {
    LRD_STORE(&(*larger)->slots[i], LRD_LOAD(&current->slots[i]));
  }
  (*larger)->smaller = current;
  atomic_store_explicit(directory, *larger, memory_order_release);
  *larger = NULL;
  return true;
}
