// SPDX-License-Identifier: Apache-2.0
/* lrd_outcall.h — calls into the layer above that show it what the core has removed by itself. The
 * background thread shows what has expired; the thread that reports memory pressure shows what was
 * evicted for it.
 *
 *   begin ▶ the layer's code ▶ end        any number of threads
 *   close                                 once, when the cache closes: waits for all of them
 *
 * After lrd_outcall_close() none begins, and none is running but those that the closing thread is
 * inside of: they cannot be waited for. The word `outcalls` of the cache is their number and a bit
 * that says that the cache is closed. Each change of it is one atomic step, so either the call
 * comes first and is waited for, or the end does and the call is not made.
 *
 * The caller of begin and end has a reference to the cache. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// A call that is running, on the stack of the thread that makes it.
typedef struct lrd_outcall {
  const lrd_cache *cache;
  struct lrd_outcall *_Nullable outer;
} lrd_outcall;

/// False when the cache has closed: no call then, and no end.
bool lrd_outcall_begin(lrd_cache *cache, lrd_outcall *call);
void lrd_outcall_end(lrd_cache *cache, lrd_outcall *call);

/// Ends the calls for good.
void lrd_outcall_close(lrd_cache *cache);

/// In the child of fork(): only the calls of this thread are left.
void lrd_outcall_reset(lrd_cache *cache);

#pragma clang assume_nonnull end
