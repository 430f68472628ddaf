// SPDX-License-Identifier: Apache-2.0
#include "lrd_request.h"

static lrd_lock queue_lock;
static lrd_request *queue;
static lrd_request *waiting; // background thread only
static bool running;
static _Thread_local bool serves;          // this is the background thread
static _Thread_local lrd_request *visited; // by this thread, now
static bool forked;                        // by the background thread: this is the child
static _Atomic(uint32_t) asked;            // counts requests; the thread sleeps on it
_Atomic(bool) lrd_request_unheard;

static void (*body)(void);
static void (*give_up)(lrd_request *request);

void lrd_request_serve(void (*run)(void), void (*release)(lrd_request *request)) {
  body = run;
  give_up = release;
}

static void push(lrd_request *request) LRD_REQUIRES(queue_lock) {
  request->next = queue;
  queue = request;
}

/// True when the pause is over, or somebody has asked for a visit that need not wait for that.
static bool is_due(lrd_request *request, uint64_t now) {
  return request->due <= now || (!request->rests && lrd_request_is_queued(request));
}

/// Takes the queue, and those that wait and are due. `*pause` is the time until the next one is; 0
/// when none waits.
static lrd_request *take_all(uint64_t *pause) {
  lrd_lock_acquire(&queue_lock);
  lrd_request *taken = queue;
  queue = NULL;
  lrd_lock_release(&queue_lock);
  *pause = 0;
  uint64_t now = waiting ? lrd_clock() : 0;
  for (lrd_request **link = &waiting, *request; (request = *link);) {
    if (is_due(request, now)) {
      *link = request->next;
      request->next = taken;
      taken = request;
    } else {
      uint64_t left = request->due - now;
      if (!*pause || left < *pause) *pause = left;
      link = &request->next;
    }
  }
  return taken;
}

/// The thread could not be started: writers and reclaim() do its work. The next request tries
/// again.
static void give_all_up(void) {
  // Both under one lock: a request that comes later starts the thread, and stays in the queue.
  lrd_lock_acquire(&queue_lock);
  lrd_request *request = queue, *next;
  queue = NULL;
  running = false;
  lrd_lock_release(&queue_lock);
  for (; request; request = next) {
    next = request->next;
    atomic_store_explicit(&request->state, 0, memory_order_release);
    give_up(request);
  }
}

/// Release, pairs with the acquire in lrd_request_take_all(): the request that was queued, or its
/// bit.
static void raise_asked(void) {
  atomic_fetch_add_explicit(&asked, 1, memory_order_release);
}

static void wake(void) {
  raise_asked();
  lrd_unpark_one(&asked);
}

void lrd_request_queue(lrd_request *request) {
  // During a visit the bit is enough: lrd_request_end() queues the request again.
  uint32_t before =
      atomic_fetch_or_explicit(&request->state, LRD_REQUEST_QUEUED, memory_order_acq_rel);
  if (before == LRD_REQUEST_WAITING) wake();
  if (before) return;
  atomic_fetch_add_explicit(&request->references, 1, memory_order_relaxed);
  lrd_lock_acquire(&queue_lock);
  bool start = !running;
  running = true;
  push(request);
  lrd_lock_release(&queue_lock);
  if (!start) {
    wake();
    return;
  }
  raise_asked();
  bool unheard = !lrd_thread_spawn(body);
  LRD_STORE(&lrd_request_unheard, unheard);
  if (unheard) give_all_up();
}

lrd_request *lrd_request_take_all(void) {
  serves = true;
  // Read before the queue: a request that comes in between changes it, and the thread stays awake.
  uint32_t seen = atomic_load_explicit(&asked, memory_order_acquire);
  uint64_t pause;
  lrd_request *taken = take_all(&pause);
  if (!taken) lrd_park(&asked, seen, pause);
  return taken;
}

lrd_request *lrd_request_visited(void) {
  return visited;
}

void lrd_request_begin(lrd_request *request) {
  visited = request;
  atomic_exchange_explicit(&request->state, LRD_REQUEST_VISITED, memory_order_acq_rel);
}

/// Ends a visit in the state `next`. False when somebody has asked meanwhile.
static bool leave(lrd_request *request, uint32_t next) {
  uint32_t visited = LRD_REQUEST_VISITED;
  return atomic_compare_exchange_strong_explicit(&request->state, &visited, next,
                                                 memory_order_acq_rel, memory_order_relaxed);
}

/// The pause after a visit that ended with LATER.
static uint64_t pause_after(uint64_t pause) {
  if (!pause) return lrd_request_pause;
  return pause < lrd_request_pause_most / 2 ? pause * 2 : lrd_request_pause_most;
}

/// Keeps the request until so much time has passed.
static void put_off(lrd_request *request, uint64_t wait) {
  uint64_t now = lrd_clock();
  request->due = now + wait < now ? UINT64_MAX : now + wait;
  request->next = waiting;
  waiting = request;
}

/// lrd_request_end() of a request that was not reset meanwhile.
static void end(lrd_request *request, lrd_progress progress, uint64_t wait) {
  request->rests = progress == LRD_BUSY;
  request->pause = progress == LRD_LATER ? pause_after(request->pause) : 0;
  uint64_t most = request->rests ? lrd_request_rest : request->pause;
  if (most && (!wait || wait > most)) wait = most;
  if (progress < LRD_BUSY && leave(request, wait ? LRD_REQUEST_WAITING : 0)) {
    wait ? put_off(request, wait) : give_up(request);
    return;
  }
  // Not a store: the next visit must see what threads wrote before they asked during this one.
  atomic_exchange_explicit(&request->state, LRD_REQUEST_QUEUED, memory_order_acq_rel);
  if (request->rests) {
    put_off(request, wait);
    return;
  }
  lrd_lock_acquire(&queue_lock);
  push(request);
  lrd_lock_release(&queue_lock);
}

bool lrd_request_end(lrd_request *request, lrd_progress progress, uint64_t wait) {
  visited = NULL;
  if (LRD_LIKELY(!forked)) {
    end(request, progress, wait);
  } else {
    // The request was reset amid the visit. Nobody knows what is left to do: visits again.
    lrd_request_queue(request);
    give_up(request);
  }
  // Giving up the last reference destroys values, which may have forked just now.
  bool whole = !forked;
  forked = false;
  return whole;
}

void lrd_request_before_fork(void) LRD_UNCHECKED_LOCKS {
  lrd_lock_acquire(&queue_lock);
}

void lrd_request_after_fork_parent(void) LRD_UNCHECKED_LOCKS {
  lrd_lock_release(&queue_lock);
}

void lrd_request_after_fork_child(void) LRD_UNCHECKED_LOCKS {
  running = serves;
  forked = serves;
  queue = waiting = NULL;
  lrd_lock_reset(&queue_lock);
}
