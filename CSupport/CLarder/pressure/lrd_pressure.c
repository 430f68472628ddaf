// SPDX-License-Identifier: Apache-2.0
#include "lrd_pressure.h"

#include "lrd_alloc.h"
#include "lrd_level.h"
#include "lrd_reply.h"
#include "lrd_round.h"
#include "lrd_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/// The level of the last walk that came to its end.
static _Atomic(int) answered;
/// Steps while caps rise; and when memory that was freed after an answer goes back.
static _Atomic(uint64_t) pause_of_steps = (uint64_t)2000000000;
static _Atomic(uint64_t) step_due, purge_due;
static const uint64_t purge_pause = (uint64_t)700000000;

/// The child of fork() has forgotten a level that caches may have answered to, maybe in the midst
/// of that, and has nobody who raises their caps: the next call begins anew.
static _Atomic(bool) forgotten;

static bool anyone_heeds(void) {
  return LRD_LOAD(&lrd_answers_heeding);
}

/// In the child of fork() nobody listens to the system, nor asks.
static void forget(void) {
  if (anyone_heeds()) LRD_STORE(&forgotten, true);
  lrd_level_forget();
  lrd_round_forget();
}

static void serve(void) {
  lrd_level_prepare();
  lrd_watch_serve(lrd_pressure_tick, lrd_pressure_sense, anyone_heeds);
  pthread_atfork(NULL, NULL, forget);
}

static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, serve);
}

/// Gives memory back, now and once what readers held is destroyed.
static void give_back(void) {
  lrd_alloc_give_back();
  LRD_STORE(&purge_due, lrd_clock() + purge_pause);
  lrd_watch_wake();
}

/// Lets caps rise step by step from now on, as far as levels allow. Not later than a step is due
/// already: a level that is confirmed all the time puts none off.
static void begin_steps(void) {
  uint64_t none = 0, due = lrd_clock() + LRD_LOAD(&pause_of_steps);
  atomic_compare_exchange_strong_explicit(&step_due, &none, due, memory_order_relaxed,
                                          memory_order_relaxed);
  lrd_watch_wake();
}

/// Brings all caches to the current level. `elsewhere`: has others ask.
static void update(bool elsewhere) {
  bool evicted = lrd_round_answer();
  if (elsewhere) {
    lrd_round_ask_elsewhere(give_back);
  } else {
    evicted |= lrd_round_ask();
  }
  int level = lrd_level_current();
  bool rises = level > atomic_exchange_explicit(&answered, level, memory_order_relaxed);
  // When a level rises, the allocator gives up what the program has freed, too. A level that is
  // confirmed all the time, with nothing left to evict, does no more than look.
  if (evicted || rises) give_back();
  begin_steps();
}

/// True once after fork() where caches must hear of the level again.
static bool was_forgotten(void) {
  return LRD_LOAD(&forgotten) && atomic_exchange_explicit(&forgotten, false, memory_order_relaxed);
}

void lrd_pressure_report(int level) {
  prepare();
  bool news = lrd_level_set(LRD_REPORTED, level);
  if (was_forgotten() || news) update(false);
}

void lrd_pressure_warn(int level, uint64_t nanoseconds) {
  prepare();
  uint64_t now = lrd_clock();
  uint64_t until = nanoseconds < UINT64_MAX - now ? now + nanoseconds : UINT64_MAX;
  bool news = lrd_level_warn(level, until);
  if (was_forgotten() || news) update(false);
}

void lrd_pressure_sense(int level) {
  prepare();
  bool news = lrd_level_set(LRD_SENSED, level);
  if (was_forgotten() || news) update(true);
}

int lrd_pressure_current(void) {
  return lrd_level_current();
}

void lrd_pressure_set_pause(uint64_t nanoseconds) {
  LRD_STORE(&pause_of_steps, nanoseconds);
}

static void set_hidden(bool hidden) {
  prepare();
  if (lrd_level_hide(hidden) && lrd_round_hide()) give_back();
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
  bool over = lrd_level_lapse(now);
  if (was_forgotten() || over) update(true);
  if (is_due(&purge_due, now)) lrd_alloc_give_back();
  if (is_due(&step_due, now) && lrd_round_step()) {
    LRD_STORE(&step_due, now + LRD_LOAD(&pause_of_steps));
  }
  return sooner(lrd_level_end(), sooner(LRD_LOAD(&purge_due), LRD_LOAD(&step_due)));
}

void lrd_cache_set_response(lrd_cache *cache, const lrd_response *response) {
  if (!lrd_reply_set(cache, response) || !response->heeds) return;
  prepare();
  lrd_watch_start(false);
  bool evicted = false;
  if (lrd_level_current() != LRD_NORMAL) {
    evicted = lrd_round_bring(cache);
    begin_steps(); // a gentler response than before lifts the cap
  }
  if (lrd_level_is_hidden()) evicted |= lrd_round_hide_one(cache);
  if (evicted) give_back();
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
