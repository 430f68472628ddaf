/* SPDX-License-Identifier: Apache-2.0 */
/* expiry.c — compares the lifetimes of larder.h with a model that keeps the deadline of each key.
 * It does so with every policy, on a clock that is moved by hand, in two kinds of caches: those
 * made for lifetimes, and those that are given their first lifetime while in use.
 *
 *     expiry STEPS */
#include "check.h"

#include <larder.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 24, CAUSES = 6 };

/* The resolution of the library's deadlines. Multiples of it are kept exactly. */
static const uint64_t unit = 4096;

typedef struct modelled {
  bool stored;  /* false as soon as the library tells that the value has left */
  uint64_t own; /* the lifetime that the value was given; 0: that of the cache */
  uint64_t written, used, hard, low, high;
  uint64_t number;
} modelled;

/* The value of a key is found while `now` < `low`, and not found once `now` >= `high`. In between
 * either is right: a hit that follows another one soon need not extend the lifetime. */
typedef struct player {
  larder_cache *cache;
  larder_clock *clock;
  uint64_t now, after_write, after_access;
  modelled keys[KEYS];
  uint64_t gone[CAUSES];
  uint64_t stores;
  bool timed; /* the cache was made for lifetimes, or was given one later */
} player;

static uint64_t state = 88172645463325252u;

static uint64_t draw(uint64_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (state * UINT64_C(0x2545f4914f6cdd1d) >> 11) % bound;
}

static uint64_t after(uint64_t moment, uint64_t lifetime) {
  if (!lifetime || lifetime == LARDER_NEVER || moment == LARDER_NEVER) return LARDER_NEVER;
  return moment + lifetime;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* A use of a key. */
static void use(player *player, modelled *key) {
  uint64_t soft = after(player->now, player->after_access);
  key->used = player->now;
  uint64_t slack = player->after_access / 64 + unit;
  key->low = least(key->hard, soft == LARDER_NEVER ? soft : soft - slack);
  key->high = least(key->hard, soft);
}

/* The cache is given its first lifetime. It does not know when the present values were stored. */
static void turn(player *player) {
  for (int i = 0; i < KEYS && !player->timed; i++) {
    player->keys[i].written = player->keys[i].used = player->now;
  }
  player->timed = true;
}

static void begin(player *player, modelled *key, uint64_t own) {
  key->own = own;
  key->written = player->now;
  key->hard = after(player->now, own ? own : player->after_write);
  use(player, key);
  uint64_t soft = after(player->now, player->after_access);
  key->low = least(key->hard, soft);
}

static void removed(void *context, larder_value *value, int32_t cause) {
  player *player = context;
  const void *data;
  uint64_t size;
  CHECK(larder_value_key(value, &data, &size) == LARDER_OK && size == 1);
  modelled *key = &player->keys[*(const unsigned char *)data];
  CHECK(larder_value_data(value, &data, &size) == LARDER_OK && size == sizeof key->number);
  CHECK(cause > 0 && cause < CAUSES);
  player->gone[cause]++;
  /* Nothing expires early. */
  if (cause == LARDER_CAUSE_EXPIRED && memcmp(data, &key->number, size) == 0) {
    CHECK(key->stored && player->now >= key->low);
    key->stored = false;
  }
}

/* Compares the answer whether the key has a value with the model. */
static bool agrees(player *player, modelled *key, bool found) {
  if (!key->stored || player->now >= key->high) return !found;
  return found || player->now >= key->low;
}

static void look(player *player, unsigned char name, uint64_t kind) {
  modelled *key = &player->keys[name];
  larder_status status;
  if (kind == 0) {
    status = larder_contains(player->cache, &name, 1);
  } else if (kind == 1) {
    uint64_t number = 0, size;
    status = larder_read(player->cache, &name, 1, &number, sizeof number, &size);
    CHECK(status != LARDER_OK || number == key->number);
  } else {
    larder_value *value;
    const void *data = NULL;
    status = (kind == 2 ? larder_peek : larder_get)(player->cache, &name, 1, &value);
    if (value) larder_value_data(value, &data, NULL);
    CHECK(!data || memcmp(data, &key->number, sizeof key->number) == 0);
    if (value) larder_value_release(value);
  }
  CHECK(agrees(player, key, status == LARDER_OK));
  if (status == LARDER_OK && kind % 2 == 1) use(player, key);
}

static void store(player *player, unsigned char name, uint64_t kind, uint64_t own) {
  modelled *key = &player->keys[name], before = *key;
  uint64_t number = ++player->stores;
  larder_value *old = NULL;
  uint64_t expired = player->gone[LARDER_CAUSE_EXPIRED];
  larder_status status;
  if (kind == 0) {
    status = larder_set(player->cache, &name, 1, &number, sizeof number, 1, &old);
  } else if (kind == 1) {
    status = larder_replace(player->cache, &name, 1, &number, sizeof number, 1, &old);
  } else {
    turn(player);
    status = larder_set_for(player->cache, &name, 1, &number, sizeof number, 1, own, &old);
  }
  if (old) {
    const void *data;
    CHECK(larder_value_data(old, &data, NULL) == LARDER_OK);
    CHECK(memcmp(data, &before.number, sizeof number) == 0);
    CHECK(larder_value_release(old) == LARDER_OK);
  }
  if (kind == 2 && !own) {
    CHECK(status == LARDER_EXPIRED && agrees(player, &before, old));
    CHECK(old || !before.stored || player->gone[LARDER_CAUSE_EXPIRED] > expired);
    key->stored = false;
    return;
  }
  CHECK(status == LARDER_OK || status == (kind == 1 ? LARDER_NOT_FOUND : LARDER_REPLACED) ||
        status == LARDER_REPLACED);
  CHECK((old != NULL) == (status == LARDER_REPLACED));
  CHECK(agrees(player, &before, status == LARDER_REPLACED));
  if (kind == 1 && status != LARDER_REPLACED) return;
  key->stored = true;
  key->number = number;
  begin(player, key, kind == 2 ? own : 0);
}

static void take(player *player, unsigned char name) {
  modelled *key = &player->keys[name], before = *key;
  larder_value *old;
  larder_status status = larder_remove(player->cache, &name, 1, &old);
  CHECK((status == LARDER_OK) == (old != NULL) && agrees(player, &before, old));
  if (old) larder_value_release(old);
  key->stored = false;
}

static void ask(player *player, unsigned char name) {
  modelled *key = &player->keys[name];
  uint64_t left = 0;
  larder_status status = larder_get_lifetime(player->cache, &name, 1, &left);
  CHECK(agrees(player, key, status == LARDER_OK));
  if (status != LARDER_OK) return;
  uint64_t end = left == LARDER_NEVER ? left : player->now + left;
  CHECK(end >= key->low && end <= key->high);
}

static void renew(player *player, unsigned char name, uint64_t lifetime) {
  modelled *key = &player->keys[name], before = *key;
  turn(player);
  if (!lifetime) key->low = player->now;
  larder_status status = larder_set_lifetime(player->cache, &name, 1, lifetime);
  CHECK(agrees(player, &before, status != LARDER_NOT_FOUND));
  if (status == LARDER_NOT_FOUND) return;
  CHECK(status == (lifetime ? LARDER_OK : LARDER_EXPIRED));
  CHECK(lifetime || !key->stored);
  if (lifetime) begin(player, key, lifetime);
}

/* Gives the cache another rule. Values without a lifetime of their own follow it. What has expired
 * stays expired. */
static void change(player *player, uint64_t after_write, uint64_t after_access) {
  turn(player);
  for (int i = 0; i < KEYS; i++) {
    modelled *key = &player->keys[i];
    if (player->now >= key->high) continue;
    bool doubt = player->now >= key->low;
    /* The moment of storing is known to two ticks if the value had no end. */
    if (key->hard == LARDER_NEVER) key->written -= key->written % (2 * unit);
    /* The last use is known only if it was to end the value. Otherwise it counts as now. */
    if (after(key->used, player->after_access) >= key->hard) key->used = player->now;
    if (!key->own) key->hard = after(key->written, after_write);
    key->low = doubt ? 0 : least(key->hard, after(key->written, after_access));
    key->high = least(key->hard, after(key->used, after_access));
  }
  player->after_write = after_write;
  player->after_access = after_access;
  CHECK(larder_set_expiration(player->cache, after_write, after_access, 0) == LARDER_OK);
}

static int32_t count_listed(void *context, larder_value *value) {
  (void)value;
  ++*(uint64_t *)context;
  return 0;
}

static void list(player *player) {
  uint64_t listed = 0, surely = 0, maybe = 0;
  CHECK(larder_iterate(player->cache, LARDER_HOTTEST_FIRST, count_listed, &listed) == LARDER_OK);
  for (int i = 0; i < KEYS; i++) {
    surely += player->keys[i].stored && player->now < player->keys[i].low;
    maybe += player->keys[i].stored && player->now < player->keys[i].high;
  }
  CHECK(listed >= surely && listed <= maybe);
}

static void sweep(player *player) {
  uint64_t before = player->gone[LARDER_CAUSE_EXPIRED], told, count, live = 0;
  CHECK(larder_remove_expired(player->cache, &told) == LARDER_OK);
  CHECK(player->gone[LARDER_CAUSE_EXPIRED] - before == told);
  CHECK(larder_get_count(player->cache, &count) == LARDER_OK);
  for (int i = 0; i < KEYS; i++) {
    live += player->keys[i].stored;
    CHECK(!player->keys[i].stored || player->now < player->keys[i].high);
  }
  CHECK(count == live);
}

static uint64_t draw_lifetime(void) {
  static const uint64_t most[] = {1, 40, 2000, 1u << 20, UINT64_C(1) << 40};
  switch (draw(12)) {
  case 0:
    return 0;
  case 1:
    return LARDER_NEVER;
  default:
    return (1 + draw(most[draw(5)])) * unit;
  }
}

static void step(player *player) {
  unsigned char name = (unsigned char)draw(KEYS);
  uint64_t kind = draw(40);
  if (kind < 14) {
    look(player, name, draw(4));
  } else if (kind < 24) {
    store(player, name, draw(3), draw_lifetime());
  } else if (kind < 26) {
    take(player, name);
  } else if (kind < 29) {
    ask(player, name);
  } else if (kind < 32) {
    renew(player, name, draw_lifetime());
  } else if (kind < 38) {
    uint64_t more = draw(8) ? draw(2000) * unit : draw(UINT64_C(1) << 40) * unit;
    CHECK(larder_clock_advance(player->clock, more) == LARDER_OK);
    player->now += more;
  } else if (kind == 38) {
    list(player);
  } else if (draw(3)) {
    sweep(player);
  } else {
    change(player, draw(2) * draw(3000) * unit, draw(2) * draw(3000) * unit);
  }
}

static void play(uint32_t policy, bool made, bool costed, uint64_t steps) {
  static player player;
  memset(&player, 0, sizeof player);
  CHECK(larder_clock_create(&player.clock) == LARDER_OK);
  larder_config config = LARDER_CONFIG_INIT;
  config.policy = policy;
  config.count_limit = LARDER_LIMIT_MOST;
  config.cost_limit = costed ? LARDER_LIMIT_MOST : 0;
  config.expires = player.timed = made;
  config.context = &player;
  config.removed = removed;
  config.clock = player.clock;
  CHECK(larder_create(&config, &player.cache) == LARDER_OK);
  /* Less than half of the clock's range: at its end the clock would stop. */
  for (uint64_t i = 0; i < steps && player.now < UINT64_C(1) << 61; i++) step(&player);
  sweep(&player);
  larder_statistics statistics = {.size = sizeof statistics};
  CHECK(larder_get_statistics(player.cache, &statistics) == LARDER_OK);
  CHECK(statistics.expirations == player.gone[LARDER_CAUSE_EXPIRED]);
  CHECK(statistics.removals == player.gone[LARDER_CAUSE_REMOVED]);
  CHECK(statistics.expirations && !player.gone[LARDER_CAUSE_LIMIT]);
  /* The cache keeps the clock. */
  CHECK(larder_clock_release(player.clock) == LARDER_OK);
  CHECK(larder_contains(player.cache, "", 1) != LARDER_FOREIGN);
  CHECK(larder_destroy(player.cache) == LARDER_OK);
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  uint64_t steps = strtoull(arguments[1], NULL, 10);
  for (uint32_t policy = LARDER_DEFAULT; policy <= LARDER_ADAPTIVE; policy++) {
    if (larder_supports_policy(policy) != LARDER_OK) continue;
    play(policy, true, true, steps);
    for (int i = 0; i < 20; i++) play(policy, false, true, steps / 20);
    bool by_cost = policy == LARDER_CHEAPEST_FIRST || policy == LARDER_COST_AWARE;
    for (int i = 0; i < 20 && !by_cost; i++) play(policy, false, false, steps / 20);
  }
  return 0;
}
