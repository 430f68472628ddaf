// SPDX-License-Identifier: Apache-2.0
/* lrdt_stepping.h — calls a function after each instruction of another, by the trace flag. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

bool lrdt_stepping_available(void);

/// Runs `work`; after each of its instructions calls `look` with their number so far, from a signal
/// handler, until that returns false. Returns how often it was called. One thread at a time.
uint64_t lrdt_step(void (*work)(void *context), bool (*look)(void *context, uint64_t step),
                   void *context);

/// Runs `work` once, and looks at it in children. After instruction `first`, and after each
/// `stride`-th from there, forks: the child calls `look` from the signal handler, runs `work` to
/// its end without stops, and ends itself with what `judge` says, NULL or what went wrong, as a
/// string constant. In the parent it is as if none of this had happened. So every stop costs a
/// child, and not the way to it.
///
/// Returns the first fault, at which it ends, or NULL. A child that runs for a minute is at fault.
/// `*stops`: the children that there were. The handlers of pthread_atfork() are not called, and no
/// other thread may hold a lock meanwhile, such as the allocator's.
const char *_Nullable lrdt_step_apart(void (*work)(void *context), void (*look)(void *context),
                                      const char *_Nullable (*_Nonnull judge)(void *context),
                                      void *context, uint64_t first, uint64_t stride,
                                      uint64_t *stops);

#pragma clang assume_nonnull end
