/* SPDX-License-Identifier: Apache-2.0
 * CBench.h — what a benchmark needs of the machine and Swift does not offer: a tick counter cheap
 * enough to time one cache operation, and a sink the optimiser cannot see through.
 *
 * TICKS
 *   lb_ticks_begin() and lb_ticks_end() bracket one operation. Each keeps the operation on its own
 *   side: without the fences an out-of-order core reads the counter while earlier work is pending.
 *   Ticks are constant-rate, not core cycles; the caller calibrates them against the clock. */
#ifndef LB_CBENCH_H
#define LB_CBENCH_H

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/// Nanoseconds of `clock`. CLOCK_THREAD_CPUTIME_ID leaves out the time of other processes.
static inline uint64_t lb_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t lb_ticks_begin(void) {
#if defined(__x86_64__)
  _mm_lfence();
  uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
  return ticks;
#else
  return lb_clock_ns(CLOCK_MONOTONIC);
#endif
}

static inline uint64_t lb_ticks_end(void) {
#if defined(__x86_64__)
  unsigned int processor;
  uint64_t ticks = __rdtscp(&processor);
  _mm_lfence();
  return ticks;
#else
  return lb_ticks_begin();
#endif
}

/// Uses `value` in a way that the optimiser cannot remove. One call for each loop, not operation.
void lb_consume(uint64_t value);

/// Bytes of memory that this process holds and no file backs, or 0 if the kernel does not tell.
uint64_t lb_anonymous_bytes(void);

/// Bytes the program has allocated, by the allocator's own count: jemalloc's if it is linked,
/// otherwise glibc's. 0 if there is neither.
uint64_t lb_allocated_bytes(void);

/// The version of the jemalloc in this process, or NULL.
const char *lb_jemalloc_version(void);

#endif
