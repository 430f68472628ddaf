// SPDX-License-Identifier: Apache-2.0
/* lrd_base.h — the words every other header is written in: annotations, checks, small arithmetic.
 *
 * LRD_NONBLOCKING marks the functions of the hit path. clang refuses to compile such a function
 * when it allocates, takes a lock or calls anything not so marked (-Wfunction-effects, an error
 * here). LRD_CAPABILITY and its companions state which lock a function needs, takes or frees
 * (-Wthread-safety, an error here). Compilers without the attributes see nothing. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(nonblocking)
#define LRD_NONBLOCKING __attribute__((nonblocking))
#endif
#define LRD_CAPABILITY(name) __attribute__((capability(name)))
#define LRD_REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define LRD_ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define LRD_RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define LRD_TRY_ACQUIRE(...) __attribute__((try_acquire_capability(__VA_ARGS__)))
#define LRD_EXCLUDES(...) __attribute__((locks_excluded(__VA_ARGS__)))
#define LRD_UNCHECKED_LOCKS __attribute__((no_thread_safety_analysis))
#else
#define LRD_CAPABILITY(name)
#define LRD_REQUIRES(...)
#define LRD_ACQUIRE(...)
#define LRD_RELEASE(...)
#define LRD_TRY_ACQUIRE(...)
#define LRD_EXCLUDES(...)
#define LRD_UNCHECKED_LOCKS
#endif
#ifndef LRD_NONBLOCKING
#define LRD_NONBLOCKING
#endif

#if defined(__clang__)
#define LRD_ASSUME(condition) __builtin_assume(condition)
#else
#define LRD_ASSUME(condition) ((condition) ? (void)0 : __builtin_unreachable())
#define _Nullable
#define _Nonnull
#endif

#define LRD_INLINE static inline __attribute__((always_inline))
#define LRD_COLD __attribute__((noinline, cold))
#define LRD_LIKELY(x) __builtin_expect(!!(x), 1)
#define LRD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LRD_PREFETCH(address) __builtin_prefetch((address), 0, 3)

/// The distance that keeps two threads' data from sharing a line, adjacent-line prefetch included.
#define LRD_LINE_PAIR 128

/// A broken promise of this library: stops the process in debug builds, with the broken line.
#if defined(NDEBUG) || !defined(LRD_DEBUG)
#define LRD_ASSERT(condition) ((void)0)
#else
#define LRD_ASSERT(condition) ((condition) ? (void)0 : lrd_fail(#condition, __FILE__, __LINE__))
#endif

/// A broken invariant, found by a check that tests run: stops the process in every build.
#define LRD_CHECK(condition) ((condition) ? (void)0 : lrd_fail(#condition, __FILE__, __LINE__))

/// Prints the broken condition and stops the process.
_Noreturn void lrd_fail(const char *_Nonnull condition, const char *_Nonnull file, int line);

LRD_INLINE size_t lrd_round_up(size_t size, size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}
