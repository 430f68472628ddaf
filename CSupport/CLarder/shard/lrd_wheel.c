// SPDX-License-Identifier: Apache-2.0
#include "lrd_wheel.h"

#include <string.h>

enum { bits_per_level = 6, spoke_mask = LRD_WHEEL_SPOKES - 1 };
/// The highest turn. No deadline lies behind it, and those without end never come.
static const uint64_t last_turn = ((uint64_t)1 << 48) - 1;

_Static_assert(LRD_WHEEL_LEVELS *bits_per_level == 48, "the levels reach the last turn");

/// The tick at which an entry is due.
static uint64_t due_at(const lrd_wheel *wheel, const lrd_time *time) {
  return lrd_word_deadline(LRD_LOAD(&time->word)) + wheel->grace;
}

static unsigned spoke_at(uint64_t turn, int level) {
  return turn >> (level * bits_per_level) & spoke_mask;
}

static lrd_time *time_of(lrd_pool *pool, uint32_t id) {
  return lrd_entry_time(lrd_pool_entry(pool, id));
}

void lrd_wheel_open(lrd_wheel *wheel, uint64_t tick) {
  memset(wheel->occupied, 0, sizeof wheel->occupied);
  memset(wheel->first, 0xff, sizeof wheel->first);
  wheel->turn = tick >> LRD_TURN_SHIFT;
  wheel->search.before = 0;
  wheel->search.next = LRD_NIL;
  lrd_wheel_find_spoke(wheel, wheel->turn);
}

void lrd_wheel_find_spoke(lrd_wheel *wheel, uint64_t turn) {
  wheel->recent.turn = turn;
  wheel->recent.seen_from = wheel->turn;
  if (turn > last_turn) turn = last_turn;
  if (turn < wheel->turn) turn = wheel->turn;
  uint64_t different = turn ^ wheel->turn;
  int level = different ? (63 - __builtin_clzll(different)) / bits_per_level : 0;
  wheel->recent.spoke = (uint32_t)level * LRD_WHEEL_SPOKES + spoke_at(turn, level);
}

/// Where the id of a linked entry is: in the link of the one before it, or in that of its spoke.
static uint32_t *link_of(lrd_wheel *wheel, lrd_pool *pool, const lrd_time *time) {
  if (time->previous < LRD_WHEEL_HEAD) return &time_of(pool, time->previous)->next;
  return &wheel->first[time->previous - LRD_WHEEL_HEAD];
}

uint32_t lrd_wheel_id(lrd_wheel *wheel, lrd_pool *pool, const lrd_entry *entry) {
  return *link_of(wheel, pool, lrd_entry_time(entry));
}

uint32_t lrd_wheel_remove(lrd_wheel *wheel, lrd_pool *pool, lrd_entry *entry) {
  lrd_time *time = lrd_entry_time(entry);
  uint32_t previous = time->previous, next = time->next;
  if (previous == LRD_NIL) return LRD_NIL;
  uint32_t *link = link_of(wheel, pool, time), id = *link;
  *link = next;
  if (LRD_UNLIKELY(id == wheel->search.next)) wheel->search.next = next;
  if (next != LRD_NIL) time_of(pool, next)->previous = previous;
  if (previous >= LRD_WHEEL_HEAD && next == LRD_NIL) {
    uint32_t number = previous - LRD_WHEEL_HEAD;
    wheel->occupied[number / LRD_WHEEL_SPOKES] &= ~((uint64_t)1 << number % LRD_WHEEL_SPOKES);
  }
  time->previous = LRD_NIL;
  return id;
}

/// Links an entry anew: where its deadline says, from where the wheel is now.
static void move(lrd_wheel *wheel, lrd_pool *pool, uint32_t id) {
  lrd_entry *entry = lrd_pool_entry(pool, id);
  lrd_wheel_remove(wheel, pool, entry);
  lrd_wheel_add(wheel, pool, entry, id, lrd_word_deadline(LRD_LOAD(&lrd_entry_time(entry)->word)));
}

/// The level of a spoke that the wheel has reached and that is not empty yet; 0 if there is none.
static int reached(const lrd_wheel *wheel) {
  for (int level = LRD_WHEEL_LEVELS - 1; level > 0; level--) {
    if (wheel->occupied[level] >> spoke_at(wheel->turn, level) & 1) return level;
  }
  return 0;
}

/// The turn at which the first spoke that is not empty begins; UINT64_MAX if all are empty.
static uint64_t next_turn(const lrd_wheel *wheel) {
  for (int level = 0; level < LRD_WHEEL_LEVELS; level++) {
    if (!wheel->occupied[level]) continue;
    int shift = level * bits_per_level;
    // Nothing is behind the wheel, so the lowest bit is the first spoke.
    uint64_t spoke = (uint64_t)__builtin_ctzll(wheel->occupied[level]);
    uint64_t above = wheel->turn >> shift >> bits_per_level << bits_per_level;
    return (above | spoke) << shift;
  }
  return UINT64_MAX;
}

/// Looks at a few entries of the current spoke, whose turn is that of `tick`.
static lrd_wheel_result search(lrd_wheel *wheel, lrd_pool *pool, uint64_t tick, uint32_t *due) {
  if (wheel->search.before <= tick) {
    wheel->search.before = tick + 1;
    wheel->search.next = wheel->first[spoke_at(wheel->turn, 0)];
  }
  for (int i = 0; i < LRD_WHEEL_LOOKS && wheel->search.next != LRD_NIL; i++) {
    const lrd_time *time = time_of(pool, wheel->search.next);
    *due = wheel->search.next;
    if (due_at(wheel, time) < wheel->search.before) return LRD_WHEEL_DUE;
    wheel->search.next = time->next;
  }
  return wheel->search.next == LRD_NIL ? LRD_WHEEL_NONE : LRD_WHEEL_SEARCHED;
}

lrd_wheel_result lrd_wheel_step(lrd_wheel *wheel, lrd_pool *pool, uint64_t tick, bool exact,
                                uint32_t *due) {
  uint64_t now = tick >> LRD_TURN_SHIFT;
  int level = reached(wheel);
  if (!level) {
    uint64_t next = next_turn(wheel);
    if (next > now) {
      if (now > wheel->turn) wheel->turn = now;
      return LRD_WHEEL_NONE;
    }
    wheel->turn = next;
    level = reached(wheel);
  }
  if (level) {
    // What has expired already need not move down level by level.
    *due = wheel->first[level * LRD_WHEEL_SPOKES + (int)spoke_at(wheel->turn, level)];
    if (due_at(wheel, time_of(pool, *due)) <= tick) return LRD_WHEEL_DUE;
    move(wheel, pool, *due);
    return LRD_WHEEL_MOVED;
  }
  if (wheel->turn == now) return exact ? search(wheel, pool, tick, due) : LRD_WHEEL_NONE;
  uint32_t id = wheel->first[spoke_at(wheel->turn, 0)];
  if (due_at(wheel, time_of(pool, id)) > tick) {
    // A hit has moved the deadline.
    move(wheel, pool, id);
    return LRD_WHEEL_MOVED;
  }
  *due = id;
  return LRD_WHEEL_DUE;
}

uint64_t lrd_wheel_next(const lrd_wheel *wheel) {
  uint64_t turn = reached(wheel) ? wheel->turn : next_turn(wheel);
  // What lies in the last turn never comes.
  if (turn >= LRD_FOREVER >> LRD_TURN_SHIFT) return LRD_FOREVER;
  // The spokes of the lowest level are due when they are over.
  bool waits = !reached(wheel) && wheel->occupied[0];
  return (turn + waits) << LRD_TURN_SHIFT;
}

/// What a search has yet to look at is in its spoke, and what it has looked at is not due for it.
static void check_search(const lrd_wheel *wheel, lrd_pool *pool) {
  bool ended = wheel->search.next == LRD_NIL;
  bool counts = wheel->search.before && (wheel->search.before - 1) >> LRD_TURN_SHIFT == wheel->turn;
  uint32_t id = wheel->first[spoke_at(wheel->turn, 0)];
  for (; id != LRD_NIL && id != wheel->search.next; id = time_of(pool, id)->next) {
    LRD_CHECK(!counts || due_at(wheel, time_of(pool, id)) >= wheel->search.before);
  }
  LRD_CHECK(ended || id != LRD_NIL);
}

uint64_t lrd_wheel_check(const lrd_wheel *wheel, lrd_pool *pool) {
  uint64_t count = 0;
  for (uint32_t number = 0; number < LRD_WHEEL_LEVELS * LRD_WHEEL_SPOKES; number++) {
    int level = (int)(number / LRD_WHEEL_SPOKES);
    unsigned spoke = number % LRD_WHEEL_SPOKES;
    uint32_t before = LRD_WHEEL_HEAD + number, id = wheel->first[number];
    LRD_CHECK((wheel->occupied[level] >> spoke & 1) == (id != LRD_NIL));
    for (; id != LRD_NIL; before = id, id = time_of(pool, id)->next, count++) {
      LRD_CHECK(time_of(pool, id)->previous == before);
    }
  }
  check_search(wheel, pool);
  return count;
}
