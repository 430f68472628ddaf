// SPDX-License-Identifier: Apache-2.0
/* lrd_base.h — what every other header uses: annotations, checks, small arithmetic.
 *
 * LRD_NONBLOCKING marks the functions of the hit path. clang refuses to compile such a function if
 * it allocates, takes a lock or calls a function without the mark (-Wfunction-effects, an error
 * here). LRD_CAPABILITY and its companions state which lock a function needs, takes or frees
 * (-Wthread-safety, an error here). Other compilers see nothing of these. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define LRD_CLANG(...) __attribute__((__VA_ARGS__))
#define LRD_ASSUME(condition) __builtin_assume(condition)
#else
#define LRD_CLANG(...)
#define LRD_ASSUME(condition) ((condition) ? (void)0 : __builtin_unreachable())
#define _Nullable
#define _Nonnull
#endif

#if __has_attribute(nonblocking)
#define LRD_NONBLOCKING __attribute__((nonblocking))
#else
#define LRD_NONBLOCKING
#endif
#define LRD_CAPABILITY(name) LRD_CLANG(capability(name))
#define LRD_REQUIRES(...) LRD_CLANG(requires_capability(__VA_ARGS__))
#define LRD_ACQUIRE(...) LRD_CLANG(acquire_capability(__VA_ARGS__))
#define LRD_RELEASE(...) LRD_CLANG(release_capability(__VA_ARGS__))
#define LRD_TRY_ACQUIRE(...) LRD_CLANG(try_acquire_capability(__VA_ARGS__))
#define LRD_EXCLUDES(...) LRD_CLANG(locks_excluded(__VA_ARGS__))
#define LRD_UNCHECKED_LOCKS LRD_CLANG(no_thread_safety_analysis)

/// Thread-local storage that is laid out when the thread starts: reading it neither allocates nor
/// locks.
#if defined(__ELF__)
#define LRD_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define LRD_INITIAL_EXEC
#endif

#define LRD_INLINE static inline __attribute__((always_inline))
#define LRD_COLD __attribute__((noinline, cold))
/// Hints for branches. Clang compiles for size what it reaches with less than one chance in a
/// hundred. If that is the one return of a function, it is the whole function. So these say 1.5.
#define LRD_LIKELY(x) __builtin_expect_with_probability(!!(x), 1, 0.985)
#define LRD_UNLIKELY(x) __builtin_expect_with_probability(!!(x), 0, 0.985)
/// Keeps a pointer or a number in one register: otherwise compilers add up its parts at each use.
#define LRD_KEEP(value) __asm__("" : "+r"(value))
#define LRD_PREFETCH(address) __builtin_prefetch((address), 0, 3)

/// Relaxed atomics, which order nothing else. All other orders are written out at their operations.
#define LRD_LOAD(address) atomic_load_explicit((address), memory_order_relaxed)
#define LRD_STORE(address, value) atomic_store_explicit((address), (value), memory_order_relaxed)

/// The distance at which two threads' data share no line, even if lines are prefetched in pairs.
#define LRD_LINE_PAIR 128

/// A promise that this library makes to itself. Debug builds stop when it is broken.
#if defined(NDEBUG) || !defined(LRD_DEBUG)
#define LRD_ASSERT(condition) ((void)0)
#else
#define LRD_ASSERT(condition) ((condition) ? (void)0 : lrd_fail(#condition, __FILE__, __LINE__))
#endif

/// An invariant that a check for tests looks at. Every build stops when it is broken.
#define LRD_CHECK(condition) ((condition) ? (void)0 : lrd_fail(#condition, __FILE__, __LINE__))

/// Prints the condition that was broken and stops the process.
_Noreturn void lrd_fail(const char *_Nonnull condition, const char *_Nonnull file, int line);

LRD_INLINE uint64_t lrd_least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

LRD_INLINE uint64_t lrd_most(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

LRD_INLINE size_t lrd_round_up(size_t size, size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}
