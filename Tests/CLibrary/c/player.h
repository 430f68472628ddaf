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
  larder_clock *clock; /* of timed vectors, NULL in others */
  uint64_t after_access;
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
  _Atomic(bool) ended; /* by any thread */
} player;

/* Opens the cache of a player whose names are filled in. `config` has the numbers; the player adds
 * its callbacks and clock. */
void player_open(player *player, larder_config config);

/* Writes the text of a value in byte mode; returns its size. */
uint64_t player_text(long long number, char *text);

/* The number of a value in hand, which is checked to be whole. */
long long player_number(const player *player, const larder_value *value);

/* A key as calls take it, and the data of a value: `text` has room for 96 bytes. */
const void *player_key(const player *player, long long number);
const void *player_data(player *player, long long number, char *text, uint64_t *size);

/* Adds a row for a value in hand. */
void player_note(player *player, const larder_value *value, long long cause);

/* Sorts rows by key and value, and what was freed. */
void player_sort(player *player);

#endif
