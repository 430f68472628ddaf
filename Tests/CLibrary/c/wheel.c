/* SPDX-License-Identifier: Apache-2.0 */
/* wheel.c — compares the timing wheel of a shard with an oracle that looks at every deadline.
 *
 * Entries are added, renewed, removed and hit at random. The clock moves on by a nanosecond up to
 * ten years. After each move the test takes out all that is due: nothing too early, nothing too
 * late.
 *
 *     wheel STEPS
 *
 * Compiled with the library's private headers. */
#include "wheel_model.h"

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

int main(int count, char **arguments) {
  CHECK(count == 2);
  uint64_t steps = strtoull(arguments[1], NULL, 10);
  static bench bench;
  open_bench(&bench);
  check_visits(&bench);
  check_ends(&bench);
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
