// SPDX-License-Identifier: Apache-2.0
/* lrd_clock.h — the time that deadlines are compared with: that of the system, or one that a test
 * moves by hand.
 *
 * A tick is 2^12 ns, some four microseconds. The system's clock never jumps and goes on while the
 * machine sleeps. No clock gets as far as LRD_FOREVER, 146 years: it stops short of it.
 *
 * A manual clock only moves forward. `now`: release to advance, acquire to read, so that a thread
 * that sees the new time sees what was written before the clock was moved. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

/// A lifetime without an end, in nanoseconds.
#define LRD_NEVER UINT64_MAX
/// Deadlines from this tick on never come.
#define LRD_FOREVER ((uint64_t)1 << 50)
#define LRD_TICK_SHIFT 12
/// Two milliseconds, in ticks: the time that a lane keeps is at most so late.
#define LRD_LATE ((uint64_t)2000000 / (1 << LRD_TICK_SHIFT) + 1)

typedef struct lrd_manual_clock {
  _Atomic(uint64_t) now; // in nanoseconds, below LRD_FOREVER ticks
  _Atomic(uint32_t) references;
} lrd_manual_clock;

/// A clock at 0, with one reference; NULL without memory.
lrd_manual_clock *_Nullable lrd_manual_clock_create(void);
void lrd_manual_clock_retain(lrd_manual_clock *clock);
void lrd_manual_clock_release(lrd_manual_clock *clock);

/// Moves the clock forward. It stops at the end of its range.
void lrd_manual_clock_advance(lrd_manual_clock *clock, uint64_t nanoseconds);

/// The time in nanoseconds, of the system if `clock` is NULL.
uint64_t lrd_now(lrd_manual_clock *_Nullable clock);

/// The tick at a time, below LRD_FOREVER.
static inline uint64_t lrd_tick_at(uint64_t nanoseconds) {
  uint64_t tick = nanoseconds >> LRD_TICK_SHIFT;
  return tick < LRD_FOREVER ? tick : LRD_FOREVER - 1;
}

#pragma clang assume_nonnull end
