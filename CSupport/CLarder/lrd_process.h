// SPDX-License-Identifier: Apache-2.0
/* lrd_process.h — what exists once per process: the list of all caches, start-up, and fork().
 *
 * fork() copies only the calling thread. Before it, every lock of the core is taken, so that the
 * child gets every structure whole; after it, both sides let go, and the child forgets the other
 * threads' loans. ORDER: maintenance queue → lists of caches and side locks → registry → of each
 * cache: admin, shards by number, pool → side locks. Nothing else ever holds two locks, but
 * lrd_change_empty() (shards by number) and the exit hook of threads (list of caches, then one
 * shard at a time). */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Prepares the process at its first cache. False when hooks cannot be installed.
bool lrd_process_start(void);

void lrd_process_add(lrd_cache *cache);
void lrd_process_remove(lrd_cache *cache);

#pragma clang assume_nonnull end
