// SPDX-License-Identifier: Apache-2.0
#include "lrd_watch.h"

#include "lrd_process.h"
#include "lrd_thread.h"

#include <pthread.h>

static lrd_side_lock guard;
static bool running;
static _Atomic(uint32_t) wakeups;
static uint64_t (*call)(uint64_t now);

static void forget_thread(void) {
  running = false;
}

void lrd_watch_serve(uint64_t (*tick)(uint64_t now)) {
  call = tick;
  lrd_side_lock_add(&guard);
  pthread_atfork(NULL, NULL, forget_thread);
}

static void run(void) {
  for (;;) {
    uint32_t seen = atomic_load_explicit(&wakeups, memory_order_acquire);
    uint64_t now = lrd_clock(), due = call(now);
    // What the calls destroyed may have used a cache and registered this thread. A single other
    // thread must count as alone.
    lrd_thread_unregister();
    if (due && due <= now) continue;
    lrd_park(&wakeups, seen, due ? due - now : 0);
  }
}

void lrd_watch_wake(void) {
  atomic_fetch_add_explicit(&wakeups, 1, memory_order_release);
  lrd_side_lock_acquire(&guard);
  bool start = !running;
  running = true;
  lrd_side_lock_release(&guard);
  if (!start) {
    lrd_unpark_one(&wakeups);
  } else if (!lrd_thread_spawn(run)) {
    lrd_side_lock_acquire(&guard);
    running = false;
    lrd_side_lock_release(&guard);
  }
}
