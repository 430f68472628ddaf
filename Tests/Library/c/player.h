/* SPDX-License-Identifier: Apache-2.0 */
/* player.h — a cache that plays one test vector: names of keys and values, callbacks, records.
 *
 * In object mode a key is a pointer into `keys`, copied by key_retain, and a value a pointer into
 * `values`, whose retains and releases are counted. In byte mode value number n is the text that
 * vectors.py's value_bytes() makes of n. */
#ifndef PLAYER_H
#define PLAYER_H

#include <larder.h>
#include <stdbool.h>

enum { KEYS_MOST = 16, VALUES_MOST = 256, HANDS_MOST = 256, KEY_BYTES_MOST = 128 };

/* One line of what the observer, or a listing, was told. */
typedef struct row {
  long long key, value, cost, cause;
} row;

typedef struct key {
  long long number;
  uint64_t size;
  unsigned char bytes[KEY_BYTES_MOST];
} key;

typedef struct player {
  larder_cache *cache;
  bool objects;
  long long collide;
  int key_count;
  key keys[KEYS_MOST];
  int values[VALUES_MOST]; /* retains that are not yet released */
  larder_value *hands[HANDS_MOST];
  int kept_keys;
  row rows[VALUES_MOST]; /* removals of a step, or a listing */
  int row_count;
  long long freed[VALUES_MOST]; /* values released in a step */
  int freed_count;
  bool ended;
} player;

/* Opens the cache of a player whose names are filled in. */
void player_open(player *player, uint32_t policy, uint64_t count_limit, uint64_t cost_limit);

/* Writes the text of a value in byte mode; returns its size. */
uint64_t player_text(long long number, char *text);

/* The number of a value in hand, which is checked to be whole. */
long long player_number(const player *player, const larder_value *value);

/* Adds a row for a value in hand. */
void player_note(player *player, const larder_value *value, long long cause);

/* Sorts rows by key and value, and what was freed. */
void player_sort(player *player);

#endif
