// SPDX-License-Identifier: Apache-2.0
#include "lrd_pressure.h"

#include "lrd_alloc.h"
#include "lrd_life.h"
#include "lrd_process.h"
#include "lrd_reply.h"
#include "lrd_thread.h"
#include "lrd_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static _Atomic(int) reported, warned, sensed, current;
static _Atomic(uint64_t) warned_until;
static _Atomic(bool) hidden;
/// Steps while caps rise; and when memory that was freed after an answer goes back.
static _Atomic(uint64_t) pause_of_steps = (uint64_t)2000000000;
static _Atomic(uint64_t) step_due, purge_due;
static const uint64_t purge_pause = (uint64_t)700000000;
/// Asking on a thread of its own: 0 idle, 1 under way, 2 wanted again.
static _Atomic(int) asking;

static lrd_side_lock levels;

static int highest(void) {
  int level = LRD_LOAD(&reported), other = LRD_LOAD(&sensed);
  if (other > level) level = other;
  other = LRD_LOAD(&warned);
  return other > level ? other : level;
}

/// Sets one of the levels, and with it the highest. True when that is news.
static bool set_locked(_Atomic(int) *word, int level) LRD_REQUIRES(levels) {
  int before = LRD_LOAD(word);
  LRD_STORE(word, level);
  LRD_STORE(&current, highest());
  // What is still well is no news beside the other levels.
  return level != LRD_NORMAL || before != LRD_NORMAL;
}

/// Brings a cache to the level that is current when the call returns. Another thread, or the closure
/// that is asked, may have reported a lower one while an answer to this one was under way: its walk
/// came before the answer then, and the lock of the answer's numbers orders the look here after it.
static void bring_to_level(lrd_cache *cache) {
  int level;
  do {
    level = LRD_LOAD(&current);
    lrd_reply_to_level(cache, level);
  } while (LRD_LOAD(&current) != level);
}

/// Which caches a walk visits.
typedef enum walk { PLAIN, ASKED, ALL } walk;

static void answer_all(walk walk) {
  lrd_hold hold;
  lrd_cache *before;
  lrd_hold_begin(&hold);
  for (lrd_cache *cache; (cache = lrd_hold_next(&hold, &before)) || before;) {
    if (before) lrd_cache_release(before);
    if (!cache) return;
    if (!LRD_LOAD(&cache->answer.heeds)) continue;
    bool asks = lrd_reply_get(cache).asks;
    if (walk == ALL || asks == (walk == ASKED)) bring_to_level(cache);
  }
}

static void ask_all(void) {
  do {
    // Acquire, pairs with the release of whoever wants it again: its level is seen.
    atomic_exchange_explicit(&asking, 1, memory_order_acq_rel);
    answer_all(ASKED);
    lrd_alloc_give_back();
    int once = 1;
    // Whoever wants it again finds either 1, and the loop goes on, or 0, and starts a thread.
    if (atomic_compare_exchange_strong_explicit(&asking, &once, 0, memory_order_acq_rel,
                                                memory_order_acquire)) {
      break;
    }
  } while (true);
  lrd_thread_unregister();
}

/// Has the others asked, on another thread. Acq_rel, pairs with itself.
static void ask_elsewhere(void) {
  int before = atomic_load_explicit(&asking, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&asking, &before, before ? 2 : 1,
                                                memory_order_acq_rel, memory_order_relaxed)) {
  }
  if (!before && !lrd_thread_spawn(ask_all)) LRD_STORE(&asking, 0);
}

static bool anyone_heeds(void) {
  return LRD_LOAD(&lrd_answers_heeding);
}

/// In the child of fork() nobody listens to the system, nor asks.
static void forget(void) {
  LRD_STORE(&sensed, LRD_NORMAL);
  LRD_STORE(&asking, 0);
  LRD_STORE(&current, highest());
}

static void serve(void) {
  lrd_side_lock_add(&levels);
  lrd_watch_serve(lrd_pressure_tick, lrd_pressure_sense, anyone_heeds);
  pthread_atfork(NULL, NULL, forget);
}

static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, serve);
}

/// Brings all caches to the highest level.
static void update(bool elsewhere) {
  answer_all(PLAIN);
  if (elsewhere) {
    ask_elsewhere();
  } else {
    answer_all(ASKED);
  }
  uint64_t now = lrd_clock();
  if (LRD_LOAD(&current) != LRD_NORMAL) {
    lrd_alloc_give_back();
    LRD_STORE(&purge_due, now + purge_pause);
  }
  // Not later than it is due already: a level that is confirmed all the time puts no step off.
  uint64_t none = 0;
  atomic_compare_exchange_strong_explicit(&step_due, &none, now + LRD_LOAD(&pause_of_steps),
                                          memory_order_relaxed, memory_order_relaxed);
  lrd_watch_wake();
}

void lrd_pressure_report(int level) {
  prepare();
  lrd_side_lock_acquire(&levels);
  bool news = set_locked(&reported, level);
  lrd_side_lock_release(&levels);
  if (news) update(false);
}

void lrd_pressure_warn(int level, uint64_t nanoseconds) {
  prepare();
  lrd_side_lock_acquire(&levels);
  uint64_t now = lrd_clock();
  LRD_STORE(&warned_until, nanoseconds < UINT64_MAX - now ? now + nanoseconds : UINT64_MAX);
  bool news = set_locked(&warned, level);
  lrd_side_lock_release(&levels);
  if (news) update(false);
}

void lrd_pressure_sense(int level) {
  prepare();
  lrd_side_lock_acquire(&levels);
  bool news = set_locked(&sensed, level);
  lrd_side_lock_release(&levels);
  if (news) update(true);
}

/// Ends the program's word for a while when that is over.
static void lapse(uint64_t now) {
  lrd_side_lock_acquire(&levels);
  bool over = LRD_LOAD(&warned) && LRD_LOAD(&warned_until) <= now;
  if (over) set_locked(&warned, LRD_NORMAL);
  lrd_side_lock_release(&levels);
  if (over) update(true);
}

int lrd_pressure_current(void) {
  return LRD_LOAD(&current);
}

void lrd_pressure_set_pause(uint64_t nanoseconds) {
  LRD_STORE(&pause_of_steps, nanoseconds);
}

/// Calls `body` with every cache that heeds. True if one of the calls was.
static bool each(bool (*body)(lrd_cache *cache)) {
  bool any = false;
  lrd_hold hold;
  lrd_cache *before;
  lrd_hold_begin(&hold);
  for (lrd_cache *cache; (cache = lrd_hold_next(&hold, &before)) || before;) {
    if (before) lrd_cache_release(before);
    if (!cache) break;
    if (LRD_LOAD(&cache->answer.heeds)) any |= body(cache);
  }
  return any;
}

/// As bring_to_level(). True when something was evicted.
static bool bring_to_front_or_back(lrd_cache *cache) {
  bool back, evicted = false;
  do {
    back = LRD_LOAD(&hidden);
    evicted |= back ? lrd_reply_hide(cache) : lrd_reply_unhide(cache);
  } while (LRD_LOAD(&hidden) != back);
  return evicted;
}

static void set_hidden(bool now) {
  if (atomic_exchange_explicit(&hidden, now, memory_order_relaxed) == now) return;
  if (each(bring_to_front_or_back)) lrd_alloc_give_back();
}

void lrd_pressure_enter_background(void) {
  set_hidden(true);
}

void lrd_pressure_enter_foreground(void) {
  set_hidden(false);
}

/// Whether `*due` has come; then it is over.
static bool is_due(_Atomic(uint64_t) *due, uint64_t now) {
  uint64_t at = LRD_LOAD(due);
  if (!at || at > now) return false;
  // Set anew meanwhile: then that holds.
  return atomic_compare_exchange_strong_explicit(due, &at, 0, memory_order_relaxed,
                                                 memory_order_relaxed);
}

static uint64_t sooner(uint64_t a, uint64_t b) {
  return !a || (b && b < a) ? b : a;
}

uint64_t lrd_pressure_tick(uint64_t now) {
  lapse(now);
  if (is_due(&purge_due, now)) lrd_alloc_give_back();
  if (is_due(&step_due, now) && each(lrd_reply_step)) {
    LRD_STORE(&step_due, now + LRD_LOAD(&pause_of_steps));
  }
  uint64_t end = LRD_LOAD(&warned) ? LRD_LOAD(&warned_until) : 0;
  return sooner(end, sooner(LRD_LOAD(&purge_due), LRD_LOAD(&step_due)));
}

void lrd_cache_set_response(lrd_cache *cache, const lrd_response *response) {
  lrd_reply_set(cache, response);
  if (!response->heeds) return;
  prepare();
  lrd_watch_start(false);
  if (LRD_LOAD(&current) != LRD_NORMAL) bring_to_level(cache);
}

lrd_response lrd_cache_response(lrd_cache *cache) {
  return lrd_reply_get(cache);
}

void lrd_pressure_start(void) {
  prepare();
  lrd_watch_start(true);
}

void lrd_pressure_stop(void) {
  prepare();
  lrd_watch_stop();
  lrd_pressure_sense(LRD_NORMAL);
}

bool lrd_pressure_source(int index, char *name, char *problem, size_t room) {
  lrd_sources sources;
  prepare();
  lrd_watch_describe(&sources);
  if (index < 0 || index >= sources.count) return false;
  const lrd_source *source = &sources.source[index];
  snprintf(name, room, "%s%s", source->name, source->averaged ? " (read every 2 s)" : "");
  problem[0] = 0;
  if (source->error) snprintf(problem, room, "%s", strerror(source->error));
  return true;
}

void lrd_pressure_set_root(const char *root) {
  prepare();
  lrd_watch_set_root(root);
}
