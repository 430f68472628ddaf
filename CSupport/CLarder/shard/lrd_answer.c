// SPDX-License-Identifier: Apache-2.0
#include "lrd_answer.h"

/// A cap leaves at least this part of a limit, so that the cache goes on to work.
static const uint64_t least_part = 16;
/// The part of a limit by which a cap rises.
static const uint64_t step_part = 8;

static const lrd_amount unbounded = {LRD_UNBOUNDED, LRD_UNBOUNDED};

/// The part, rounded up.
static uint64_t part_of(uint64_t whole, double fraction) {
  if (fraction >= 1) return whole;
  double part = (double)whole * fraction;
  uint64_t below = (uint64_t)part;
  // 0.07 of 100 is a little more than 7 in doubles.
  bool more = (double)below < part * (1 - 0x1p-52);
  // Above 2^53 the whole itself may be rounded up.
  return lrd_least(below + more, whole);
}

_Atomic(uint32_t) lrd_answers_heeding;

void lrd_answer_heed(lrd_answer *answer, bool heeds) {
  if (LRD_LOAD(&answer->heeds) == heeds) return;
  LRD_STORE(&answer->heeds, heeds);
  // Modulo 2^32: -1 is the largest number.
  atomic_fetch_add_explicit(&lrd_answers_heeding, heeds ? 1 : UINT32_MAX, memory_order_relaxed);
}

void lrd_answer_open(lrd_answer *answer, uint64_t count_limit, uint64_t cost_limit) {
  LRD_STORE(&answer->own_count, count_limit);
  LRD_STORE(&answer->own_cost, cost_limit);
  for (int i = 0; i < LRD_CAUSES; i++) {
    answer->cause[i] = (lrd_cause){.cap = unbounded, .goal = unbounded};
  }
}

/// 0 for none.
static uint64_t limit_in_force(uint64_t own, uint64_t cap) {
  return cap == LRD_UNBOUNDED || (own && own < cap) ? own : cap;
}

lrd_amount lrd_answer_limits(const lrd_answer *answer) {
  const lrd_cause *a = &answer->cause[LRD_BY_LEVEL], *b = &answer->cause[LRD_BY_BACKGROUND];
  uint64_t count = lrd_least(a->cap.count, b->cap.count);
  uint64_t cost = lrd_least(a->cap.cost, b->cap.cost);
  return (lrd_amount){limit_in_force(LRD_LOAD(&answer->own_count), count),
                      limit_in_force(LRD_LOAD(&answer->own_cost), cost)};
}

/// The cap on a limit; `floor` is never gone below.
static uint64_t cap_of(uint64_t own, double keep, uint64_t floor) {
  return lrd_most(lrd_most(part_of(own, keep), own / least_part + (own % least_part != 0)),
                  lrd_most(floor, 1));
}

/// The bound on what may stay: a part of the base. Where the cap is no higher than the goal, the
/// bound is the goal: whatever has come since the cap was set is within that, and stays.
static uint64_t bound_of(uint64_t base, double keep, uint64_t cap, uint64_t goal, uint64_t floor) {
  bool capped = goal != LRD_UNBOUNDED && cap <= goal;
  return capped ? goal : lrd_most(part_of(base, keep), floor);
}

lrd_relief lrd_answer_plan(lrd_answer *answer, int number, lrd_action action, lrd_amount held,
                           lrd_amount present) {
  lrd_cause *cause = &answer->cause[number];
  uint64_t least = answer->response.least;
  lrd_relief relief = {.bounds = unbounded, .unheld = action.unheld};
  relief.allowance = present.count > least ? present.count - least : 0;
  cause->lasts = true;
  cause->goal = unbounded;
  if (action.unheld) return relief;
  if (action.keep >= 1) {
    relief.allowance = 0;
    return relief;
  }
  bool empties = action.once && !action.keep && !least;
  if (!empties) relief.may_pass_over = LRD_ROUNDS * present.count;
  if (action.once) {
    relief.bounds.count = lrd_most(part_of(present.count, action.keep), least);
    return relief;
  }
  // What another cause has evicted counts as held while that lasts: the two do not compound.
  for (int i = 0; i < LRD_CAUSES; i++) {
    if (!answer->cause[i].lasts) continue;
    cause->base.count = lrd_most(cause->base.count, answer->cause[i].base.count);
    cause->base.cost = lrd_most(cause->base.cost, answer->cause[i].base.cost);
  }
  cause->base.count = lrd_most(cause->base.count, lrd_most(held.count, present.count));
  cause->base.cost = lrd_most(cause->base.cost, lrd_most(held.cost, present.cost));
  uint64_t own_count = LRD_LOAD(&answer->own_count), own_cost = LRD_LOAD(&answer->own_cost);
  if (own_count) cause->goal.count = cap_of(own_count, action.keep, least);
  if (own_cost) cause->goal.cost = cap_of(own_cost, action.keep, 0);
  if (own_cost) {
    relief.bounds.cost =
        bound_of(cause->base.cost, action.keep, cause->cap.cost, cause->goal.cost, 0);
  } else {
    relief.bounds.count =
        bound_of(cause->base.count, action.keep, cause->cap.count, cause->goal.count, least);
  }
  relief.bounds.count = lrd_least(relief.bounds.count, cause->goal.count);
  relief.bounds.cost = lrd_least(relief.bounds.cost, cause->goal.cost);
  return relief;
}

/// `least`: LRD_UNBOUNDED has no meaning here, a goal of none stays none.
static uint64_t lowered(uint64_t cap, uint64_t goal, uint64_t least) {
  if (goal == LRD_UNBOUNDED) return cap;
  return lrd_least(cap, lrd_most(goal, least));
}

void lrd_answer_cap(lrd_answer *answer, int number, lrd_amount least) {
  lrd_cause *cause = &answer->cause[number];
  cause->cap.count = lowered(cause->cap.count, cause->goal.count, least.count);
  cause->cap.cost = lowered(cause->cap.cost, cause->goal.cost, least.cost);
}

void lrd_answer_spare(lrd_answer *answer, int number, uint64_t cost) {
  lrd_cause *cause = &answer->cause[number];
  cause->cap.cost = lrd_most(cause->cap.cost, cost);
}

void lrd_answer_recover(lrd_answer *answer, int number) {
  answer->cause[number].lasts = false;
  answer->cause[number].goal = unbounded;
}

/// A cap after a step. `whole`: where it needs to be a cap no more.
static uint64_t raised(uint64_t cap, uint64_t goal, uint64_t whole) {
  if (cap >= goal) return cap;
  uint64_t step = whole / step_part + 1;
  uint64_t next = cap > LRD_UNBOUNDED - step ? LRD_UNBOUNDED : cap + step;
  if (goal == LRD_UNBOUNDED && next >= whole) return LRD_UNBOUNDED;
  return lrd_least(next, goal);
}

bool lrd_answer_step(lrd_answer *answer, int number) {
  lrd_cause *cause = &answer->cause[number];
  cause->cap.count = raised(cause->cap.count, cause->goal.count, LRD_LOAD(&answer->own_count));
  cause->cap.cost = raised(cause->cap.cost, cause->goal.cost, LRD_LOAD(&answer->own_cost));
  bool more = cause->cap.count < cause->goal.count || cause->cap.cost < cause->goal.cost;
  // While the level lasts, a cache without limits has no cap either.
  bool capped = cause->cap.count != LRD_UNBOUNDED || cause->cap.cost != LRD_UNBOUNDED;
  if (!cause->lasts && !capped) cause->base = (lrd_amount){0, 0};
  return more;
}

void lrd_answer_rest(lrd_answer *answer, int number) {
  lrd_cause *cause = &answer->cause[number];
  cause->cap = cause->goal = unbounded;
}

void lrd_answer_end(lrd_answer *answer, int number) {
  answer->cause[number] = (lrd_cause){.cap = unbounded, .goal = unbounded};
}
