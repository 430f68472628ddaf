// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_platform.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <mach/mach_time.h>
#include <os/clock.h>
#include <os/os_sync_wait_on_address.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool lrd_platform_asymmetric = false;
uint64_t lrd_platform_cycles = 0;

/// The cycles in two milliseconds. Where the speed of the counter is not known, it is at least 1
/// GHz.
static uint64_t count_cycles(void) {
#if defined(__x86_64__)
  enum { invariant = 1 << 8 };
  unsigned a, b, c, d;
  bool known = __get_cpuid(0x80000007, &a, &b, &c, &d);
  return known && (d & invariant) ? 2000000 : 0;
#elif defined(__aarch64__)
  uint64_t frequency;
  __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency / 500;
#else
  return 0;
#endif
}

void lrd_platform_start(void) {
  lrd_platform_cycles = count_cycles();
#if defined(__linux__)
  long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  lrd_platform_asymmetric =
      offered > 0 && (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

void lrd_platform_after_fork(void) {
#if defined(__linux__)
  if (lrd_platform_asymmetric) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  }
#endif
}

void lrd_fence_heavy(void) {
  // The full fence orders the caller itself; membarrier orders every other running thread.
  atomic_thread_fence(memory_order_seq_cst);
#if defined(__linux__)
  if (lrd_platform_asymmetric &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
    // Readers rely on this call once it is registered. To go on would free what they read.
    lrd_fail("membarrier, once registered, does not fail", __FILE__, __LINE__);
  }
#endif
}

void lrd_park(_Atomic(uint32_t) *word, uint32_t expected, uint64_t nanoseconds) {
#if defined(__linux__)
  struct timespec bound = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                           .tv_nsec = (long)(nanoseconds % 1000000000u)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nanoseconds ? &bound : NULL, NULL, 0);
#elif defined(__APPLE__)
  if (nanoseconds) {
    os_sync_wait_on_address_with_timeout(word, expected, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_NONE,
                                         OS_CLOCK_MACH_ABSOLUTE_TIME, nanoseconds);
  } else {
    os_sync_wait_on_address(word, expected, sizeof *word, OS_SYNC_WAIT_ON_ADDRESS_NONE);
  }
#endif
}

void lrd_sleep(uint64_t nanoseconds) {
  static _Atomic(uint32_t) never;
  lrd_park(&never, 0, nanoseconds);
}

uint64_t lrd_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t lrd_moment(void) {
#if defined(__linux__)
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#elif defined(__APPLE__)
  mach_timebase_info_data_t base;
  mach_timebase_info(&base);
  return (uint64_t)((unsigned __int128)mach_continuous_time() * base.numer / base.denom);
#else
  return lrd_clock();
#endif
}

// Waking hands a sleeper to the scheduler and returns: it may enter the kernel, but never waits.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
void lrd_unpark_one(_Atomic(uint32_t) *word) LRD_NONBLOCKING {
#if defined(__linux__)
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
#elif defined(__APPLE__)
  os_sync_wake_by_address_any(word, sizeof *word, OS_SYNC_WAKE_BY_ADDRESS_NONE);
#endif
}
#pragma clang diagnostic pop

static const size_t huge_page = (size_t)2 << 20;

/// The bytes to map for an extent. It ends in a whole huge page if that wastes at most a 16th, and
/// in small pages otherwise: a huge page is resident as a whole.
static size_t mapped_bytes(size_t bytes) {
  size_t huge = lrd_round_up(bytes, huge_page);
  return huge - bytes <= bytes / 16 ? huge : lrd_round_up(bytes, LRD_SYSTEM_PAGE);
}

static void *map(size_t length) {
  void *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  return start == MAP_FAILED ? NULL : start;
}

void *lrd_extent_map(size_t bytes) {
  size_t length = mapped_bytes(bytes);
  if (length < bytes || length + huge_page < length) return NULL;
  if (length < huge_page) return map(length);
  char *start = map(length + huge_page);
  if (!start) return NULL;
  char *aligned = (char *)lrd_round_up((uintptr_t)start, huge_page);
  if (aligned != start) munmap(start, (size_t)(aligned - start));
  size_t behind = (size_t)(start + length + huge_page - (aligned + length));
  if (behind) munmap(aligned + length, behind);
  lrd_extent_advise(aligned, length, true);
  return aligned;
}

void lrd_extent_unmap(void *address, size_t bytes) {
  munmap(address, mapped_bytes(bytes));
}

void lrd_extent_advise(void *address, size_t bytes, bool huge) {
#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
  madvise(address, mapped_bytes(bytes), huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
  (void)address;
  (void)bytes;
  (void)huge;
#endif
}

void lrd_extent_release(void *address, size_t bytes) {
#if defined(__APPLE__)
  madvise(address, bytes, MADV_FREE);
#else
  madvise(address, bytes, MADV_DONTNEED);
#endif
}

static void *run_body(void *body) {
  ((void (*)(void))body)();
  return NULL;
}

/// pthread_create() with a stack of that size, or as large as those of the program's threads if
/// they are larger, or of the system's choice: as far as there is room.
static bool create_thread(pthread_t *thread, void (*body)(void)) {
  static const size_t least = (size_t)8 << 20;
  pthread_attr_t attributes;
  size_t bytes;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    bool large = pthread_attr_getstacksize(&attributes, &bytes) == 0 && bytes > least;
    started = large && pthread_create(thread, &attributes, run_body, (void *)body) == 0;
    started = started || (pthread_attr_setstacksize(&attributes, least) == 0 &&
                          pthread_create(thread, &attributes, run_body, (void *)body) == 0);
    pthread_attr_destroy(&attributes);
  }
  return started || pthread_create(thread, NULL, run_body, (void *)body) == 0;
}

bool lrd_thread_spawn(void (*body)(void)) {
  static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  bool started = create_thread(&thread, body);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started) pthread_detach(thread);
  return started;
}

void lrd_yield(void) {
  sched_yield();
}

uint32_t lrd_processors(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 && (unsigned long)online < UINT32_MAX ? (uint32_t)online : 1;
}
