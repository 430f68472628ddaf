// SPDX-License-Identifier: Apache-2.0
/* lrd_wheel.h — a shard's entries by the time at which they expire: hierarchical timing wheels
 * (Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987).
 *
 *   level 0   64 spokes of one turn, about a millisecond   ▲ entries that come due move down,
 *   level 1   64 spokes of 64 turns                        │ level by level
 *   …
 *   level 7   the last one: 64^7 turns and more
 *
 * A turn is 2^20 ns. Its number falls into groups of six bits, one for each level. Compare the turn
 * of an entry with that of the wheel: the highest group that differs gives the level, and its bits
 * give the spoke. So all spokes in use lie ahead of the wheel, and what a level holds comes before
 * what the next one holds. To move on, the wheel looks for the first spoke that is not empty, by
 * one bit for each. So a wheel that stood still for ten years catches up in a few steps.
 *
 * A step takes an entry out, moves it down, or looks at a few. A spoke that the wheel has reached
 * is emptied entry by entry, before anything else.
 *
 * A SEARCH goes through the spoke of a turn that is not over yet, for what is due already. A step
 * looks at up to LRD_WHEEL_LOOKS entries, and the next step goes on from there. A search for a tick
 * serves all steps of that tick or an earlier one. A step of a later tick begins it anew. So does
 * an entry that is linked behind it and due for it. A call whose steps all have one tick thus comes
 * to an end, whatever others do: a turn has 256 ticks, and a later one begins its search anew once.
 *
 * Entries are linked by the ids of their slots, `previous` and `next` of lrd_time. The first one of
 * a spoke has in `previous` the spoke's number, LRD_WHEEL_HEAD and up: no id is as high. A hit may
 * move a deadline without telling the wheel. The entry is then found too early, and linked again
 * where it belongs. An entry that is not in the wheel has LRD_NIL in `previous`, unless it left by
 * removeAll(): that leaves the links of entries as they are.
 *
 * GRACE. A wheel may keep entries for a time after their deadlines, for a layer above that still
 * has a use for them. To the wheel that is as if all deadlines were later by so much. Lookups do
 * not know of it.
 *
 * Linking and unlinking is O(1), taking the next one O(levels). Guard of everything: the shard's
 * lock. */
#pragma once

#include "lrd_deadline.h"

#pragma clang assume_nonnull begin

enum { LRD_WHEEL_LEVELS = 8, LRD_WHEEL_SPOKES = 64, LRD_WHEEL_LOOKS = 8 };
#define LRD_WHEEL_HEAD (UINT32_MAX - 1023)
/// A turn in ticks.
#define LRD_TURN_SHIFT 8

typedef struct lrd_wheel {
  uint64_t turn;                       // what is behind has been taken out
  uint64_t grace;                      // ticks; constant once there are entries
  uint64_t occupied[LRD_WHEEL_LEVELS]; // a bit for each spoke
  uint32_t first[LRD_WHEEL_LEVELS * LRD_WHEEL_SPOKES];
  struct {
    uint64_t turn, seen_from;
    uint32_t spoke;
  } recent; // the spoke that a turn belongs to, seen from another one
  struct {
    uint64_t before; // it finds what is due before this tick; 0: it must begin anew
    uint32_t next;   // the entry that it has come to; LRD_NIL: it has ended
  } search;
} lrd_wheel;

/// Empties the wheel, and sets it to a tick. `grace` stays as it is.
void lrd_wheel_open(lrd_wheel *wheel, uint64_t tick);

/// Sets `recent`.
void lrd_wheel_find_spoke(lrd_wheel *wheel, uint64_t turn);

/// Links an entry by its deadline and the grace. It is due when the turn of that is over; returns
/// the tick at which it is.
LRD_INLINE uint64_t lrd_wheel_add(lrd_wheel *wheel, lrd_pool *pool, lrd_entry *entry, uint32_t id,
                                  uint64_t deadline) {
  uint64_t due = deadline + wheel->grace, turn = due >> LRD_TURN_SHIFT;
  if (LRD_UNLIKELY(due < wheel->search.before)) wheel->search.before = 0;
  // What is stored in the same millisecond mostly belongs to one spoke.
  if (LRD_UNLIKELY(turn != wheel->recent.turn || wheel->turn != wheel->recent.seen_from)) {
    lrd_wheel_find_spoke(wheel, turn);
  }
  uint32_t spoke = wheel->recent.spoke, next = wheel->first[spoke];
  lrd_time *time = lrd_entry_time(entry);
  time->previous = LRD_WHEEL_HEAD + spoke;
  time->next = next;
  wheel->first[spoke] = id;
  if (LRD_LIKELY(next != LRD_NIL)) {
    lrd_entry_time(lrd_pool_entry(pool, next))->previous = id;
  } else {
    wheel->occupied[spoke / LRD_WHEEL_SPOKES] |= (uint64_t)1 << spoke % LRD_WHEEL_SPOKES;
  }
  return (turn + 1) << LRD_TURN_SHIFT;
}

/// Unlinks an entry. Returns its slot id; LRD_NIL if it was not linked.
uint32_t lrd_wheel_remove(lrd_wheel *wheel, lrd_pool *pool, lrd_entry *entry);

/// The slot id of an entry that is linked.
uint32_t lrd_wheel_id(lrd_wheel *wheel, lrd_pool *pool, const lrd_entry *entry);

/// What a step of the wheel has come to.
typedef enum lrd_wheel_result {
  LRD_WHEEL_NONE,     // nothing is due
  LRD_WHEEL_SEARCHED, // nothing is due of the few that were looked at: go on
  LRD_WHEEL_MOVED,    // an entry has moved: go on
  LRD_WHEEL_DUE,      // an entry is due; it is still linked
} lrd_wheel_result;

/// Takes one step towards `tick`. An entry is due once the turn of its deadline is over; if
/// `exact`, as soon as its deadline has come. `*due` is its slot id.
lrd_wheel_result lrd_wheel_step(lrd_wheel *wheel, lrd_pool *pool, uint64_t tick, bool exact,
                                uint32_t *due);

/// The tick at which the next step can do something, at the earliest; LRD_FOREVER if there is
/// nothing to do.
uint64_t lrd_wheel_next(const lrd_wheel *wheel);

/// Stops the process when a link is wrong. Returns the number of entries.
uint64_t lrd_wheel_check(const lrd_wheel *wheel, lrd_pool *pool);

#pragma clang assume_nonnull end
