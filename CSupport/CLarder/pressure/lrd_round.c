// SPDX-License-Identifier: Apache-2.0
#include "lrd_round.h"

#include "lrd_level.h"
#include "lrd_life.h"
#include "lrd_process.h"
#include "lrd_reply.h"
#include "lrd_thread.h"

/// Asking on a thread of its own: 0 idle, 1 under way, 2 wanted again.
static _Atomic(int) asking;
/// What to call when something was evicted by that. Written before the thread starts.
static _Atomic(void (*)(void)) asked_for;

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

static bool bring(lrd_cache *cache, bool may_ask) {
  bool evicted = false;
  int level;
  do {
    level = lrd_level_current();
    evicted |= lrd_reply_to_level(cache, level, may_ask);
  } while (lrd_level_current() != level);
  return evicted;
}

bool lrd_round_bring(lrd_cache *cache) {
  return bring(cache, true);
}

static bool bring_unasked(lrd_cache *cache) {
  return bring(cache, false);
}

static bool bring_asked(lrd_cache *cache) {
  return lrd_reply_get(cache).asks && lrd_round_bring(cache);
}

bool lrd_round_answer(void) {
  return each(bring_unasked);
}

bool lrd_round_ask(void) {
  return each(bring_asked);
}

static void ask_all(void) {
  do {
    // Acquire, pairs with the release of whoever wants it again: its level is seen.
    atomic_exchange_explicit(&asking, 1, memory_order_acq_rel);
    if (lrd_round_ask()) LRD_LOAD (&asked_for)();
    int once = 1;
    // Whoever wants it again finds either 1, and the loop goes on, or 0, and starts a thread.
    if (atomic_compare_exchange_strong_explicit(&asking, &once, 0, memory_order_acq_rel,
                                                memory_order_acquire)) {
      break;
    }
  } while (true);
  lrd_thread_unregister();
}

void lrd_round_ask_elsewhere(void (*evicted)(void)) {
  LRD_STORE(&asked_for, evicted);
  int before = atomic_load_explicit(&asking, memory_order_relaxed);
  // Acq_rel, pairs with itself.
  while (!atomic_compare_exchange_weak_explicit(&asking, &before, before ? 2 : 1,
                                                memory_order_acq_rel, memory_order_relaxed)) {
  }
  // Without a thread nothing is asked before the next call. A caller that has found the 1 and left
  // a 2 meanwhile is forgotten as well. That is accepted: it would hardly have got a thread either.
  if (!before && !lrd_thread_spawn(ask_all)) LRD_STORE(&asking, 0);
}

bool lrd_round_hide_one(lrd_cache *cache) {
  bool back, evicted = false;
  do {
    back = lrd_level_is_hidden();
    evicted |= back ? lrd_reply_hide(cache) : lrd_reply_unhide(cache);
  } while (lrd_level_is_hidden() != back);
  return evicted;
}

bool lrd_round_hide(void) {
  return each(lrd_round_hide_one);
}

bool lrd_round_step(void) {
  return each(lrd_reply_step);
}

void lrd_round_forget(void) {
  LRD_STORE(&asking, 0);
}
