// SPDX-License-Identifier: Apache-2.0
#include "lrd_alloc.h"

#include <stdlib.h>
#include <string.h>

#if defined(LRD_JEMALLOC)
#include <jemalloc/jemalloc.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#include <pthread.h>
#elif defined(__APPLE__)
#include <malloc/malloc.h>
#endif

/// Successes before the one failure that a test asked for; negative when it asked for none.
static _Atomic(int64_t) successes_left = -1;

static bool must_fail(void) {
  int64_t left = LRD_LOAD(&successes_left);
  if (LRD_LIKELY(left < 0)) return false;
  return atomic_fetch_sub_explicit(&successes_left, 1, memory_order_relaxed) == 0;
}

void lrd_alloc_fail_after(int64_t successes) {
  LRD_STORE(&successes_left, successes);
}

static bool is_extent(size_t bytes, size_t alignment) {
  size_t least = alignment < 64 ? LRD_SINGLE_EXTENT_BYTES : LRD_EXTENT_BYTES;
  return bytes >= least && alignment <= LRD_EXTENT_ALIGNMENT;
}

void *lrd_alloc(size_t bytes, size_t alignment) {
  if (must_fail()) return NULL;
  if (is_extent(bytes, alignment)) return lrd_extent_map(bytes);
#if defined(LRD_JEMALLOC)
  return mallocx(bytes, MALLOCX_ALIGN(alignment));
#else
  // Faster than posix_memalign(). It aligns for every type that fits into `bytes`, and no more.
  if (alignment <= _Alignof(max_align_t) && bytes >= alignment) return malloc(bytes);
  void *memory = NULL;
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
#endif
}

void *lrd_alloc_piecemeal(size_t bytes, size_t alignment) {
  void *memory = lrd_alloc(bytes, alignment);
  if (memory && is_extent(bytes, alignment)) lrd_extent_advise(memory, bytes, false);
  return memory;
}

void *lrd_alloc_zeroed(size_t bytes, size_t alignment) {
  void *memory = lrd_alloc_piecemeal(bytes, alignment);
  if (memory && !is_extent(bytes, alignment)) memset(memory, 0, bytes);
  return memory;
}

void lrd_alloc_at_once(void *memory, size_t bytes, size_t alignment) {
  if (is_extent(bytes, alignment)) lrd_extent_advise(memory, bytes, true);
}

void lrd_prefault(void *memory, size_t bytes) {
  enum { page = 4096 };
  for (size_t i = 0; i < bytes; i += page) ((volatile char *)memory)[i] = 0;
}

void lrd_free(void *memory, size_t bytes, size_t alignment) {
  if (!memory) return;
  if (is_extent(bytes, alignment)) {
    lrd_extent_unmap(memory, bytes);
    return;
  }
#if defined(LRD_JEMALLOC)
  sdallocx(memory, bytes, MALLOCX_ALIGN(alignment));
#else
  free(memory);
#endif
}

#if defined(__GLIBC__) && !defined(LRD_JEMALLOC)
static void trim(void) {
  malloc_trim(0);
}
#endif

static _Atomic(uint64_t) times_given_back;

uint64_t lrd_alloc_times_given_back(void) {
  return LRD_LOAD(&times_given_back);
}

void lrd_alloc_give_back(void) {
  atomic_fetch_add_explicit(&times_given_back, 1, memory_order_relaxed);
#if defined(LRD_JEMALLOC)
  _Static_assert(MALLCTL_ARENAS_ALL == 4096, "its name below");
  mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
  mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
#elif defined(__GLIBC__)
  // Where the program has another allocator, the first call sets up glibc's own heap, and two
  // threads that do so at the same time crash.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, trim);
  trim();
#elif defined(__APPLE__)
  malloc_zone_pressure_relief(NULL, 0);
#endif
}
