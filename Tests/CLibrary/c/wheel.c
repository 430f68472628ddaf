/* SPDX-License-Identifier: Apache-2.0 */
/* wheel.c — compares the timing wheel of a shard with an oracle that looks at every deadline.
 *
 * Entries are added, renewed, removed and hit at random. The clock moves on by a nanosecond up to
 * ten years. After each move the test takes out all that is due: nothing too early, nothing too
 * late. Looks through one turn are interrupted by all of that, and by others' looks.
 *
 *     wheel STEPS
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrd_timer.h"

#include <stdlib.h>

enum { ENTRIES = 192 };

static const uint64_t year = (uint64_t)366 * 86400 * 1000000000u;

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

static uint64_t draw(uint64_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state * UINT64_C(0x2545f4914f6cdd1d) >> 11) % bound;
}

/* A random length from 1 ns to `most`. Its logarithm is uniform. */
static uint64_t draw_length(uint64_t most) {
  uint64_t length = (uint64_t)1 << draw(60);
  length += draw(length);
  return length < most ? length : most;
}

static lrd_entry *entry_at(bench *bench, uint32_t id) {
  return lrd_pool_entry(&bench->pool, id);
}

static uint64_t tick(bench *bench) {
  return lrd_timer_tick(bench->timer);
}

/* The deadline of a lifetime, computed by nothing but the rules of lrd_timer.h. */
static uint64_t deadline_of(bench *bench, uint64_t lifetime) {
  uint64_t now = lrd_now(bench->clock) >> LRD_TICK_SHIFT;
  uint64_t ticks = lifetime >> LRD_TICK_SHIFT;
  if (!ticks) ticks = 1;
  if (lifetime > 100 * year || now + ticks >= LRD_FOREVER) return UINT64_MAX;
  return now + ticks;
}

static void add(bench *bench, modelled *slot, uint64_t lifetime) {
  lrd_entry *entry = entry_at(bench, slot->id);
  lrd_entry_describe(entry, draw(UINT64_MAX), 0);
  entry->fields = LRD_IS_TIMED;
  lrd_entry_time_open(entry, LRD_LIFETIME_OWN, lrd_ticks_of(lifetime));
  slot->deadline = deadline_of(bench, lifetime);
  bench->live++;
  lrd_timer_look(bench->timer);
  lrd_timer_add(bench->timer, &bench->pool, entry, slot->id);
}

static void drop(bench *bench, modelled *slot) {
  CHECK(lrd_wheel_remove(&bench->timer->wheel, &bench->pool, entry_at(bench, slot->id)) ==
        slot->id);
  slot->deadline = slot->since = 0;
  bench->live--;
}

/* Does what a hit does in a cache with an idle lifetime. The wheel is not told. */
static void hit(bench *bench, modelled *slot) {
  if (slot->deadline == UINT64_MAX) return;
  uint64_t more = draw_length(year) >> LRD_TICK_SHIFT;
  if (slot->deadline + more >= LRD_FOREVER) return;
  slot->deadline += more;
  LRD_STORE(&lrd_entry_time(entry_at(bench, slot->id))->word, slot->deadline << LRD_WORD_SHIFT);
}

/* A change of the rule can put a deadline into the past. */
static void pass(bench *bench, modelled *slot) {
  lrd_entry *entry = entry_at(bench, slot->id);
  CHECK(lrd_wheel_remove(&bench->timer->wheel, &bench->pool, entry) == slot->id);
  slot->deadline = 1 + draw(tick(bench) + 1);
  slot->since = bench->timer->wheel.turn;
  LRD_STORE(&lrd_entry_time(entry)->word, slot->deadline << LRD_WORD_SHIFT);
  lrd_wheel_add(&bench->timer->wheel, &bench->pool, entry, slot->id, slot->deadline);
}

static modelled *slot_of(bench *bench, uint32_t id) {
  for (int i = 0; i < ENTRIES; i++) {
    if (bench->entries[i].id == id) return &bench->entries[i];
  }
  CHECK(false);
  return NULL;
}

/* Takes out all that is due, and compares it with the deadlines. */
static void take_due(bench *bench, bool exact) {
  lrd_wheel *wheel = &bench->timer->wheel;
  uint64_t now = tick(bench), next = lrd_wheel_next(wheel);
  /* A visit at the time that `next` says is never late. */
  for (int i = 0; i < ENTRIES; i++) {
    uint64_t deadline = bench->entries[i].deadline;
    if (!deadline || deadline == UINT64_MAX) continue;
    uint64_t due = ((deadline >> LRD_TURN_SHIFT) + 1) << LRD_TURN_SHIFT;
    CHECK(next <= due || due <= wheel->turn << LRD_TURN_SHIFT);
  }
  uint64_t steps = 0, most = (bench->live + 1) * (2 * LRD_WHEEL_LEVELS + 2);
  uint32_t id;
  for (lrd_wheel_result result; (result = lrd_wheel_step(wheel, &bench->pool, now, exact, &id));) {
    CHECK(++steps <= most);
    if (result != LRD_WHEEL_DUE) continue;
    modelled *slot = slot_of(bench, id);
    CHECK(slot->deadline && slot->deadline <= now);
    drop(bench, slot);
    bench->taken++;
  }
  for (int i = 0; i < ENTRIES; i++) {
    uint64_t deadline = bench->entries[i].deadline;
    if (!deadline) continue;
    uint64_t turn = deadline >> LRD_TURN_SHIFT, since = bench->entries[i].since;
    CHECK(exact ? deadline > now : (turn > since ? turn : since) >= now >> LRD_TURN_SHIFT);
    uint64_t limit = lrd_limit_at(now);
    CHECK(lrd_timer_is_over(entry_at(bench, bench->entries[i].id), limit) == (deadline <= now));
  }
}

static void open_timer(bench *bench) {
  lrd_rule rule = {.after_write = LRD_FOREVER, .after_access = LRD_FOREVER};
  bench->clock = lrd_manual_clock_create();
  CHECK(bench->clock);
  bench->timer = lrd_timer_create(bench->clock, &rule);
  CHECK(bench->timer);
}

static void close_timer(bench *bench) {
  for (int i = 0; i < ENTRIES; i++) {
    if (bench->entries[i].deadline) drop(bench, &bench->entries[i]);
  }
  CHECK(!bench->live && lrd_wheel_next(&bench->timer->wheel) == LRD_FOREVER);
  lrd_timer_destroy(bench->timer);
  lrd_manual_clock_release(bench->clock);
}

static void step(bench *bench) {
  modelled *slot = &bench->entries[draw(ENTRIES)];
  uint64_t kind = draw(8);
  if (kind < 2) {
    lrd_manual_clock_advance(bench->clock, draw_length(10 * year));
    take_due(bench, draw(2));
  } else if (!slot->deadline) {
    /* Some never expire. */
    add(bench, slot, draw(50) ? draw_length(UINT64_MAX) : LRD_NEVER);
  } else if (kind < 5) {
    uint64_t lifetime = draw_length(UINT64_MAX);
    slot->deadline = deadline_of(bench, lifetime);
    lrd_timer_renew(bench->timer, &bench->pool, entry_at(bench, slot->id), lrd_ticks_of(lifetime));
  } else if (!draw(8)) {
    pass(bench, slot);
  } else if (kind < 7) {
    hit(bench, slot);
  } else {
    drop(bench, slot);
  }
}

/* An entry that is due in an hour takes few visits. An entry that is never due takes none. */
static void check_visits(bench *bench) {
  open_timer(bench);
  add(bench, &bench->entries[0], LRD_NEVER);
  CHECK(lrd_wheel_next(&bench->timer->wheel) == LRD_FOREVER);
  add(bench, &bench->entries[1], (uint64_t)3600 * 1000000000u);
  int visits = 0;
  for (; bench->live == 2; visits++) {
    uint64_t next = lrd_wheel_next(&bench->timer->wheel);
    CHECK(next > tick(bench) && next < LRD_FOREVER);
    lrd_manual_clock_advance(bench->clock, (next - tick(bench)) << LRD_TICK_SHIFT);
    take_due(bench, false);
  }
  CHECK(visits > 1 && visits <= LRD_WHEEL_LEVELS + 1);
  close_timer(bench);
}

/* Times near 2^64 do not wrap, and nothing expires early by them. */
static void check_ends(bench *bench) {
  open_timer(bench);
  add(bench, &bench->entries[0], LRD_NEVER);
  add(bench, &bench->entries[1], 100 * year);
  lrd_manual_clock_advance(bench->clock, UINT64_MAX);
  lrd_manual_clock_advance(bench->clock, UINT64_MAX);
  add(bench, &bench->entries[2], 1);
  add(bench, &bench->entries[3], LRD_NEVER);
  take_due(bench, true);
  CHECK(bench->live == 3 && !bench->entries[1].deadline);
  close_timer(bench);
}

/* One step of a look for what is due at `now`. False once there is nothing. */
static bool look(bench *bench, uint64_t now) {
  uint32_t id;
  lrd_wheel_result result = lrd_wheel_step(&bench->timer->wheel, &bench->pool, now, true, &id);
  if (result == LRD_WHEEL_DUE) {
    modelled *slot = slot_of(bench, id);
    CHECK(slot->deadline && slot->deadline <= tick(bench));
    drop(bench, slot);
  }
  return result != LRD_WHEEL_NONE;
}

/* Removes, adds, renews or hits an entry of the turn, or puts its deadline into the past. */
static void disturb(bench *bench) {
  modelled *slot = &bench->entries[draw(ENTRIES)];
  uint64_t lifetime = (1 + draw(200)) << LRD_TICK_SHIFT, kind = draw(8);
  if (!slot->deadline) {
    add(bench, slot, lifetime);
  } else if (kind < 3) {
    drop(bench, slot);
  } else if (kind < 6) {
    slot->deadline = deadline_of(bench, lifetime);
    lrd_timer_renew(bench->timer, &bench->pool, entry_at(bench, slot->id), lrd_ticks_of(lifetime));
  } else if (kind == 6) {
    pass(bench, slot);
  } else {
    hit(bench, slot);
  }
}

/* Two calls look through one turn by turns, for two ticks, while its entries come and go. Each
 * finds in the end all that was due at its tick and not hidden by a later deadline since. */
static void check_looks(bench *bench) {
  for (int round = 0; round < 2000; round++) {
    open_timer(bench);
    uint64_t start = tick(bench);
    lrd_manual_clock_advance(bench->clock, (256 - start % 256) << LRD_TICK_SHIFT);
    for (int i = 0; i < ENTRIES; i++) {
      bench->entries[i].since = 0;
      add(bench, &bench->entries[i], (1 + draw(200)) << LRD_TICK_SHIFT);
    }
    lrd_manual_clock_advance(bench->clock, draw(100) << LRD_TICK_SHIFT);
    uint64_t first = tick(bench);
    for (uint64_t i = draw(30); i; i--) look(bench, first);
    lrd_manual_clock_advance(bench->clock, draw(100) << LRD_TICK_SHIFT);
    uint64_t second = tick(bench);
    int disturbances = (int)draw(40), steps = 0;
    for (bool early = true, late = true; early || late;) {
      CHECK(++steps < 2000);
      if (draw(2) && disturbances-- > 0) disturb(bench);
      if (early && draw(2)) early = look(bench, first);
      if (late && draw(2)) late = look(bench, second);
    }
    /* No disturbance after the end of both: nothing that was due is left. */
    while (look(bench, second)) CHECK(++steps < 2000);
    for (int i = 0; i < ENTRIES; i++) {
      CHECK(!bench->entries[i].deadline || bench->entries[i].deadline > second);
    }
    close_timer(bench);
  }
}

/* A look through a turn does a few entries in a step. It is not repeated for the same tick. */
static void check_steps(bench *bench) {
  open_timer(bench);
  lrd_manual_clock_advance(bench->clock, (256 - tick(bench) % 256) << LRD_TICK_SHIFT);
  for (int i = 0; i < ENTRIES; i++) add(bench, &bench->entries[i], (uint64_t)200 << LRD_TICK_SHIFT);
  lrd_manual_clock_advance(bench->clock, (uint64_t)100 << LRD_TICK_SHIFT);
  int steps = 1;
  while (look(bench, tick(bench))) steps++;
  CHECK(steps == ENTRIES / LRD_WHEEL_LOOKS);
  CHECK(!look(bench, tick(bench)) && !look(bench, tick(bench) - 1));
  close_timer(bench);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  uint64_t steps = strtoull(arguments[1], NULL, 10);
  static bench bench;
  lrd_platform_start();
  lrd_layout layout = {.bytes = 32, .alignment = 8, .timed = true};
  CHECK(lrd_pool_open(&bench.pool, layout));
  for (int i = 0; i < ENTRIES; i++) {
    CHECK(lrd_pool_take(&bench.pool, &bench.entries[i].id, 1) == 1);
  }
  check_visits(&bench);
  check_ends(&bench);
  check_looks(&bench);
  check_steps(&bench);
  open_timer(&bench);
  for (uint64_t i = 0; i < steps; i++) {
    if (lrd_now(bench.clock) > 130 * year) {
      close_timer(&bench);
      open_timer(&bench);
    }
    step(&bench);
    if (i % 1024 == 0) CHECK(lrd_wheel_check(&bench.timer->wheel, &bench.pool) == bench.live);
  }
  close_timer(&bench);
  CHECK(bench.taken > steps / 100);
  lrd_pool_close(&bench.pool);
  return 0;
}
