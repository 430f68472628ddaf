// SPDX-License-Identifier: Apache-2.0
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "lrd_watch.h"

#include "lrd_process.h"
#include "lrd_thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static lrd_side_lock guard;
static lrd_sources sources;
static bool is_open, wanted, told_before, running;
static lrd_descriptor bell = {.number = -1}, bell_rope = {.number = -1};
static _Atomic(uint32_t) wakeups;
static _Thread_local bool watches; // this is the thread
static bool reborn;                // see lrd_watch.h; no other thread touches it

/// After it the thread tries again to sleep in poll(), which has failed.
static const uint64_t pause_without_poll = 1000000000; // 1 s

static uint64_t (*tick)(uint64_t now);
static void (*sense)(int level);
static bool (*heeds)(void);

/// Takes `guard` for system calls. A thread that is cancelled in one would never release it.
static int lock_for_calls(void) LRD_ACQUIRE(guard) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  lrd_side_lock_acquire(&guard);
  return before;
}

static void unlock_after_calls(int before) LRD_RELEASE(guard) {
  lrd_side_lock_release(&guard);
  int disabled;
  pthread_setcancelstate(before, &disabled);
}

static void close_bell(void) {
  lrd_descriptor_close(&bell_rope);
  lrd_descriptor_close(&bell);
}

/// Sees to it that there is a bell, unless the process may not have so many descriptors. The
/// program may have closed an end of it.
static void hang_bell(void) {
  if (lrd_descriptor_is_own(&bell) && lrd_descriptor_is_own(&bell_rope)) return;
  close_bell();
  lrd_bell_make(&bell, &bell_rope);
}

/// In the child of fork(): `guard` was held, so everything is whole. If what the thread destroys or
/// calls has forked, the thread goes on in the child.
static void forget(void) {
  int before, disabled;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  lrd_sources_close(&sources);
  close_bell();
  pthread_setcancelstate(before, &disabled);
  is_open = false;
  running = reborn = watches;
}

void lrd_watch_serve(uint64_t (*tick_)(uint64_t now), void (*sense_)(int level),
                     bool (*heeds_)(void)) {
  tick = tick_;
  sense = sense_;
  heeds = heeds_;
  lrd_side_lock_add(&guard);
  pthread_atfork(NULL, NULL, forget);
}

/// What the thread sleeps on: the bell, and then the sources with descriptors.
typedef struct sleepers {
  struct pollfd poll[LRD_SOURCES_MOST + 1];
  int source[LRD_SOURCES_MOST + 1];
  nfds_t count;
} sleepers;

/// Closes the sources after stop(), and lists what to sleep on. True if it closed them.
static bool prepare_locked(sleepers *sleepers) LRD_REQUIRES(guard) {
  bool closes = is_open && !wanted;
  if (closes) {
    lrd_sources_close(&sources);
    is_open = false;
  }
  sleepers->count = 0;
  lrd_sources_look(&sources);
  hang_bell();
  if (bell.number < 0) return closes;
  sleepers->poll[sleepers->count++] = (struct pollfd){.fd = bell.number, .events = POLLIN};
  for (int i = 0; is_open && i < sources.count; i++) {
    const lrd_source *source = &sources.source[i];
    if (source->fd.number < 0) continue;
    bool counts = source->kind == LRD_USAGE_OF_GROUP || source->kind == LRD_SOURCE_OF_SYSTEM;
    short events = counts ? POLLIN : POLLPRI;
    sleepers->source[sleepers->count] = i;
    sleepers->poll[sleepers->count++] = (struct pollfd){.fd = source->fd.number, .events = events};
  }
  return closes;
}

/// Looks at what woke the thread. Returns the level of the system; -1 when there is no news.
static int listen_locked(const sleepers *sleepers, uint64_t now) LRD_REQUIRES(guard) {
  if (sleepers->count && sleepers->poll[0].revents) lrd_bell_quiet(&bell);
  if (is_open) lrd_sources_look(&sources);
  for (nfds_t i = 1; is_open && i < sleepers->count; i++) {
    const struct pollfd *poll = &sleepers->poll[i];
    lrd_source *source = &sources.source[sleepers->source[i]];
    if (!poll->revents || source->fd.number != poll->fd) continue;
    lrd_source_woken(&sources, source, poll->revents, now);
  }
  bool due = is_open && wanted && sources.read_at && sources.read_at <= now;
  return due ? lrd_sources_level(&sources, now) : -1;
}

/// False when the program has closed what is to be slept on, since it was listed.
static bool are_own(const sleepers *sleepers) {
  lrd_side_lock_acquire(&guard);
  bool same = bell.number == sleepers->poll[0].fd && lrd_descriptor_is_own(&bell);
  for (nfds_t i = 1; i < sleepers->count && same; i++) {
    const lrd_descriptor *fd = &sources.source[sleepers->source[i]].fd;
    same = fd->number == sleepers->poll[i].fd && lrd_descriptor_is_own(fd);
  }
  lrd_side_lock_release(&guard);
  return same;
}

/// Sleeps until `due` (0: without end), or until something happens.
static void sleep_until(sleepers *sleepers, uint32_t seen, uint64_t due) {
  // Now, and not before the answers, which may take long.
  uint64_t now = due ? lrd_clock() : 0;
  uint64_t left = due <= now ? 1 : due - now;
  if (!sleepers->count) {
    lrd_park(&wakeups, seen, due ? left : 0);
    return;
  }
  if (!are_own(sleepers)) return;
  uint64_t milliseconds = left / 1000000 + 1;
  int woken = poll(sleepers->poll, sleepers->count,
                   !due                     ? -1
                   : milliseconds > 3600000 ? 3600000
                                            : (int)milliseconds);
  // Where the process may not have so many descriptors any more, poll() fails at once.
  if (woken >= 0 || errno == EINTR) return;
  lrd_park(&wakeups, seen, due && left < pause_without_poll ? left : pause_without_poll);
}

static void run(void) {
  watches = true;
  sleepers sleepers = {.count = 0};
  int sensed = 0;
  for (;;) {
    uint32_t seen = atomic_load_explicit(&wakeups, memory_order_acquire);
    uint64_t now = lrd_clock();
    lrd_side_lock_acquire(&guard);
    int level = listen_locked(&sleepers, now);
    if (prepare_locked(&sleepers)) level = 0;
    if (level >= 0) sensed = level;
    // A level that was told stays until its end is told, also when no cache heeds it any more.
    bool reads = is_open && (heeds() || told_before || sensed != 0);
    uint64_t read_at = reads ? sources.read_at : 0;
    lrd_side_lock_release(&guard);
    if (level >= 0) sense(level);
    uint64_t due = tick(now);
    // What the calls destroyed may have used a cache and registered this thread. A single other
    // thread must count as alone.
    lrd_thread_unregister();
    if (LRD_UNLIKELY(reborn)) {
      reborn = false;
      sleepers.count = 0;
      continue;
    }
    if (!due || (read_at && read_at < due)) due = read_at;
    sleep_until(&sleepers, seen, due);
  }
}

void lrd_watch_wake(void) {
  atomic_fetch_add_explicit(&wakeups, 1, memory_order_release);
  int cancel = lock_for_calls();
  bool start = !running;
  running = true;
  hang_bell();
  lrd_bell_pull(&bell_rope);
  unlock_after_calls(cancel);
  // It may have gone to sleep before there was a bell.
  lrd_unpark_one(&wakeups);
  if (start && !lrd_thread_spawn(run)) {
    lrd_side_lock_acquire(&guard);
    running = false;
    lrd_side_lock_release(&guard);
  }
}

void lrd_watch_start(bool told) {
  int cancel = lock_for_calls();
  bool starts = told || !told_before;
  told_before |= told;
  // A cache tries nothing again; start() does.
  bool begins = told || (starts && !is_open);
  if (starts) wanted = true;
  if (begins) {
    hang_bell();
    // After stop() the thread may not have come to close the sources.
    if (is_open) {
      lrd_sources_retry(&sources);
    } else {
      lrd_sources_open(&sources);
    }
    is_open = true;
    // What is the case already wakes nobody.
    sources.read_at = lrd_clock();
  }
  bool reads = is_open && lrd_sources_are_read(&sources);
  unlock_after_calls(cancel);
  if (begins || (reads && starts)) lrd_watch_wake();
}

void lrd_watch_stop(void) {
  lrd_side_lock_acquire(&guard);
  told_before = true;
  wanted = false;
  bool closes = is_open;
  lrd_side_lock_release(&guard);
  if (closes) lrd_watch_wake();
}

void lrd_watch_describe(lrd_sources *copy) {
  lrd_side_lock_acquire(&guard);
  *copy = sources;
  if (!is_open || !wanted) copy->count = 0;
  lrd_side_lock_release(&guard);
}

void lrd_watch_set_root(const char *root) {
  lrd_side_lock_acquire(&guard);
  snprintf(sources.root, sizeof sources.root, "%s", root);
  sources.averages_only = true;
  lrd_side_lock_release(&guard);
}
