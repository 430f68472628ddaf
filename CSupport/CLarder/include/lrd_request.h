// SPDX-License-Identifier: Apache-2.0
/* lrd_request.h — asks the background thread of the process to visit a cache.
 *
 *   state              what happens                          next state        where it is kept
 *   idle               somebody asks                         QUEUED            the queue
 *   QUEUED             the thread takes it and begins        VISITED           nowhere
 *                      the thread cannot be started          idle              nowhere
 *   VISITED            somebody asks                         VISITED, QUEUED   nowhere
 *                      the visit ends with DONE              idle              nowhere
 *                      with LATER, or DONE and a time        WAITING           those that wait
 *                      with SOON                             QUEUED            the queue
 *                      with BUSY                             QUEUED            those that wait
 *   VISITED, QUEUED    the visit ends                        QUEUED            as after SOON, BUSY
 *   WAITING            its pause is over, and it begins      VISITED           nowhere
 *                      somebody asks                         WAITING, QUEUED   those that wait
 *   WAITING, QUEUED    the thread looks over them            VISITED           nowhere
 *
 * After BUSY the request is QUEUED, so asking for it wakes nobody. It is taken when its rest is
 * over.
 *
 * Any thread that holds no lock may ask. The first request starts the background thread, which
 * sleeps while the queue is empty. This file has the queue and the thread, and nothing of a visit:
 * lrd_request_serve() is given the thread's body and a function that gives up a reference.
 *
 * NO REQUEST IS LOST. `state` changes in single atomic steps. The background thread clears QUEUED
 * before it looks at anything. A thread that asks later finds QUEUED clear, sets it, and gets
 * another visit. If the request was WAITING, it then raises `asked`, on which the thread sleeps:
 * the thread either sees the bit when it looks over those that wait, or does not fall asleep.
 *
 * EACH REQUEST HAS ITS OWN PAUSE, which grows while its visits end with LATER. A cache with a
 * reader that sleeps thus keeps no other one waiting, nor itself when it is asked for memory. Only
 * the rest after BUSY, a few milliseconds, ends no sooner when somebody asks.
 *
 * FIELDS
 *   state        acq_rel: the visit sees everything written before the request
 *   references   one for the owner, one while `state` is not idle, and one for each lrd_hold
 *                (lrd_process.h); whoever gives up the last one frees the owner (acq_rel)
 *   next         guard: the queue's lock; then the thread that took the queue
 *   pause, due   the pause after the last visit, and when it ends; background thread only
 *   rests        it is taken at `due` and no sooner, even if somebody asks; background thread only
 *
 * LOCKING: the queue's lock is a leaf, and no shard's lock is held when it is taken. */
#pragma once

#include "lrd_lock.h"

#pragma clang assume_nonnull begin

/// Bits of `state`: a visit was asked for; a visit is under way; the next one may wait a while.
enum { LRD_REQUEST_QUEUED = 1, LRD_REQUEST_VISITED = 2, LRD_REQUEST_WAITING = 4 };

/// What a visit has come to. What comes sooner is greater.
typedef enum lrd_progress {
  LRD_DONE,  // nothing is left to do
  LRD_LATER, // visit again after a pause, or when somebody asks
  LRD_BUSY,  // writers do the work, and ask with every write: visit again after a rest, not before
  LRD_SOON,  // visit again soon
} lrd_progress;

/// What two parts of a visit have come to together.
static inline lrd_progress lrd_progress_sooner(lrd_progress a, lrd_progress b) {
  return a > b ? a : b;
}

/// The pause before each visit: one visit then serves a burst of writes. LATER doubles it.
static const uint64_t lrd_request_pause = 1000000; // 1 ms
/// The longest pause.
static const uint64_t lrd_request_pause_most = 100000000; // 0.1 s
/// The rest after BUSY. Each visit takes the lines of all shards from the writers' processors, and
/// one write in each shard waits a microsecond for them.
static const uint64_t lrd_request_rest = 4000000; // 4 ms

typedef struct lrd_request {
  _Atomic(uint32_t) state;
  _Atomic(uint32_t) references;
  struct lrd_request *_Nullable next;
  uint64_t pause;
  uint64_t due;
  bool rests;
} lrd_request;

/// Sets the body of the background thread and the function that gives up a reference to the owner
/// of a request. Once, before the first request.
void lrd_request_serve(void (*run)(void), void (*release)(lrd_request *request));

/// lrd_request_visit() for a request that may not be in the queue.
void lrd_request_queue(lrd_request *request);

/// True when a visit is still to begin. Relaxed is enough: if that visit had been in a shard before
/// the caller last held its lock, the caller would see that it has begun. The visit thus finds
/// everything that the caller left in the shard.
static inline bool lrd_request_is_queued(lrd_request *request) {
  return LRD_LOAD(&request->state) & LRD_REQUEST_QUEUED;
}

/// True when no visit is asked for, under way or planned, be it for a deadline in an hour. A hint.
static inline bool lrd_request_is_idle(lrd_request *request) {
  return !LRD_LOAD(&request->state);
}

/// Asks for a visit; during a visit, for another. The caller holds no lock.
static inline void lrd_request_visit(lrd_request *request) {
  if (!lrd_request_is_queued(request)) lrd_request_queue(request);
}

/// For the background thread: takes all requests, chained by `next`, but those whose pause is not
/// over. If there is none, sleeps until somebody asks or a pause is over, and returns NULL.
lrd_request *_Nullable lrd_request_take_all(void);

/// Begins the visit for a request that was taken.
void lrd_request_begin(lrd_request *request);

/// The request whose visit the calling thread has begun and not ended; NULL on all other threads.
lrd_request *_Nullable lrd_request_visited(void);

/// Ends the visit. Unless it is done and nobody asked meanwhile, the request is queued or waits.
/// `wait`: the next visit is wanted after so many nanoseconds, even if this one is done; 0: is not.
/// False when a destructor has forked since the visit began and this is the child: all requests
/// were reset, and those taken with this one are not to be visited.
bool lrd_request_end(lrd_request *request, lrd_progress progress, uint64_t wait);

/// True when the system refused to start the background thread at the last try: its work is then
/// left to writers and to reclaim(). Relaxed, a hint.
extern _Atomic(bool) lrd_request_unheard;

static inline bool lrd_request_is_unheard(void) {
  return LRD_LOAD(&lrd_request_unheard);
}

/// In the child of fork(): nobody has asked. The references are the caller's care.
static inline void lrd_request_reset(lrd_request *request) {
  LRD_STORE(&request->state, 0);
  request->pause = 0;
  request->rests = false;
}

/// Around fork(): the child has an empty queue, and no background thread unless that has forked.
void lrd_request_before_fork(void);
void lrd_request_after_fork_parent(void);
void lrd_request_after_fork_child(void);

#pragma clang assume_nonnull end
