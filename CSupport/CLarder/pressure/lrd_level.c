// SPDX-License-Identifier: Apache-2.0
#include "lrd_level.h"

#include "lrd_process.h"

static _Atomic(int) level[LRD_TELLERS], current;
static _Atomic(uint64_t) warned_until;
static _Atomic(bool) hidden;
static _Atomic(uint64_t) spells[LRD_CAUSES];

static lrd_side_lock levels;

void lrd_level_prepare(void) {
  lrd_side_lock_add(&levels);
}

static void end_spell(int cause) {
  LRD_STORE(&spells[cause], LRD_LOAD(&spells[cause]) + 1);
}

static void update_current(void) {
  int highest = LRD_NORMAL;
  for (int i = 0; i < LRD_TELLERS; i++) {
    int other = LRD_LOAD(&level[i]);
    if (other > highest) highest = other;
  }
  int before = LRD_LOAD(&current);
  LRD_STORE(&current, highest);
  if (before != LRD_NORMAL && highest == LRD_NORMAL) end_spell(LRD_BY_LEVEL);
}

static bool set_locked(lrd_teller teller, int new) LRD_REQUIRES(levels) {
  int before = LRD_LOAD(&level[teller]);
  LRD_STORE(&level[teller], new);
  update_current();
  // What is still well is no news beside the other levels.
  return new != LRD_NORMAL || before != LRD_NORMAL;
}

bool lrd_level_set(lrd_teller teller, int new) {
  lrd_side_lock_acquire(&levels);
  bool news = set_locked(teller, new);
  lrd_side_lock_release(&levels);
  return news;
}

bool lrd_level_warn(int new, uint64_t until) {
  lrd_side_lock_acquire(&levels);
  LRD_STORE(&warned_until, until);
  bool news = set_locked(LRD_WARNED, new);
  lrd_side_lock_release(&levels);
  return news;
}

bool lrd_level_lapse(uint64_t now) {
  lrd_side_lock_acquire(&levels);
  bool over = LRD_LOAD(&level[LRD_WARNED]) && LRD_LOAD(&warned_until) <= now;
  if (over) set_locked(LRD_WARNED, LRD_NORMAL);
  lrd_side_lock_release(&levels);
  return over;
}

uint64_t lrd_level_end(void) {
  return LRD_LOAD(&level[LRD_WARNED]) ? LRD_LOAD(&warned_until) : 0;
}

int lrd_level_current(void) {
  return LRD_LOAD(&current);
}

void lrd_level_forget(void) {
  LRD_STORE(&level[LRD_SENSED], LRD_NORMAL);
  update_current();
}

bool lrd_level_hide(bool now) {
  lrd_side_lock_acquire(&levels);
  bool changes = LRD_LOAD(&hidden) != now;
  LRD_STORE(&hidden, now);
  if (changes && !now) end_spell(LRD_BY_BACKGROUND);
  lrd_side_lock_release(&levels);
  return changes;
}

bool lrd_level_is_hidden(void) {
  return LRD_LOAD(&hidden);
}

uint64_t lrd_level_spell(int cause) {
  return LRD_LOAD(&spells[cause]);
}
