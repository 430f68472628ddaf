// SPDX-License-Identifier: Apache-2.0
/* lrd_watch.h — the thread that lets caps rise again when pressure is over.
 *
 * It is started when the first pressure is reported, and sleeps without a timeout while nothing is
 * due.
 *
 * FIELDS
 *   running   guard: `guard`, a leaf that fork() takes
 *   wakeups   counts them; the thread sleeps on it. Release, pairs with the acquire before it looks
 *             at what is due
 *
 * THE CHILD of fork() has no thread. The next wake-up starts it again. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

/// Sets what the thread calls; it returns when to call it again, 0 for never. Once.
void lrd_watch_serve(uint64_t (*tick)(uint64_t now));

/// Has the thread look at what is due. Starts it if it must.
void lrd_watch_wake(void);

#pragma clang assume_nonnull end
