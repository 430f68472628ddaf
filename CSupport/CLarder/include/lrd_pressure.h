// SPDX-License-Identifier: Apache-2.0
/* lrd_pressure.h — memory pressure: the level of the process, and how all caches answer to it.
 *
 *   report, warn          the program ─┐
 *   sense                 the watcher ─┴▶ current = the highest ─▶ each cache that heeds ─▶ relief
 *   lrd_watch.h           the thread that listens to the system, and lets caps rise
 *   lrd_level.h           the levels, and which of them counts
 *   lrd_round.h           the walks over all caches
 *
 * The thread that reports a level does the work: it walks over all caches. First it visits those
 * whose response is a number, and then those whose owner must be asked. The watcher leaves asking
 * to a thread of its own, which ends when it is done: a call that does not return keeps nobody but
 * others that must be asked.
 *
 * LOCKS. To evict it only tries the locks of shards (lrd_relief.h). It waits for one
 *   to hand on what it has evicted, when an observer has seen that or a reader holds it
 *   to tell a shard its part of another limit (lrd_cache_enforce())
 *   to shrink tables, destroy what waits, and move entries (lrd_shrink.h, lrd_relief_settle(),
 *   lrd_compact.h), after something was evicted
 * and holds it for a few entries or buckets.
 *
 * Levels may be reported by several threads at once. Each walk brings every cache to the level that
 * is current when the walk comes by. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Sets what the program says. The caches have answered when the call returns.
void lrd_pressure_report(int level);

/// The same, until `nanoseconds` have passed: for news of a level whose end nobody tells.
void lrd_pressure_warn(int level, uint64_t nanoseconds);

/// Sets what the system says. Caches that must be asked answer later.
void lrd_pressure_sense(int level);

/// The highest of the levels.
int lrd_pressure_current(void);

/// The program went to the app's background: caches that want it give up a part. Does nothing if it
/// is there already.
void lrd_pressure_enter_background(void);

/// It is back: the limits are what they were.
void lrd_pressure_enter_foreground(void);

/// Sets a cache's response, unless one of a higher version is in force, and answers to the current
/// level, and to the app's background if the program is there, as a report does. The first that
/// heeds starts the watcher.
void lrd_cache_set_response(lrd_cache *cache, const lrd_response *response);

/// Listens to the system, or does no more. Until one of them is called, the first cache that heeds
/// starts it. A source that could not be opened, or was lost, is tried again by a start.
void lrd_pressure_start(void);
void lrd_pressure_stop(void);

/// Writes a line on source number `index` to `name`: what is watched, and to `problem` why it is
/// not, "" if it is. False behind the last one.
bool lrd_pressure_source(int index, char *name, char *problem, size_t room);

/// For tests, before anything else: looks for the system's files under `root`.
void lrd_pressure_set_root(const char *root);

/// For the watcher: does what is due, and returns when to call again; 0 for never.
uint64_t lrd_pressure_tick(uint64_t now);

/// The time between two steps. Tests shorten it.
void lrd_pressure_set_pause(uint64_t nanoseconds);

#pragma clang assume_nonnull end
