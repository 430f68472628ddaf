// SPDX-License-Identifier: Apache-2.0
/* lrd_watch.h — the one thread that listens to the system, and does later what is due later.
 *
 * The first cache that heeds pressure opens the sources (lrd_sources.h) and starts the thread. It
 * sleeps in poll() on their descriptors and on one for wake-ups. It has no timeout while nothing is
 * due and nothing must be read, so that it does not run at all. Without a descriptor for wake-ups
 * it sleeps on `wakeups`, and no source wakes it. The sources are opened all the same, and those
 * with averages are read.
 *
 * FIELDS, guard: `guard`, a side lock
 *   sources, is_open   written by whoever starts, and by the thread, which alone closes descriptors
 *   wanted          false: the thread is to close the sources
 *   told_before     start() or stop() were called: caches open nothing by themselves
 *   running         the thread was started
 *   bell, bell_rope for wake-ups, see lrd_descriptor.h
 * one that the thread alone reads, and writes in the child of a fork() of its own
 *   reborn          true until it has listed its descriptors anew
 * and an atomic one
 *   wakeups         counts them. Release, pairs with the acquire before the thread looks at what is
 *                   due; it does not sleep on the word if that has changed
 *
 * DESCRIPTORS THAT THE PROGRAM HAS CLOSED, with all that it does not know, are not used any more
 * (lrd_descriptor.h). On Linux poll() keeps the bell: when its rope is closed, poll() returns, and
 * the thread gets another one. If the program closes only the bell, who pulls the rope next closes
 * that as well. Elsewhere the thread may sleep on until what it waits for is due.
 *
 * THE CHILD of fork() closes its copies of the descriptors, and has no thread, unless the thread
 * itself has forked. The next wake-up starts the thread; start() opens the sources, or the next
 * cache that heeds, unless the parent had called start() or stop(). */
#pragma once

#include "lrd_sources.h"

#pragma clang assume_nonnull begin

/// What the thread calls, without a lock: `tick`, which returns when to call it again (0: never),
/// `sense` with the level of the system when it changes or is confirmed, and `heeds`, which is
/// false while no cache wants to know. Then nothing is read once the level is normal, unless start()
/// was called. Once.
void lrd_watch_serve(uint64_t (*tick)(uint64_t now), void (*sense)(int level), bool (*heeds)(void));

/// Opens the sources and starts the thread, unless that was done. `told`: even after
/// lrd_watch_stop(), and tries again what could not be opened or was lost.
void lrd_watch_start(bool told);

/// Has the thread close the sources. It stays, for what caches wait for.
void lrd_watch_stop(void);

/// Has the thread look at what is due. Starts it if it must.
void lrd_watch_wake(void);

/// Copies what is watched, and what could not be, to `sources`. Nothing while it is stopped.
void lrd_watch_describe(lrd_sources *sources);

/// For tests, before anything else: looks for the system's files under `root`, which is less than
/// LRD_PATH_BYTES long, and reads averages only.
void lrd_watch_set_root(const char *root);

#pragma clang assume_nonnull end
