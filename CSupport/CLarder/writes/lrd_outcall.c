// SPDX-License-Identifier: Apache-2.0
#include "lrd_outcall.h"

#include "lrd_platform.h"

enum { closed_bit = 1, one = 2 };

static _Thread_local lrd_outcall *innermost;

bool lrd_outcall_begin(lrd_cache *cache, lrd_outcall *call) {
  uint32_t word = LRD_LOAD(&cache->outcalls);
  do {
    if (word & closed_bit) return false;
    // Acquire, partner: the release in lrd_outcall_end(). A call sees what earlier ones have done.
  } while (!atomic_compare_exchange_weak_explicit(&cache->outcalls, &word, word + one,
                                                  memory_order_acquire, memory_order_relaxed));
  *call = (lrd_outcall){.cache = cache, .outer = innermost};
  innermost = call;
  return true;
}

void lrd_outcall_end(lrd_cache *cache, lrd_outcall *call) {
  innermost = call->outer;
  // Release, partner: the acquire in lrd_outcall_close().
  uint32_t before = atomic_fetch_sub_explicit(&cache->outcalls, one, memory_order_release);
  if (before & closed_bit) lrd_unpark_one(&cache->outcalls);
}

/// The calls of this thread, as the word counts them.
static uint32_t own(const lrd_cache *cache) {
  uint32_t calls = 0;
  for (const lrd_outcall *call = innermost; call; call = call->outer) {
    if (call->cache == cache) calls += one;
  }
  return calls;
}

void lrd_outcall_close(lrd_cache *cache) {
  uint32_t left = own(cache) | closed_bit;
  // Acquire, partner: the release in lrd_outcall_end(). What the calls have done is then seen.
  uint32_t word =
      atomic_fetch_or_explicit(&cache->outcalls, closed_bit, memory_order_acquire) | closed_bit;
  while (word != left) {
    lrd_park(&cache->outcalls, word, 0);
    word = atomic_load_explicit(&cache->outcalls, memory_order_acquire);
  }
}

void lrd_outcall_reset(lrd_cache *cache) {
  LRD_STORE(&cache->outcalls, own(cache) | (LRD_LOAD(&cache->outcalls) & closed_bit));
}
