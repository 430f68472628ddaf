// SPDX-License-Identifier: Apache-2.0
/* lrdt_compact.h — compaction with a thread that stops, or one that finds a lock busy. */
#pragma once

#include "CLarder.h"

#pragma clang assume_nonnull begin

/// Lets a thread be stopped that destroys entries of a new cache; one cache at a time.
void lrdt_destruction_watch(lrd_cache *cache);
/// The calling thread stops before it destroys the next entry, until it is let go.
void lrdt_destruction_stop(void);
bool lrdt_destruction_is_stopped(void);
void lrdt_destruction_let_go(void);

/// The entries in vacated pages that no pass has moved, and the slots that threads have in their
/// hands. Pages that were given back in part do not count.
int64_t lrdt_pass_left(lrd_cache *cache);

/// Calls lrd_pass_close(), as the background thread does after its last pass.
void lrdt_pass_close(lrd_cache *cache);

/// Begins a pass over a sparse cache of one shard, as the background thread does, and finds the
/// lock busy. False if nothing is to be moved any more.
bool lrdt_pass_begin_busy(lrd_cache *cache);
/// A pass as the child of fork() finds it if its thread was about to end it: all is moved, and
/// nothing was scanned. The background thread must have nothing to do.
void lrdt_pass_lose(lrd_cache *cache);
/// Vacated pages as a child finds them if their thread looked through all of them.
void lrdt_hollow_lose(lrd_cache *cache);
/// The pages that a thread looks through.
uint32_t lrdt_hollow_kept(lrd_cache *cache);
/// Another pass, to its end. Returns how many entries it has moved. `stale`: where the pages lie
/// that it has listed, there were pages of single slots before.
uint32_t lrdt_pass_go_on(lrd_cache *cache, bool stale);

#pragma clang assume_nonnull end
