// SPDX-License-Identifier: Apache-2.0
/* fuzz.c — libFuzzer plays calls on one cache and compares it with the model of fuzz_model.h.
 *
 * The input names a cache, calls, the allocations that fail, and the calls that callbacks make to
 * the same cache. The limits must hold whenever no call is lowering one, inside callbacks as well.
 *
 * Compiled together with the library's sources, so that it can make their allocations fail. */
#include "fuzz_model.h"

#include <pthread.h>
#include <sched.h>

enum { HANDS = 8, DEPTH_MOST = 3 };

void lrd_alloc_fail_after(int64_t successes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *input, *input_end;
static larder_value *hands[HANDS];
static uint64_t collide;
static int depth;
static pthread_t player;
static _Atomic(int) kept_keys;
static atomic_bool ended;

static uint8_t next_byte(void) {
  return input < input_end ? *input++ : 0;
}

static uint64_t next_cost(void) {
  static const uint64_t costs[] = {0, 0, 0, 0, 1, 3, 9, 30, LARDER_COST_DEFAULT, LARDER_LIMIT_MOST};
  return costs[next_byte() % 10];
}

static void take_in_hand(larder_value *found) {
  larder_value **hand = &hands[next_byte() % HANDS];
  larder_value *former = *hand;
  *hand = found;
  if (former) CHECK(larder_value_release(former) == LARDER_OK);
}

static void store(bool only_present) {
  uint64_t key = next_byte() % KEYS, cost = next_cost(), place = value_count;
  if (place == VALUES) return;
  value_count++;
  value *offered = &values[place];
  offered->key = key;
  offered->cost = cost == LARDER_COST_DEFAULT ? default_cost() : cost;
  larder_value *old = NULL, **wanted = next_byte() % 2 ? &old : NULL;
  larder_status status = (only_present ? larder_replace : larder_set)(cache, "key", key + 1,
                                                                      "value", place, cost, wanted);
  CHECK(status == LARDER_OK || status == LARDER_REPLACED || status == LARDER_TOO_COSTLY ||
        status == LARDER_OUT_OF_MEMORY || (only_present && status == LARDER_NOT_FOUND));
  offered->taken = status == LARDER_OK || status == LARDER_REPLACED;
  CHECK(offered->taken || !offered->removed);
  count_stored(status);
  if (wanted && status == LARDER_REPLACED) CHECK(old);
  if (!old) return;
  const value *before = &values[number_of(old)];
  CHECK(before->removed && before->key == key);
  take_in_hand(old);
}

static void set(void) {
  store(false);
}

static void replace(void) {
  store(true);
}

static void look_up(void) {
  uint64_t key = next_byte() % KEYS;
  larder_value *found;
  larder_status status = larder_get(cache, "key", key + 1, &found);
  CHECK(status == LARDER_OK || (status == LARDER_NOT_FOUND && !found));
  counted.hits += status == LARDER_OK;
  counted.misses += status != LARDER_OK;
  if (status != LARDER_OK) return;
  CHECK(values[number_of(found)].key == key);
  take_in_hand(found);
}

static void remove_one(void) {
  uint64_t key = next_byte() % KEYS;
  larder_value *old;
  larder_status status = larder_remove(cache, "key", key + 1, &old);
  CHECK(status == LARDER_OK || (status == LARDER_NOT_FOUND && !old));
  if (!old) return;
  CHECK(values[number_of(old)].key == key && values[number_of(old)].removed);
  take_in_hand(old);
}

static void step(void);

static int32_t visit(void *context, larder_value *found) {
  CHECK(context == values);
  number_of(found);
  if (next_byte() % 8 == 1) step();
  return next_byte() % 16 == 1;
}

static void set_limit(void) {
  static const uint64_t limits[] = {0, 1, 3, 8, 20, 100};
  uint64_t limit = limits[next_byte() % 6];
  lowering++;
  larder_status status =
      next_byte() % 2 ? larder_set_count_limit(cache, limit) : larder_set_cost_limit(cache, limit);
  lowering--;
  CHECK(status == LARDER_OK || (status == LARDER_BAD_ARGUMENT && !limit));
}

static void walk(void) {
  larder_status status = larder_iterate(cache, next_byte() % 2, visit, values);
  CHECK(status == LARDER_OK || status == LARDER_STOPPED || status == LARDER_OUT_OF_MEMORY);
}

static void trim(void) {
  uint64_t most = next_byte() % 32;
  bool counts = next_byte() % 2;
  CHECK((counts ? larder_trim_to_count : larder_trim_to_cost)(cache, most) == LARDER_OK);
}

static void tidy(void) {
  bool empties = next_byte() % 4 == 1;
  CHECK((empties ? larder_remove_all : larder_reclaim)(cache) == LARDER_OK);
}

static void (*const calls[])(void) = {set,  set,  set,  set,        set,       set,
                                      set,  set,  set,  replace,    look_up,   look_up,
                                      trim, walk, tidy, remove_one, set_limit, set_limit};
enum { CALLS = sizeof calls / sizeof *calls };

/* Plays one call of the input. Callbacks on the library's own thread play none. */
static void step(void) {
  if (depth == DEPTH_MOST || input == input_end || !pthread_equal(pthread_self(), player)) return;
  depth++;
  uint8_t call = next_byte();
  fails |= call >= 200;
  lrd_alloc_fail_after(call < 200 ? -1 : call % 8);
  calls[call % CALLS]();
  lrd_alloc_fail_after(-1);
  check_limits();
  depth--;
}

static uint64_t hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)key;
  return size % collide;
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context, (void)a, (void)b;
  return a_size == b_size;
}

static int32_t key_retain(void *context, const void *key, uint64_t size, const void **kept) {
  (void)context, (void)size;

  *kept = key;
  kept_keys++;
  return 0;
}

static void key_release(void *context, const void *kept, uint64_t size) {
  (void)context, (void)kept, (void)size;
  kept_keys--;
}

static void value_retain(void *context, const void *data, uint64_t place) {
  (void)context, (void)data;
  values[place].retains++;
}

static void value_release(void *context, const void *data, uint64_t place) {
  (void)context, (void)data;
  values[place].releases++;
  if (cache && pthread_equal(pthread_self(), player) && next_byte() % 4 == 1) step();
}

static void removed(void *context, larder_value *gone, int32_t cause) {
  (void)context;
  value *reported = &values[number_of(gone)];
  CHECK(!reported->removed && cause >= 1 && cause <= 4);
  reported->removed = true;
  causes[cause]++;
  if (next_byte() % 2) step();
}

static void context_release(void *context) {
  (void)context;
  ended = true;
}

static void create(void) {
  static const uint64_t limits[] = {0, 1, 3, 10, 40};
  larder_config config = {.size = sizeof config,
                          .mode = LARDER_OBJECTS,
                          .hash = hash,
                          .equal = equal,
                          .key_retain = key_retain,
                          .key_release = key_release,
                          .value_retain = value_retain,
                          .value_release = value_release,
                          .removed = removed,
                          .context_release = context_release};
  config.policy = next_byte() % 13;
  config.shards = 1 + next_byte() % 4;
  config.count_limit = limits[next_byte() % 5];
  config.cost_limit = limits[next_byte() % 5];
  collide = 1 + next_byte() % 16;
  if (larder_create(&config, &cache) != LARDER_OK) cache = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  forget();
  input = data;
  input_end = data + size;
  player = pthread_self();
  ended = false;
  create(); /* may create none: not every policy exists, and some need a cost limit */
  if (!cache) return 0;
  while (input < input_end) {
    step();
    check_contents();
  }
  check_statistics();
  larder_cache *last = cache;
  cache = NULL;
  CHECK(larder_destroy(last) == LARDER_OK);
  for (int i = 0; i < HANDS; i++) {
    if (hands[i]) CHECK(larder_value_release(hands[i]) == LARDER_OK);
    hands[i] = NULL;
  }
  while (!ended) sched_yield();
  CHECK(kept_keys == 0);
  for (uint64_t i = 0; i < value_count; i++) CHECK(values[i].retains == values[i].releases);
  return 0;
}
