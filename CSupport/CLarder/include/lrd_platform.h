// SPDX-License-Identifier: Apache-2.0
/* lrd_platform.h — everything that differs between systems: fences, parking, huge pages, threads.
 *
 * THE ASYMMETRIC FENCE. Two sides each write and then read what the other side wrote. At least one
 * of them must see the other's write.
 *   The frequent side is a reader that publishes a hazard. It runs lrd_fence_light(), which only
 *   stops the compiler.
 *   The rare side is a thread about to scan. It runs lrd_fence_heavy(): membarrier(2) puts a full
 *   fence into every running thread of the process.
 * Without membarrier both are full fences. Systems other than Linux never have it, and Linux may
 * lack it at run time (old kernels, seccomp): `lrd_platform_asymmetric` tells. lrd_fence_light()
 * asks. The inlined hit path does not (lrd_fence_hit()): on Linux it is entered only where that is
 * true (lrd_lane_attach()), and on other systems its fence is a full one. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// True when lrd_fence_heavy() fences every thread, so that the light fence costs nothing. False on
/// systems other than Linux. Written by lrd_platform_start() before the first thread registers,
/// constant afterwards.
extern bool lrd_platform_asymmetric;

/// Finds out what the system offers. Runs once, before any other function of this header.
void lrd_platform_start(void);

/// In the child of fork(): registers for membarrier again if it was in use.
void lrd_platform_after_fork(void);

/// The frequent side, in code that runs with and without membarrier.
LRD_INLINE void lrd_fence_light(void) LRD_NONBLOCKING {
  if (LRD_LIKELY(lrd_platform_asymmetric)) {
    atomic_signal_fence(memory_order_seq_cst);
  } else {
    atomic_thread_fence(memory_order_seq_cst);
  }
}

/// The frequent side on the hit path: a light fence on Linux, a full one on all other systems.
LRD_INLINE void lrd_fence_hit(void) LRD_NONBLOCKING {
#if defined(__linux__)
  atomic_signal_fence(memory_order_seq_cst);
#else
  atomic_thread_fence(memory_order_seq_cst);
#endif
}

/// The rare side of the asymmetric fence: 0.2 to 7 us with membarrier.
void lrd_fence_heavy(void);

/// Tells the processor that this is a waiting loop.
LRD_INLINE void lrd_pause(void) LRD_NONBLOCKING {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Sleeps while `*word == expected`, at most `nanoseconds` (0: no bound). May return early.
void lrd_park(_Atomic(uint32_t) *word, uint32_t expected, uint64_t nanoseconds);

/// Sleeps for `nanoseconds`, which are not 0. May return early.
void lrd_sleep(uint64_t nanoseconds);

/// Sleeps for 0.2 ms: before another try to get what another thread has.
static inline void lrd_nap(void) {
  lrd_sleep(200000);
}

/// A monotonic clock, in nanoseconds. It may stand still while the machine sleeps.
uint64_t lrd_clock(void);

/// A monotonic clock that goes on while the machine sleeps, in nanoseconds.
uint64_t lrd_moment(void);

/// The cycles of lrd_cycles() in about two milliseconds; 0 where there is no counter that runs at
/// the same speed in every state of the processor. Like `lrd_platform_asymmetric`, constant.
extern uint64_t lrd_platform_cycles;

/// A counter of the processor. Threads may read it a few cycles apart, and it may start again after
/// the machine has slept.
LRD_INLINE uint64_t lrd_cycles(void) LRD_NONBLOCKING {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t cycles;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycles));
  return cycles;
#else
  return 0;
#endif
}

/// Wakes one thread that sleeps on `word`. Never waits.
void lrd_unpark_one(_Atomic(uint32_t) *word) LRD_NONBLOCKING;

/// Maps `bytes` of zeroed memory; NULL when there is none. From 2 MiB on it is aligned to that, and
/// the system is advised to use huge pages. The allocator is bypassed: it would keep freed extents
/// resident and give memory with that advice to other callers.
void *_Nullable lrd_extent_map(size_t bytes);

/// Returns the memory of lrd_extent_map() to the system at once.
void lrd_extent_unmap(void *address, size_t bytes);

/// The largest page size of the systems this is built for. Mappings are multiples of it.
#if defined(__x86_64__)
#define LRD_SYSTEM_PAGE ((size_t)4 << 10)
#else
#define LRD_SYSTEM_PAGE ((size_t)64 << 10)
#endif

/// Advises the system to use huge pages in an extent, as at first, or not to. Who writes to a huge
/// page first waits for all of it, and what is released would come back with it.
void lrd_extent_advise(void *address, size_t bytes, bool huge);

/// Returns the memory of whole system pages of such an extent. They stay mapped, and read as zeroes
/// or as what they were.
void lrd_extent_release(void *address, size_t bytes);

/// Starts a detached thread, false when the system refuses. It gets no signals but those that it
/// raises itself: whoever reports crashes must see them. Destructors of the program run there,
/// which may call each other as deep as on any other thread. So its stack has at least 8 MiB, like
/// that of most main threads; what is not touched takes no memory, unless the program locks it.
bool lrd_thread_spawn(void (*body)(void));

/// Gives the rest of this time slice to another thread.
void lrd_yield(void);

/// The number of processors online, at least 1.
uint32_t lrd_processors(void);

#pragma clang assume_nonnull end
