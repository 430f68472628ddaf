// SPDX-License-Identifier: Apache-2.0
/* lrd_maintenance.h — the process's one background thread, which never waits for a shard.
 *
 * Started by the first request, parked while its queue is empty. It looks after caches that left
 * something undone: retired entries no writer came by to destroy, tables half moved or far too
 * large; and it makes ahead what a growing cache will want, the next page of entries and the
 * successor of a large table. Shard locks are only ever tried; a busy one is marked, so that its
 * holder asks again on leaving (lrd_lock.h), and visited again in any case. What writers turn over
 * themselves is not touched: garbage in busy shards, tables that grow while insertions move them.
 * (Where a value's destruction here has used a cache, that use took locks as any does, and its hits
 * are noted as those of any ending thread.) While readers hold on to entries it comes back ever
 * more rarely, at least every tenth of a second, unless writers are busy in other shards.
 *
 * LOCKING: the queue's lock is a leaf; no shard's lock is held when it is taken. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// lrd_maintenance_request() for a cache that is perhaps not in the queue.
void lrd_maintenance_queue(lrd_cache *cache);

/// Puts the cache into the queue, unless it is there; asks for another visit during one. Needs no
/// lock held.
static inline void lrd_maintenance_request(lrd_cache *cache) {
  if (!lrd_cache_is_queued(cache)) lrd_maintenance_queue(cache);
}

/// True while the thread could not be started: what is left to it then stays undone. Relaxed, a
/// hint; written by whoever tried last.
extern _Atomic(bool) lrd_maintenance_missing;

static inline bool lrd_maintenance_is_missing(void) {
  return atomic_load_explicit(&lrd_maintenance_missing, memory_order_relaxed);
}

/// Around fork(): the child starts without the thread and with an empty queue.
void lrd_maintenance_before_fork(void);
void lrd_maintenance_after_fork_parent(void);
void lrd_maintenance_after_fork_child(void);

#pragma clang assume_nonnull end
