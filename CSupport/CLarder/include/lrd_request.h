// SPDX-License-Identifier: Apache-2.0
/* lrd_request.h — asks the process's background thread to visit something: a cache.
 *
 *             lrd_request_visit()        lrd_request_begin()
 *   idle ──────────────────────▶ QUEUED ────────────────────▶ VISITED ──▶ idle
 *                                  ▲                             │
 *                                  └── asked again, or not done ─┘
 *
 * Anybody may ask, who holds no lock. The thread is started by the first request and sleeps while
 * the queue is empty. This file knows the queue and the thread, not what a visit does: whoever
 * starts the process hands down the thread's body and what gives up a reference.
 *
 * NO REQUEST IS LOST. `state` changes by one atomic step at a time. The thread clears QUEUED before
 * it looks at anything, so whoever asks later finds QUEUED clear, sets it, and is visited again.
 *
 * FIELDS
 *   state        acq_rel: the visit sees what was written before the request
 *   references   one for the owner, one while `state` is not idle; the last one out frees (acq_rel)
 *   next         guard: the queue's lock; then the thread that took the queue
 *
 * LOCKING: the queue's lock is a leaf, and no shard's lock is held when it is taken. */
#pragma once

#include "lrd_lock.h"

#pragma clang assume_nonnull begin

/// Bits of `state`: a visit was asked for, and one is under way.
enum { LRD_REQUEST_QUEUED = 1, LRD_REQUEST_VISITED = 2 };

typedef struct lrd_request {
  _Atomic(uint32_t) state;
  _Atomic(uint32_t) references;
  struct lrd_request *_Nullable next;
} lrd_request;

/// Names the thread's body and what gives up a reference to a request's owner. Once, before the
/// first request.
void lrd_request_serve(void (*run)(void), void (*release)(lrd_request *request));

/// lrd_request_visit() for a request that is perhaps not in the queue.
void lrd_request_queue(lrd_request *request);

/// True when a visit is still to begin. Relaxed: had that visit been in a shard before the caller
/// last held the shard's lock, the caller would see that it has begun. So it will find what the
/// caller has left there.
static inline bool lrd_request_is_queued(lrd_request *request) {
  return atomic_load_explicit(&request->state, memory_order_relaxed) & LRD_REQUEST_QUEUED;
}

/// Asks for a visit; during one, for another. Needs no lock held.
static inline void lrd_request_visit(lrd_request *request) {
  if (!lrd_request_is_queued(request)) lrd_request_queue(request);
}

/// Everything that was asked for, chained by `next`. Without any it sleeps until something is, and
/// returns NULL. For the thread.
lrd_request *_Nullable lrd_request_take_all(void);

/// Begins the visit of one request that was taken.
void lrd_request_begin(lrd_request *request);

/// Ends it. A request that is not `done`, or was asked for meanwhile, goes back into the queue.
void lrd_request_end(lrd_request *request, bool done);

/// True while the thread could not be started: what is left to it then stays undone. Relaxed, a
/// hint; written by whoever tried last.
extern _Atomic(bool) lrd_request_unheard;

static inline bool lrd_request_is_unheard(void) {
  return atomic_load_explicit(&lrd_request_unheard, memory_order_relaxed);
}

/// Around fork(): the child starts without the thread and with an empty queue.
void lrd_request_before_fork(void);
void lrd_request_after_fork_parent(void);
void lrd_request_after_fork_child(void);

#pragma clang assume_nonnull end
