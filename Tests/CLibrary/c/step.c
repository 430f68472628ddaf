// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include "check.h"

#include <string.h>

bool step_is(const step *step, const char *name) {
  return strcmp(step->name, name) == 0;
}

/* The unit of lifetimes in vectors.py, and its number for a lifetime without end. */
static const uint64_t unit = 1024000000;
enum { NEVER = -2 };

uint64_t step_nanoseconds(long long lifetime) {
  return lifetime == NEVER ? LARDER_NEVER : (uint64_t)lifetime * unit;
}

/* Moves the clock and removes what has expired. */
static void play_advance(player *player, const step *step) {
  uint64_t count;
  CHECK(larder_clock_advance(player->clock, step_nanoseconds(step->a)) == LARDER_OK);
  CHECK(larder_remove_expired(player->cache, &count) == LARDER_OK);
  CHECK(count == (uint64_t)step->result);
}

static void play_life(player *player, const step *step) {
  uint64_t left = 0;
  larder_status status = larder_get_lifetime(player->cache, player_key(player, step->a),
                                             player->keys[step->a].size, &left);
  CHECK(status == step->status);
  if (status != LARDER_OK) return;
  /* The library may know the moment of storing to two ticks only. */
  long long units = left == LARDER_NEVER ? NEVER : (long long)((left + unit - 1) / unit);
  CHECK(units == step->result);
}

static void play_set_for(player *player, const step *step) {
  char text[96];
  uint64_t size;
  const void *data = player_data(player, step->value, text, &size);
  CHECK(larder_set_for(player->cache, player_key(player, step->a), player->keys[step->a].size, data,
                       size, LARDER_COST_DEFAULT, step_nanoseconds(step->cost),
                       NULL) == step->status);
}

static larder_status play_expiration(player *player, const step *step) {
  uint64_t count;
  larder_status status =
      larder_set_expiration(player->cache, step_nanoseconds(step->a),
                            step_nanoseconds((long long)player->after_access), 0);
  CHECK(larder_remove_expired(player->cache, &count) == LARDER_OK);
  return status;
}

static larder_status play_set_life(player *player, const step *step) {
  return larder_set_lifetime(player->cache, player_key(player, step->a), player->keys[step->a].size,
                             step_nanoseconds(step->cost));
}

bool step_play_timed(player *player, const step *step) {
  if (step_is(step, "advance")) {
    play_advance(player, step);
  } else if (step_is(step, "life")) {
    play_life(player, step);
  } else if (step_is(step, "set_for")) {
    play_set_for(player, step);
  } else if (step_is(step, "set_life")) {
    CHECK(play_set_life(player, step) == step->status);
  } else if (step_is(step, "expiration")) {
    CHECK(play_expiration(player, step) == step->status);
  } else {
    return false;
  }
  return true;
}
