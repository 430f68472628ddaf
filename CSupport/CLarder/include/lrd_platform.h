// SPDX-License-Identifier: Apache-2.0
/* lrd_platform.h — all that differs between systems: fences, parking, huge pages, process-wide
 * hooks.
 *
 * THE ASYMMETRIC FENCE. Two sides write, then read what the other wrote, and one of them must see
 * the other's write. The frequent side (a reader publishing a hazard) runs lrd_fence_light(), a
 * compiler fence only; the rare side (a reclaimer) runs lrd_fence_heavy(), membarrier(2), which
 * puts a full fence into every running thread of the process. Where membarrier is missing both are
 * full fences: everywhere but on Linux by compilation, on Linux (old kernels, seccomp) at run time,
 * as `lrd_platform_asymmetric` tells. lrd_fence_light() asks it; the inlined hit path does not, and
 * is entered only where it is true (lrd_lane_current()). */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// True when lrd_fence_heavy() fences every thread, so that the light fence may be free. Elsewhere
/// than on Linux it is false and the hit path has full fences. Written by lrd_platform_start()
/// before the first thread registers, constant afterwards.
extern bool lrd_platform_asymmetric;

/// Finds out what the system offers. Runs once, before any other function of this header.
void lrd_platform_start(void);

/// In the child of fork(): readies membarrier again where it was in use.
void lrd_platform_after_fork(void);

/// The frequent side, for code that runs whether or not there is membarrier.
LRD_INLINE void lrd_fence_light(void) LRD_NONBLOCKING {
  if (LRD_LIKELY(lrd_platform_asymmetric)) {
    atomic_signal_fence(memory_order_seq_cst);
  } else {
    atomic_thread_fence(memory_order_seq_cst);
  }
}

/// The frequent side, where lrd_platform_asymmetric is known to hold or the system has no
/// membarrier.
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

/// Wakes one sleeper of `word`. Never waits itself.
void lrd_unpark_one(_Atomic(uint32_t) *word) LRD_NONBLOCKING;

/// Fresh zeroed pages, `bytes` long, aligned to 2 MiB and advised as huge where they fill as much;
/// NULL when there are none. Such extents bypass the allocator: it would keep freed ones resident
/// and hand huge-page advice on to strangers.
void *_Nullable lrd_extent_map(size_t bytes);

/// Gives the pages of lrd_extent_map() back to the system at once.
void lrd_extent_unmap(void *address, size_t bytes);

/// Starts a detached thread with all signals blocked; false when the system refuses.
bool lrd_thread_spawn(void (*body)(void));

/// Lets the rest of this time slice to another thread.
void lrd_yield(void);

/// Processors the system has online, at least 1.
uint32_t lrd_processors(void);

#pragma clang assume_nonnull end
