// SPDX-License-Identifier: Apache-2.0
/* lrd_probe.h — a probe: what happened to one sampled key, on its way through the shadows.
 *
 *   in the cache                          in a shadow that has the key      that has it not
 *   HIT       looked up, found            one hit more                      miss; stored or not,
 *                                                                           see below
 *   MISS      looked up, absent           one hit more                      miss
 *   LOAD      looked up, absent, stored   one hit more                      miss; stored
 *   STORE     stored, not looked up       one hit more                      stored
 *   FILL      stored, looked up before    -                                 stored
 *   REMOVAL   removed by a call           removed                           -
 *
 * Only lookups count as misses. A program that loads what it misses stores it after each miss, and
 * one that keeps sessions never does. If the cache has a key and a shadow does not, nobody knows
 * whether the program would have stored the key after that miss. So chance decides, once for all
 * shadows: such a key is stored as often as the program stores what it has missed.
 *
 * A key removed by a call is gone from all shadows alike: its next miss speaks against none. */
#pragma once

#include "lrd_shadow.h"

#pragma clang assume_nonnull begin

typedef enum lrd_heard {
  LRD_HEARD_HIT,
  LRD_HEARD_MISS,
  LRD_HEARD_LOAD,
  LRD_HEARD_STORE,
  LRD_HEARD_FILL,
  LRD_HEARD_REMOVAL,
} lrd_heard;

typedef struct lrd_probe {
  uint64_t mixed;         // the mixed hash of the key
  lrd_shadow_set lacking; // the shadows that are still to store it
  bool begun;             // all have been asked for the key
  uint8_t heard;          // lrd_heard
  uint8_t hits;           // HIT: how many lookups have found the key, at least 1
  uint8_t absent;         // the lookups that missed in shadows
  uint8_t demand;         // lrd_demand
  bool keeps;             // entries that age keep their hits
  bool loads; // HIT: shadows that miss store the key. STORE: its ghost counts, see lrd_advisor.h
} lrd_probe;

/// True for a lookup that the cache itself missed.
static inline bool lrd_probe_is_miss(const lrd_probe *probe) {
  return probe->heard == LRD_HEARD_MISS || probe->heard == LRD_HEARD_LOAD;
}

/// True when the shadows have nothing more to do with it.
static inline bool lrd_probe_is_over(const lrd_probe *probe) {
  return probe->begun && !probe->lacking;
}

/// A probe as the shadows see it: the table above.
typedef struct lrd_question {
  uint64_t mixed;
  uint32_t hits;   // that a shadow gets which has the key
  uint32_t misses; // of one that has it not
  bool stores;     // the latter stores it
  bool proves;     // a ghost of the key counts then
  bool removes;
  bool keeps;
  uint8_t demand;
} lrd_question;

static inline lrd_question lrd_probe_question(const lrd_probe *probe) {
  lrd_question question = {.mixed = probe->mixed, .hits = 1, .stores = true, .proves = true};
  question.demand = probe->demand;
  question.keeps = probe->keeps;
  switch ((lrd_heard)probe->heard) {
  case LRD_HEARD_HIT:
    question.hits = probe->hits;
    question.stores = probe->loads;
    question.misses = probe->loads ? 1 : probe->hits;
    break;
  case LRD_HEARD_MISS:
    question.stores = false;
    question.misses = 1;
    break;
  case LRD_HEARD_LOAD:
    question.misses = 1;
    break;
  case LRD_HEARD_STORE:
    question.proves = probe->loads;
    break;
  case LRD_HEARD_FILL:
    question.hits = 0;
    break;
  case LRD_HEARD_REMOVAL:
    question.removes = true;
    break;
  }
  return question;
}

/// Tells the shadows what happened. Returns those that have not the key. If the question stores it,
/// they are to be asked to, by lrd_question_store().
LRD_INLINE lrd_shadow_set lrd_question_ask(const lrd_question *question, lrd_shadows *shadows) {
  if (LRD_UNLIKELY(question->removes)) {
    lrd_shadows_remove(shadows, question->mixed);
    return 0;
  }
  return LRD_SHADOWS_ALL & ~lrd_shadows_use(shadows, question->mixed, question->hits);
}

/// Stores the key in these shadows, which have it not.
LRD_INLINE void lrd_question_store(const lrd_question *question, lrd_shadows *shadows,
                                   lrd_shadow_set set) {
  lrd_shadows_add(shadows, set, question->mixed, question->proves, (lrd_demand)question->demand,
                  question->keeps);
}

#pragma clang assume_nonnull end
