// SPDX-License-Identifier: Apache-2.0
/* lrd_probe.h — a probe: what happened to one sampled key, for the shadows to hear of.
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
  uint64_t mixed; // the mixed hash of the key
  uint8_t heard;  // lrd_heard
  uint8_t hits;   // HIT: how many lookups have found the key, at least 1
  uint8_t demand; // lrd_demand
  bool keeps;     // entries that age keep their hits
  bool stores;    // HIT: shadows that miss store the key
  bool proves;    // STORE: a ghost of the key counts, see lrd_advisor.h
} lrd_probe;

/// True for a lookup that the cache itself missed.
static inline bool lrd_probe_is_miss(const lrd_probe *probe) {
  return probe->heard == LRD_HEARD_MISS || probe->heard == LRD_HEARD_LOAD;
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
    question.stores = probe->stores;
    question.misses = probe->stores ? 1 : probe->hits;
    break;
  case LRD_HEARD_MISS:
    question.stores = false;
    question.misses = 1;
    break;
  case LRD_HEARD_LOAD:
    question.misses = 1;
    break;
  case LRD_HEARD_STORE:
    question.proves = probe->proves;
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

/// Tells the shadows what happened. Returns those that did not have the key.
LRD_INLINE lrd_shadow_set lrd_question_ask(const lrd_question *question, lrd_shadows *shadows) {
  uint64_t mixed = question->mixed;
  if (LRD_UNLIKELY(question->removes)) {
    lrd_shadows_remove(shadows, mixed);
    return 0;
  }
  lrd_shadow_set lacking = LRD_SHADOWS_ALL & ~lrd_shadows_use(shadows, mixed, question->hits);
  if (lacking && question->stores) {
    lrd_demand demand = (lrd_demand)question->demand;
    lrd_shadows_add(shadows, lacking, mixed, question->proves, demand, question->keeps);
  }
  return lacking;
}

#pragma clang assume_nonnull end
