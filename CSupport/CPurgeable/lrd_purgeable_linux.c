// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__)

#include "CPurgeable.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_FREE
#define MADV_FREE 8
#endif

/// The mark of a page that holds zeros only.
#define ALL_ZERO UINT16_MAX

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/// The words of the page at `offset`. Atomic: the kernel may put zeros there at any moment.
static _Atomic(uint64_t) *page_words(const lrd_purgeable *memory, size_t offset) {
  return (_Atomic(uint64_t) *)((char *)memory->bytes + offset);
}

bool lrd_purgeable_create(lrd_purgeable *memory, size_t bytes) {
  *memory = (lrd_purgeable){0};
  if (!bytes) return true;
  size_t page = page_bytes();
  if (bytes > SIZE_MAX - page) return false;
  size_t length = (bytes + page - 1) / page * page;
  void *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return false;
  // Room for the marks from the beginning, so that offering needs no memory.
  uint16_t *marks = malloc(length / page * sizeof *marks);
  if (!marks) {
    munmap(pages, length);
    return false;
  }
  *memory = (lrd_purgeable){.bytes = pages, .length = length, .marks = marks};
  return true;
}

void lrd_purgeable_destroy(lrd_purgeable *memory) {
  if (memory->length) munmap(memory->bytes, memory->length);
  free(memory->marks);
  *memory = (lrd_purgeable){0};
}

static uint16_t mark_of(const _Atomic(uint64_t) *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (atomic_load_explicit(&words[i], memory_order_relaxed)) return (uint16_t)i;
  }
  return ALL_ZERO;
}

void lrd_purgeable_offer(lrd_purgeable *memory) {
  size_t page = page_bytes();
  for (size_t offset = 0; offset < memory->length; offset += page) {
    memory->marks[offset / page] = mark_of(page_words(memory, offset), page / sizeof(uint64_t));
  }
  // A refusal is as good as memory that the kernel never needs.
  if (memory->length) madvise(memory->bytes, memory->length, MADV_FREE);
}

bool lrd_purgeable_reclaim(lrd_purgeable *memory) {
  size_t page = page_bytes();
  for (size_t offset = 0; offset < memory->length; offset += page) {
    uint16_t mark = memory->marks[offset / page];
    if (mark == ALL_ZERO) continue;
    // One indivisible step reads the word and makes the page dirty: either the page was taken
    // before it, and the word is zero, or the page can no longer be taken. An exchange, since
    // compilers may turn an operation that changes nothing into a plain read.
    _Atomic(uint64_t) *word = &page_words(memory, offset)[mark];
    uint64_t found = atomic_exchange_explicit(word, 0, memory_order_relaxed);
    if (!found) return false;
    atomic_store_explicit(word, found, memory_order_relaxed);
  }
  return true;
}

bool lrd_purgeable_is_intact(lrd_purgeable *memory) {
  size_t page = page_bytes();
  for (size_t offset = 0; offset < memory->length; offset += page) {
    uint16_t mark = memory->marks[offset / page];
    if (mark == ALL_ZERO) continue;
    if (!atomic_load_explicit(&page_words(memory, offset)[mark], memory_order_relaxed))
      return false;
  }
  return true;
}

#endif
