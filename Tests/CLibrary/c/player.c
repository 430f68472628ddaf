// SPDX-License-Identifier: Apache-2.0
#include "player.h"

#include "check.h"

#include <string.h>

uint64_t player_text(long long number, char *text) {
  int size = sprintf(text, "%lld:", number);
  int tail = (int)(number * 7 % 61);
  memset(text + size, 'v', (size_t)tail);
  return (uint64_t)(size + tail);
}

long long player_number(const player *player, const larder_value *value) {
  const void *data;
  uint64_t size;
  CHECK(larder_value_data(value, &data, &size) == LARDER_OK);
  if (player->objects) {
    long long number = (const int *)data - player->values;
    CHECK(number >= 0 && number < VALUES_MOST && size == (uint64_t)number);
    CHECK(player->values[number] == 1);
    return number;
  }
  CHECK((uintptr_t)data % 16 == 0);
  char head[24] = {0}, text[96];
  memcpy(head, data, size < 20 ? size : 20);
  long long number = atoll(head);
  CHECK(player_text(number, text) == size && memcmp(text, data, size) == 0);
  return number;
}

const void *player_key(const player *player, long long number) {
  const key *key = &player->keys[number];
  return player->objects ? (const void *)key : key->bytes;
}

const void *player_data(player *player, long long number, char *text, uint64_t *size) {
  *size = player->objects ? (uint64_t)number : player_text(number, text);
  return player->objects ? (const void *)&player->values[number] : text;
}

static long long key_number(const player *player, const void *data, uint64_t size) {
  if (player->objects) return ((const key *)data)->number;
  for (int i = 0; i < player->key_count; i++) {
    const key *key = &player->keys[i];
    if (key->size == size && memcmp(key->bytes, data, size) == 0) return i;
  }
  CHECK(false && "a key that was never stored");
  return -1;
}

void player_note(player *player, const larder_value *value, long long cause) {
  const void *key;
  uint64_t size, cost;
  CHECK(larder_value_key(value, &key, &size) == LARDER_OK);
  CHECK(larder_value_cost(value, &cost) == LARDER_OK);
  CHECK(player->row_count < VALUES_MOST);
  player->rows[player->row_count++] = (row){.key = key_number(player, key, size),
                                            .value = player_number(player, value),
                                            .cost = (long long)cost,
                                            .cause = cause};
}

static int compare_rows(const void *a, const void *b) {
  const row *left = a, *right = b;
  if (left->key != right->key) return left->key < right->key ? -1 : 1;
  return (left->value > right->value) - (left->value < right->value);
}

static int compare_numbers(const void *a, const void *b) {
  const long long *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

void player_sort(player *player) {
  qsort(player->rows, (size_t)player->row_count, sizeof(row), compare_rows);
  qsort(player->freed, (size_t)player->freed_count, sizeof(long long), compare_numbers);
}

static uint64_t hash(void *context, const void *data, uint64_t size) {
  const player *player = context;
  const key *key = data;
  CHECK(key->size == size);
  if (player->collide) return (uint64_t)(key->number % player->collide);
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (uint64_t i = 0; i < size; i++) hash = (hash ^ key->bytes[i]) * 0x100000001b3u;
  return hash;
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context;
  return a_size == b_size && memcmp(((const key *)a)->bytes, ((const key *)b)->bytes, a_size) == 0;
}

static int32_t key_retain(void *context, const void *data, uint64_t size, const void **kept) {
  (void)size;
  key *copy = malloc(sizeof *copy);
  if (!copy) return 1;
  *copy = *(const key *)data;
  ((player *)context)->kept_keys++;
  *kept = copy;
  return 0;
}

static void key_release(void *context, const void *kept, uint64_t size) {
  CHECK(((const key *)kept)->size == size);
  ((player *)context)->kept_keys--;
  free((void *)(uintptr_t)kept);
}

static void value_retain(void *context, const void *value, uint64_t size) {
  player *player = context;
  CHECK(player->values[size]++ == 0 && value == &player->values[size]);
}

static void value_release(void *context, const void *value, uint64_t size) {
  player *player = context;
  CHECK(--player->values[size] == 0 && value == &player->values[size]);
  player->freed[player->freed_count++] = (long long)size;
}

static void removed(void *context, larder_value *value, int32_t cause) {
  player_note(context, value, cause);
}

static void context_release(void *context) {
  player *player = context;
  CHECK(!player->ended);
  player->ended = true;
}

void player_open(player *player, larder_config config) {
  config.clock = player->clock;
  config.shards = 1; /* one order, as the model's */
  config.context = player;
  config.removed = removed;
  config.context_release = context_release;
  if (player->objects) {
    config.mode = LARDER_OBJECTS;
    config.hash = hash;
    config.equal = equal;
    config.key_retain = key_retain;
    config.key_release = key_release;
    config.value_retain = value_retain;
    config.value_release = value_release;
  }
  CHECK(larder_create(&config, &player->cache) == LARDER_OK);
}
