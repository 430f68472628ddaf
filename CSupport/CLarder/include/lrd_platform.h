// SPDX-License-Identifier: Apache-2.0
/* lrd_platform.h — all that differs between systems: fences, parking, huge pages, process-wide
 * hooks.
 *
 * THE ASYMMETRIC FENCE. Two sides write, then read what the other wrote, and one of them must see
 * the other's write. The frequent side (a reader publishing a hazard) runs lrd_fence_light(), a
 * compiler fence only; the rare side (a reclaimer) runs lrd_fence_heavy(), membarrier(2), which
 * puts a full fence into every running thread of the process. Without membarrier (old kernels,
 * seccomp, Apple) both are full fences; `lrd_platform_asymmetric` tells which, and never changes
 * once set. */
#pragma once

#include "lrd_base.h"

#pragma clang assume_nonnull begin

/// True when lrd_fence_heavy() fences every thread, so that lrd_fence_light() may be free.
/// Written by lrd_platform_start() before the first thread registers, constant afterwards.
extern bool lrd_platform_asymmetric;

/// Finds out what the system offers. Runs once, before any other function of this header.
void lrd_platform_start(void);

/// The full fence of systems without membarrier, out of line to keep the hit path free of it.
void lrd_fence_full(void) LRD_COLD LRD_NONBLOCKING;

LRD_INLINE void lrd_fence_light(void) LRD_NONBLOCKING {
  atomic_signal_fence(memory_order_seq_cst);
  if (LRD_UNLIKELY(!lrd_platform_asymmetric))
    lrd_fence_full();
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

/// Fresh zeroed pages, `bytes` long and aligned to 2 MiB, advised as huge; NULL when there are
/// none. Such extents bypass the allocator: it would keep freed ones resident and hand huge-page
/// advice on to strangers.
void *_Nullable lrd_extent_map(size_t bytes);

/// Gives the pages of lrd_extent_map() back to the system at once.
void lrd_extent_unmap(void *address, size_t bytes);

/// Starts a detached thread with all signals blocked; false when the system refuses.
bool lrd_thread_spawn(void (*body)(void));

/// Lets the rest of this time slice to another thread.
void lrd_yield(void);

#pragma clang assume_nonnull end
