// SPDX-License-Identifier: Apache-2.0
/* lrd_level.h — how short memory is, by several sources; the highest of their levels counts. And
 * whether the program is in the app's background.
 *
 * FIELDS, all atomic and relaxed: what a walk does is under locks. Guard of the stores: `levels`, a
 * side lock. So whoever sets the last level stores the highest of all.
 *   level[]        the level of each source
 *   warned_until   when the program's word for a while ends
 *   current        the highest of the levels
 *   hidden         the program is in the app's background
 *   spells[]       how often a cause has ended */
#pragma once

#include "lrd_answer.h"

#pragma clang assume_nonnull begin

/// Who tells a level: the program, the program for a while, and the watcher.
typedef enum lrd_teller { LRD_REPORTED, LRD_WARNED, LRD_SENSED, LRD_TELLERS } lrd_teller;

/// Once, before the others.
void lrd_level_prepare(void);

/// Sets the level of one source. True when caches must hear of it: the level is not normal, or was
/// not until now.
bool lrd_level_set(lrd_teller teller, int level);

/// The same for LRD_WARNED, until a moment.
bool lrd_level_warn(int level, uint64_t until);

/// Ends the program's word for a while if that is over. True when it does.
bool lrd_level_lapse(uint64_t now);

/// When the program's word for a while ends; 0: there is none.
uint64_t lrd_level_end(void);

/// The highest of the levels.
int lrd_level_current(void);

/// In the child of fork(): nobody listens to the system.
void lrd_level_forget(void);

/// Notes that the program is in the app's background, or is not. True when that is new.
bool lrd_level_hide(bool hidden);
bool lrd_level_is_hidden(void);

/// The number of the time of pressure, or in the background, that lasts now or comes next.
uint64_t lrd_level_spell(int cause);

#pragma clang assume_nonnull end
