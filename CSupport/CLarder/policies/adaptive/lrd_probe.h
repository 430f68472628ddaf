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
  uint64_t mixed; // the mixed hash of the key
  uint8_t heard;  // lrd_heard
  uint8_t next;   // the shadow to ask next; LRD_EXPERTS when all were asked
  uint8_t hits;   // HIT: how many lookups have found the key, at least 1
  uint8_t absent; // the misses in the shadows asked
  uint8_t demand; // lrd_demand
  bool loads; // HIT: shadows that miss store the key. STORE: its ghost counts, see lrd_advisor.h
} lrd_probe;

/// Takes a probe through one shadow. Returns the lookups that missed there.
static inline uint32_t lrd_probe_ask(const lrd_probe *probe, lrd_shadow *shadow) {
  uint64_t mixed = probe->mixed;
  uint32_t missed = 0;
  bool stores = false;
  switch ((lrd_heard)probe->heard) {
  case LRD_HEARD_HIT:
    if (lrd_shadow_use(shadow, mixed, probe->hits)) break;
    stores = probe->loads;
    missed = stores ? 1 : probe->hits;
    break;
  case LRD_HEARD_MISS:
    missed = !lrd_shadow_use(shadow, mixed, 1);
    break;
  case LRD_HEARD_LOAD:
    stores = !lrd_shadow_use(shadow, mixed, 1);
    missed = stores;
    break;
  case LRD_HEARD_STORE:
    stores = !lrd_shadow_use(shadow, mixed, 1);
    break;
  case LRD_HEARD_FILL:
    stores = !lrd_shadow_holds(shadow, mixed);
    break;
  case LRD_HEARD_REMOVAL:
    lrd_shadow_remove(shadow, mixed);
    break;
  }
  bool asked = probe->heard != LRD_HEARD_STORE || probe->loads;
  if (stores) lrd_shadow_add(shadow, mixed, asked, (lrd_demand)probe->demand);
  return missed;
}

#pragma clang assume_nonnull end
