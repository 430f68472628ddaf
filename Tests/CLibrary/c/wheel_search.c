/* SPDX-License-Identifier: Apache-2.0 */
/* wheel_search.c — two calls search the current turn of a timing wheel, by turns and for two ticks,
 * while its entries come, go and move, and the turn may end. Each finds in the end all that was due
 * at its tick.
 *
 * Compiled with the library's private headers. */
#include "wheel_model.h"

/* One step of a search for what is due at `now`. False once there is nothing. */
static bool search(bench *bench, uint64_t now) {
  uint32_t id;
  lrd_wheel_result result = lrd_wheel_step(&bench->timer->wheel, &bench->pool, now, true, &id);
  if (result == LRD_WHEEL_DUE) {
    modelled *slot = slot_of(bench, id);
    CHECK(slot->deadline && slot->deadline <= tick(bench));
    drop(bench, slot);
  }
  return result != LRD_WHEEL_NONE;
}

/* Moves an entry to the slot that is not in use, as compaction does. */
static void move(bench *bench, modelled *slot, uint32_t *spare) {
  lrd_entry *from = entry_at(bench, slot->id), *to = entry_at(bench, *spare);
  lrd_entry_describe(to, 0, 0);
  to->fields = LRD_IS_TIMED;
  lrd_timer_move(bench->timer, &bench->pool, from, to, *spare);
  uint32_t former = slot->id;
  slot->id = *spare;
  *spare = former;
}

/* Removes all entries, as removeAll() does: they keep their links. */
static void clear(bench *bench) {
  lrd_wheel_open(&bench->timer->wheel, tick(bench));
  for (int i = 0; i < ENTRIES; i++) bench->entries[i].deadline = 0;
  bench->live = 0;
}

static uint64_t draw_lifetime(void) {
  return (1 + draw(200)) << LRD_TICK_SHIFT;
}

/* Does something to an entry of the turn, or puts its deadline into the past. */
static void disturb(bench *bench, uint32_t *spare) {
  modelled *slot = &bench->entries[draw(ENTRIES)];
  uint64_t lifetime = draw_lifetime(), kind = draw(9);
  if (!slot->deadline) {
    add(bench, slot, lifetime);
  } else if (kind < 3) {
    drop(bench, slot);
  } else if (kind < 5) {
    slot->deadline = deadline_of(bench, lifetime);
    lrd_timer_renew(bench->timer, &bench->pool, entry_at(bench, slot->id), lrd_ticks_of(lifetime));
  } else if (kind == 5) {
    pass(bench, slot);
  } else if (kind == 6) {
    hit(bench, slot);
  } else {
    move(bench, slot, spare);
  }
}

/* Two calls begin at some moments of a turn, which may end between them. */
static void check_searches(bench *bench, uint32_t *spare) {
  for (int round = 0; round < 4000; round++) {
    open_timer(bench);
    lrd_manual_clock_advance(bench->clock, draw(256) << LRD_TICK_SHIFT);
    for (int i = 0; i < ENTRIES; i++) add(bench, &bench->entries[i], draw_lifetime());
    lrd_manual_clock_advance(bench->clock, draw(100) << LRD_TICK_SHIFT);
    uint64_t first = tick(bench);
    for (uint64_t i = draw(30); i; i--) search(bench, first);
    lrd_manual_clock_advance(bench->clock, draw(100) << LRD_TICK_SHIFT);
    uint64_t second = tick(bench);
    int disturbances = (int)draw(40), steps = 0;
    for (bool early = true, late = true; early || late;) {
      CHECK(++steps < 4000);
      if (draw(2) && disturbances-- > 0) disturb(bench, spare);
      if (!draw(1000)) clear(bench);
      if (early && draw(2)) early = search(bench, first);
      if (late && draw(2)) late = search(bench, second);
      CHECK(lrd_wheel_check(&bench->timer->wheel, &bench->pool) == bench->live);
    }
    /* What was put into the past after the end of both is still there. */
    while (search(bench, second)) CHECK(++steps < 4000);
    for (int i = 0; i < ENTRIES; i++) {
      CHECK(!bench->entries[i].deadline || bench->entries[i].deadline > second);
    }
    close_timer(bench);
  }
}

/* A step looks at a few entries. What was searched is not searched again for the same tick. */
static void check_steps(bench *bench) {
  open_timer(bench);
  for (int i = 0; i < ENTRIES; i++) add(bench, &bench->entries[i], (uint64_t)200 << LRD_TICK_SHIFT);
  lrd_manual_clock_advance(bench->clock, (uint64_t)100 << LRD_TICK_SHIFT);
  int steps = 1;
  while (search(bench, tick(bench))) steps++;
  CHECK(steps == ENTRIES / LRD_WHEEL_LOOKS);
  CHECK(!search(bench, tick(bench)) && !search(bench, tick(bench) - 1));
  close_timer(bench);
}

int main(void) {
  static bench bench;
  uint32_t spare;
  open_bench(&bench);
  CHECK(lrd_pool_take(&bench.pool, &spare, 1) == 1);
  check_searches(&bench, &spare);
  check_steps(&bench);
  lrd_pool_close(&bench.pool);
  return 0;
}
