/* SPDX-License-Identifier: Apache-2.0 */
/* step.h — one step of a test vector, and those that are about time. */
#ifndef STEP_H
#define STEP_H

#include "player.h"

#include <jansson.h>

/* What a step says. */
typedef struct step {
  const char *name;
  long long a, value, cost, status, result;
  const json_t *listed, *gone, *freed;
  long long count, total;
} step;

bool step_is(const step *step, const char *name);

/* A lifetime of a vector. */
uint64_t step_nanoseconds(long long lifetime);

/* Plays a step of a timed vector; false for any other. */
bool step_play_timed(player *player, const step *step);

#endif
