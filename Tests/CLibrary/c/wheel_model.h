/* SPDX-License-Identifier: Apache-2.0 */
/* wheel_model.h — a timer with a timing wheel, some entries, and the deadlines that these should
 * have: computed by nothing but the rules of lrd_timer.h.
 *
 * Compiled with the library's private headers. */
#ifndef WHEEL_MODEL_H
#define WHEEL_MODEL_H

#include "check.h"
#include "lrd_timer.h"

#include <stdlib.h>

enum { ENTRIES = 192 };

static const uint64_t year = (uint64_t)36525 * 864 * 1000000000u;

typedef struct modelled {
  uint32_t id;
  uint64_t deadline; /* in ticks; 0: free */
  uint64_t since; /* the wheel's time when the entry was linked with a deadline that had passed */
} modelled;

typedef struct bench {
  lrd_pool pool;
  lrd_manual_clock *clock;
  lrd_timer *timer;
  modelled entries[ENTRIES];
  uint64_t live;
  uint64_t taken;
} bench;

static uint64_t state = 1;

static inline uint64_t draw(uint64_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state * UINT64_C(0x2545f4914f6cdd1d) >> 11) % bound;
}

/* A random length from 1 ns to `most`. Its logarithm is uniform. */
static inline uint64_t draw_length(uint64_t most) {
  uint64_t length = (uint64_t)1 << draw(60);
  length += draw(length);
  return length < most ? length : most;
}

static inline lrd_entry *entry_at(bench *bench, uint32_t id) {
  return lrd_pool_entry(&bench->pool, id);
}

static inline uint64_t tick(bench *bench) {
  return lrd_timer_tick(bench->timer);
}

/* The deadline of a lifetime, computed by nothing but the rules of lrd_timer.h. */
static inline uint64_t deadline_of(bench *bench, uint64_t lifetime) {
  uint64_t now = lrd_now(bench->clock) >> LRD_TICK_SHIFT;
  uint64_t ticks = lifetime >> LRD_TICK_SHIFT;
  if (!ticks) ticks = 1;
  if (lifetime > 100 * year || now + ticks >= LRD_FOREVER) return UINT64_MAX;
  return now + ticks;
}

static inline void add(bench *bench, modelled *slot, uint64_t lifetime) {
  lrd_entry *entry = entry_at(bench, slot->id);
  lrd_entry_describe(entry, draw(UINT64_MAX), 0);
  entry->fields = LRD_IS_TIMED;
  lrd_entry_time_open(entry, LRD_LIFETIME_OWN, lrd_ticks_of(lifetime));
  slot->deadline = deadline_of(bench, lifetime);
  bench->live++;
  lrd_timer_look(bench->timer);
  lrd_timer_add(bench->timer, &bench->pool, entry, slot->id);
}

static inline void drop(bench *bench, modelled *slot) {
  CHECK(lrd_wheel_remove(&bench->timer->wheel, &bench->pool, entry_at(bench, slot->id)) ==
        slot->id);
  slot->deadline = slot->since = 0;
  bench->live--;
}

/* Does what a hit does in a cache with an idle lifetime. The wheel is not told. */
static inline void hit(bench *bench, modelled *slot) {
  if (slot->deadline == UINT64_MAX) return;
  uint64_t more = draw_length(year) >> LRD_TICK_SHIFT;
  if (slot->deadline + more >= LRD_FOREVER) return;
  slot->deadline += more;
  LRD_STORE(&lrd_entry_time(entry_at(bench, slot->id))->word, slot->deadline << LRD_WORD_SHIFT);
}

/* A change of the rule can put a deadline into the past. */
static inline void pass(bench *bench, modelled *slot) {
  lrd_entry *entry = entry_at(bench, slot->id);
  CHECK(lrd_wheel_remove(&bench->timer->wheel, &bench->pool, entry) == slot->id);
  slot->deadline = 1 + draw(tick(bench) + 1);
  slot->since = bench->timer->wheel.turn;
  LRD_STORE(&lrd_entry_time(entry)->word, slot->deadline << LRD_WORD_SHIFT);
  lrd_wheel_add(&bench->timer->wheel, &bench->pool, entry, slot->id, slot->deadline);
}

static inline modelled *slot_of(bench *bench, uint32_t id) {
  for (int i = 0; i < ENTRIES; i++) {
    if (bench->entries[i].id == id) return &bench->entries[i];
  }
  CHECK(false);
  return NULL;
}

static inline void open_timer(bench *bench) {
  lrd_rule rule = {.after_write = LRD_FOREVER, .after_access = LRD_FOREVER};
  bench->clock = lrd_manual_clock_create();
  CHECK(bench->clock);
  bench->timer = lrd_timer_create(bench->clock, &rule);
  CHECK(bench->timer);
}

static inline void close_timer(bench *bench) {
  for (int i = 0; i < ENTRIES; i++) {
    if (bench->entries[i].deadline) drop(bench, &bench->entries[i]);
  }
  CHECK(!bench->live && lrd_wheel_next(&bench->timer->wheel) == LRD_FOREVER);
  lrd_timer_destroy(bench->timer);
  lrd_manual_clock_release(bench->clock);
}

static inline void open_bench(bench *bench) {
  lrd_platform_start();
  lrd_layout layout = {.bytes = 32, .alignment = 8, .timed = true};
  CHECK(lrd_pool_open(&bench->pool, layout));
  for (int i = 0; i < ENTRIES; i++) {
    CHECK(lrd_pool_take(&bench->pool, &bench->entries[i].id, 1) == 1);
  }
}

#endif
