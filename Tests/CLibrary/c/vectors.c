// SPDX-License-Identifier: Apache-2.0
/* vectors.c — plays every vector of a file on larder.h. vectors.py describes their form.
 *
 *     vectors FILE [EVERY]     with EVERY, only each EVERY-th vector */
#include "check.h"
#include "step.h"
#include <string.h>
#include <unistd.h>

static long long at(const json_t *array, size_t index) {
  return json_integer_value(json_array_get(array, index));
}

static step step_read(const json_t *fields) {
  CHECK(json_array_size(fields) == 10);
  const json_t *result = json_array_get(fields, 5);
  return (step){.name = json_string_value(json_array_get(fields, 0)),
                .a = at(fields, 1),
                .value = at(fields, 2),
                .cost = at(fields, 3),
                .status = at(fields, 4),
                .result = json_integer_value(result),
                .listed = result,
                .gone = json_array_get(fields, 6),
                .freed = json_array_get(fields, 7),
                .count = at(fields, 8),
                .total = at(fields, 9)};
}

/* Checks that the player's rows equal those of `array`, which have three or four numbers. */
static bool rows_are(const player *player, const json_t *array) {
  if ((size_t)player->row_count != json_array_size(array)) return false;
  for (int i = 0; i < player->row_count; i++) {
    const json_t *fields = json_array_get(array, (size_t)i);
    const row *row = &player->rows[i];
    long long cause = json_array_size(fields) == 4 ? at(fields, 3) : 0;
    if (row->key != at(fields, 0) || row->value != at(fields, 1) || row->cost != at(fields, 2) ||
        row->cause != cause) {
      return false;
    }
  }
  return true;
}

static bool freed_are(const player *player, const json_t *array) {
  if ((size_t)player->freed_count != json_array_size(array)) return false;
  for (int i = 0; i < player->freed_count; i++) {
    if (player->freed[i] != at(array, (size_t)i)) return false;
  }
  return true;
}

/* The number of a value handed out, -1 for none. Releases it unless it goes into a hand. */
static long long take(player *player, larder_value *value, long long hand) {
  if (!value) return -1;
  long long number = player_number(player, value);
  if (hand < 0) {
    CHECK(larder_value_release(value) == LARDER_OK);
  } else {
    player->hands[hand] = value;
  }
  return number;
}

static void play_get(player *player, const step *step) {
  larder_value *value;
  const void *key = player_key(player, step->a);
  larder_status status = (step_is(step, "peek") ? larder_peek : larder_get)(
      player->cache, key, player->keys[step->a].size, &value);
  CHECK(status == step->status);
  CHECK(take(player, value, step_is(step, "pin") ? step->value : -1) == step->result);
}

static void play_read(player *player, const step *step) {
  char buffer[96], text[96];
  memset(buffer, '#', sizeof buffer);
  uint64_t size = 0, room = (uint64_t)step->cost;
  larder_status status = larder_read(player->cache, player_key(player, step->a),
                                     player->keys[step->a].size, buffer, room, &size);
  CHECK(status == step->status);
  if (status == LARDER_NOT_FOUND) return;
  CHECK(size == player_text(step->result, text));
  if (status == LARDER_OK) CHECK(memcmp(buffer, text, size) == 0);
  size_t copied = status == LARDER_OK ? size : 0;
  for (size_t i = copied; i < sizeof buffer; i++) CHECK(buffer[i] == '#');
}

static void play_store(player *player, const step *step) {
  char text[96];
  uint64_t size;
  const void *data = player_data(player, step->value, text, &size);
  larder_value *old = NULL;
  larder_status status = (step_is(step, "replace") ? larder_replace : larder_set)(
      player->cache, player_key(player, step->a), player->keys[step->a].size, data, size,
      step->cost < 0 ? LARDER_COST_DEFAULT : (uint64_t)step->cost,
      step_is(step, "set") ? NULL : &old);
  CHECK(status == step->status);
  CHECK(take(player, old, -1) == step->result);
}

static int32_t visit(void *context, larder_value *value) {
  player_note(context, value, 0);
  return 0;
}

static void play_list(player *player, int32_t order, const json_t *entries) {
  CHECK(larder_iterate(player->cache, order, visit, player) == LARDER_OK);
  CHECK(rows_are(player, entries));
  player->row_count = 0;
}

/* Plays the calls that answer with a status. */
static larder_status play_plain(player *player, const step *step) {
  larder_cache *cache = player->cache;
  uint64_t a = (uint64_t)step->a;
  if (step_is(step, "contains")) {
    return larder_contains(cache, player_key(player, step->a), player->keys[a].size);
  }
  if (step_is(step, "unpin")) {
    larder_value *value = player->hands[a];
    player->hands[a] = NULL;
    return larder_value_release(value);
  }
  if (step_is(step, "reclaim")) return larder_reclaim(cache);
  if (step_is(step, "report")) return larder_report_pressure((int32_t)a);
  if (step_is(step, "hide")) return larder_background(1);
  if (step_is(step, "show")) return larder_background(0);
  if (step_is(step, "remove_all")) return larder_remove_all(cache);
  if (step_is(step, "trim_count")) return larder_trim_to_count(cache, a);
  if (step_is(step, "trim_cost")) return larder_trim_to_cost(cache, a);
  if (step_is(step, "limit_count")) return larder_set_count_limit(cache, a);
  CHECK(step_is(step, "limit_cost"));
  return larder_set_cost_limit(cache, a);
}

static void play_remove(player *player, const step *step) {
  larder_value *old;
  larder_status status =
      larder_remove(player->cache, player_key(player, step->a), player->keys[step->a].size, &old);
  CHECK(status == step->status);
  CHECK(take(player, old, -1) == step->result);
}

static void play(player *player, const step *step) {
  if (step_is(step, "get") || step_is(step, "peek") || step_is(step, "pin")) {
    play_get(player, step);
  } else if (step_is(step, "read")) {
    play_read(player, step);
  } else if (step_is(step, "set") || step_is(step, "swap") || step_is(step, "replace")) {
    play_store(player, step);
  } else if (step_is(step, "remove")) {
    play_remove(player, step);
  } else if (step_is(step, "list")) {
    play_list(player, (int32_t)step->a, step->listed);
  } else if (step_is(step, "limits_in_force")) {
    uint64_t count, cost;
    const json_t *limits = json_array_get(step->listed, 0);
    CHECK(larder_get_effective_count_limit(player->cache, &count) == LARDER_OK);
    CHECK(larder_get_effective_cost_limit(player->cache, &cost) == LARDER_OK);
    CHECK(count == (uint64_t)at(limits, 0) && cost == (uint64_t)at(limits, 1));
  } else if (!step_play_timed(player, step)) {
    CHECK(play_plain(player, step) == step->status);
  }
}

static void check_step(player *player, const step *step) {
  player->row_count = player->freed_count = 0;
  play(player, step);
  player_sort(player);
  CHECK(rows_are(player, step->gone));
  if (player->objects) CHECK(freed_are(player, step->freed));
  uint64_t count, cost;
  CHECK(larder_get_count(player->cache, &count) == LARDER_OK && count == (uint64_t)step->count);
  CHECK(larder_get_cost(player->cache, &cost) == LARDER_OK && cost == (uint64_t)step->total);
}

static void check_statistics(player *player, const json_t *expected) {
  larder_statistics s = {.size = sizeof s};
  CHECK(larder_get_statistics(player->cache, &s) == LARDER_OK);
  uint64_t counters[] = {s.hits,
                         s.misses,
                         s.insertions,
                         s.replacements,
                         s.removals,
                         s.refusals,
                         s.count_evictions + s.cost_evictions,
                         s.trim_evictions,
                         s.expirations,
                         s.pressure_evictions};
  for (size_t i = 0; i < 10; i++) CHECK(counters[i] == (uint64_t)at(expected, i));
}

static void check_end(player *player, const json_t *vector) {
  player->row_count = player->freed_count = 0;
  play_list(player, LARDER_HOTTEST_FIRST, json_object_get(vector, "entries"));
  check_statistics(player, json_object_get(vector, "statistics"));
  CHECK(larder_destroy(player->cache) == LARDER_OK);
  player_sort(player);
  CHECK(player->row_count == 0);
  if (player->objects) CHECK(freed_are(player, json_object_get(vector, "destroyed")));
  player->freed_count = 0;
  for (int i = 0; i < HANDS_MOST; i++) {
    if (!player->hands[i]) continue;
    CHECK(!player->ended);
    player_number(player, player->hands[i]);
    CHECK(larder_value_release(player->hands[i]) == LARDER_OK);
  }
  player_sort(player);
  if (player->objects) CHECK(freed_are(player, json_object_get(vector, "late")));
  /* The background thread may still use a cache with lifetimes: the cache ends after that. */
  for (int i = 0; i < 60000 && player->clock && !player->ended; i++) usleep(1000);
  CHECK(player->ended && player->kept_keys == 0);
  CHECK(larder_report_pressure(LARDER_NORMAL) == LARDER_OK);
  CHECK(larder_background(0) == LARDER_OK);
  if (player->clock) CHECK(larder_clock_release(player->clock) == LARDER_OK);
}

static long long number_of(const json_t *object, const char *name) {
  return json_integer_value(json_object_get(object, name));
}

static void open_player(player *player, const json_t *vector) {
  memset(player, 0, sizeof *player);
  player->objects = number_of(vector, "mode") == LARDER_OBJECTS;
  player->collide = number_of(vector, "collide");
  const json_t *keys = json_object_get(vector, "keys");
  player->key_count = (int)json_array_size(keys);
  CHECK(player->key_count <= KEYS_MOST);
  for (int i = 0; i < player->key_count; i++) {
    const char *digits = json_string_value(json_array_get(keys, (size_t)i));
    key *key = &player->keys[i];
    key->number = i;
    key->size = strlen(digits) / 2;
    CHECK(key->size <= KEY_BYTES_MOST);
    for (uint64_t b = 0; b < key->size; b++) sscanf(digits + 2 * b, "%2hhx", &key->bytes[b]);
  }
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = (uint64_t)number_of(vector, "count_limit");
  config.cost_limit = (uint64_t)number_of(vector, "cost_limit");
  config.policy = (uint32_t)number_of(vector, "policy");
  if (json_object_get(vector, "expires")) {
    CHECK(larder_clock_create(&player->clock) == LARDER_OK);
    player->after_access = (uint64_t)number_of(vector, "after_access");
    config.expires = (uint32_t)number_of(vector, "expires");
    config.after_write = step_nanoseconds(number_of(vector, "after_write"));
    config.after_access = step_nanoseconds((long long)player->after_access);
  }
  player_open(player, config);
  const json_t *fractions = json_object_get(vector, "response");
  if (!fractions) return;
  larder_pressure_response response = LARDER_PRESSURE_RESPONSE_INIT;
  response.warning = json_number_value(json_array_get(fractions, 0));
  response.critical = json_number_value(json_array_get(fractions, 1));
  response.background = json_number_value(json_array_get(fractions, 2));
  response.minimum_count = (uint64_t)at(fractions, 3);
  CHECK(larder_listen(0) == LARDER_OK);
  CHECK(larder_set_pressure_response(player->cache, &response) == LARDER_OK);
}

static long number, step_number;
static bool done;

static void tell_place(void) {
  if (!done) fprintf(stderr, "in vector %ld, step %ld\n", number, step_number);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  atexit(tell_place);
  long every = argc > 2 ? atol(argv[2]) : 1;
  FILE *file = fopen(argv[1], "r");
  CHECK(file);
  static player player;
  long steps = 0, played = 0;
  for (json_t *vector; (vector = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)); number++) {
    if (number % every == 0) {
      played++;
      open_player(&player, vector);
      size_t index;
      json_t *fields;
      json_array_foreach(json_object_get(vector, "steps"), index, fields) {
        step step = step_read(fields);
        step_number = (long)index;
        check_step(&player, &step);
        steps++;
      }
      check_end(&player, vector);
    }
    json_decref(vector);
  }
  CHECK(feof(file) && number >= 3000);
  fclose(file);
  done = true;
  printf("%ld vectors, %ld steps agree.\n", played, steps);
}
