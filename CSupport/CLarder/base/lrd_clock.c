// SPDX-License-Identifier: Apache-2.0
#include "lrd_clock.h"

#include "lrd_alloc.h"

static const uint64_t last_moment = (LRD_FOREVER << LRD_TICK_SHIFT) - 1;

lrd_manual_clock *lrd_manual_clock_create(void) {
  lrd_manual_clock *clock = lrd_alloc_zeroed(sizeof *clock, _Alignof(lrd_manual_clock));
  if (clock) lrd_manual_clock_retain(clock);
  return clock;
}

void lrd_manual_clock_retain(lrd_manual_clock *clock) {
  atomic_fetch_add_explicit(&clock->references, 1, memory_order_relaxed);
}

void lrd_manual_clock_release(lrd_manual_clock *clock) {
  // Release and acquire: whoever frees the clock sees all uses of it done.
  if (atomic_fetch_sub_explicit(&clock->references, 1, memory_order_acq_rel) != 1) return;
  lrd_free(clock, sizeof *clock, _Alignof(lrd_manual_clock));
}

void lrd_manual_clock_advance(lrd_manual_clock *clock, uint64_t nanoseconds) {
  uint64_t now = LRD_LOAD(&clock->now), next;
  do {
    next = nanoseconds < last_moment - now ? now + nanoseconds : last_moment;
  } while (!atomic_compare_exchange_weak_explicit(&clock->now, &now, next, memory_order_release,
                                                  memory_order_relaxed));
}

uint64_t lrd_now(lrd_manual_clock *clock) {
  if (clock) return atomic_load_explicit(&clock->now, memory_order_acquire);
  return lrd_moment();
}
