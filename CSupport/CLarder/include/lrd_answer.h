// SPDX-License-Identifier: Apache-2.0
/* lrd_answer.h — the arithmetic of a cache's answer to memory pressure and to the app's background.
 *
 * A RESPONSE says what the owner wants done at each level: to keep a fraction, or to remove all
 * that nobody else holds. The levels and the app's background are two causes, each with a state of
 * its own.
 *
 * BASE. A fraction is one of the base: the most that the cache has held since the cause began, or
 * since the other one did, if that still lasts: the two do not compound. So the same level,
 * reported again, removes only what has come since, and nothing that is within its cap. The cause
 * ends when its cap is gone and the level is normal; the next one begins with what is there then.
 * Parts of the base and of limits are rounded up: a cap is never 0, so a small cache is not emptied
 * while it may hold an entry.
 *
 * CAP. While a cause lasts, its cap stands beside the owner's limits, at the same fraction of them,
 * but not below a 16th. What has no limit has no cap; a limit that is taken away meanwhile leaves
 * its cap. The limits in force are the lowest of all. A cap follows a rising level at once, and a
 * falling one step by step: by an eighth of the limit, up to its goal.
 *
 * FIELDS of lrd_answer
 *   heeds        a hint (relaxed), so that a walk over all caches passes by without a lock
 *   own_…        the owner's limits, 0 for none. Relaxed loads; guard of stores: `admin` lock of
 *                the cache
 *   all others   guard: the cache's `admin` lock */
#pragma once

#include "lrd_depth.h"

#pragma clang assume_nonnull begin

/// The levels of pressure, and then what else an action can be for: the app's background.
enum { LRD_NORMAL, LRD_WARNING, LRD_CRITICAL, LRD_BACKGROUND, LRD_ACTIONS };
/// The causes of an answer.
enum { LRD_BY_LEVEL, LRD_BY_BACKGROUND, LRD_CAUSES };

typedef struct lrd_action {
  double keep; // the fraction to keep, 0…1
  bool unheld; // instead: remove all that nobody else holds
  bool once;   // lowers no limit, and `keep` is a fraction of what is there now
} lrd_action;

typedef struct lrd_response {
  bool heeds; // false: nothing happens, ever
  bool asks;  // at warning and critical the layer above is asked each time: hooks.ask
  lrd_action at[LRD_ACTIONS];
  uint64_t least;   // entries that are never given up
  uint64_t version; // a response of a lower one than that in force is dropped
  uintptr_t asked;  // passed to hooks.ask
} lrd_response;

typedef struct lrd_cause {
  uint64_t spell;  // the number of this time of pressure: lrd_level_spell()
  bool lasts;      // false: it is over once its cap is gone
  lrd_amount base; // 0, 0 while there is no cause
  lrd_amount cap;  // LRD_UNBOUNDED for none; never 0
  lrd_amount goal; // what the cap rises to
} lrd_cause;

typedef struct lrd_answer {
  _Atomic(bool) heeds;
  _Atomic(uint64_t) own_count;
  _Atomic(uint64_t) own_cost;
  lrd_response response;
  lrd_cause cause[LRD_CAUSES];
} lrd_answer;

/// What is to be removed now.
typedef struct lrd_relief {
  lrd_amount bounds;      // LRD_UNBOUNDED for none
  uint64_t allowance;     // evictions at most
  uint64_t may_pass_over; // times that entries held elsewhere may be passed over
  uint64_t passed_over;   // since the last victim
  bool unheld;            // as in lrd_action
  lrd_depth depth;        // known when it begins
} lrd_relief;

/// Tells how many caches heed pressure. Relaxed: a hint whether anybody wants to know.
extern _Atomic(uint32_t) lrd_answers_heeding;

/// Notes whether a cache heeds.
void lrd_answer_heed(lrd_answer *answer, bool heeds);

/// A cache with these limits, 0 for none, that heeds nothing.
void lrd_answer_open(lrd_answer *answer, uint64_t count_limit, uint64_t cost_limit);

/// The limits in force, 0 for none.
lrd_amount lrd_answer_limits(const lrd_answer *answer);

/// Plans an answer for a cache that holds `present` now, and held `held` before it was asked for
/// the action. The new caps are not in force before lrd_answer_cap().
lrd_relief lrd_answer_plan(lrd_answer *answer, int cause, lrd_action action, lrd_amount held,
                           lrd_amount present);

/// Lowers the cap to the goal, but not below `least`, which a relief has left.
void lrd_answer_cap(lrd_answer *answer, int cause, lrd_amount least);

/// Raises a cap on the cost to `cost`, which entries that may not go have. It stays there until a
/// later answer lowers it, or until it is gone.
void lrd_answer_spare(lrd_answer *answer, int cause, uint64_t cost);

/// Sets the goal to none: from now on steps raise the cap until it is gone.
void lrd_answer_recover(lrd_answer *answer, int cause);

/// Raises the cap by one step. True when another one is needed.
bool lrd_answer_step(lrd_answer *answer, int cause);

/// Takes the cap away, but not the base: a cache that ignores a cause for a while does not begin
/// anew while that lasts.
void lrd_answer_rest(lrd_answer *answer, int cause);

/// Ends a cause at once: no cap is left.
void lrd_answer_end(lrd_answer *answer, int cause);

#pragma clang assume_nonnull end
