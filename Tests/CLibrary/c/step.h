/* SPDX-License-Identifier: Apache-2.0 */
/* step.h — a step of a test vector, and how the steps about time are played. */
#ifndef STEP_H
#define STEP_H

#include "player.h"

#include <jansson.h>

/* The contents of a step. */
typedef struct step {
  const char *name;
  long long a, value, cost, status, result;
  const json_t *listed, *gone, *freed;
  long long count, total;
} step;

bool step_is(const step *step, const char *name);

/* Reads a lifetime of a vector. */
uint64_t step_nanoseconds(long long lifetime);

/* Plays a step about time. False if it is another step. */
bool step_play_timed(player *player, const step *step);

#endif
