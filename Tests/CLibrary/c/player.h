/* SPDX-License-Identifier: Apache-2.0 */
/* player.h — a cache that plays one test vector, with names of keys and values, callbacks, records.
 *
 * In object mode a key is a pointer into `keys`, which key_retain copies. A value is a pointer into
 * `values`, which counts its retains less its releases. In byte mode value number n is the text
 * that value_bytes() of vectors.py makes of n. */
#ifndef PLAYER_H
#define PLAYER_H

#include <larder.h>
#include <stdbool.h>

enum { KEYS_MOST = 16, VALUES_MOST = 256, HANDS_MOST = 256, KEY_BYTES_MOST = 128 };

/* One removal that the observer was told of, or one line of a listing. */
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
  int values[VALUES_MOST]; /* how often each value was retained and not released */
  larder_value *hands[HANDS_MOST];
  int kept_keys;
  row rows[VALUES_MOST]; /* removals of a step, or a listing */
  int row_count;
  long long freed[VALUES_MOST]; /* values released in a step */
  int freed_count;
  _Atomic(bool) ended; /* the context was released, by any thread */
} player;

/* Creates the cache of a player that has its names. `config` has the numbers. The player adds its
 * callbacks and clock. */
void player_open(player *player, larder_config config);

/* Writes the text of a value in byte mode; returns its size. */
uint64_t player_text(long long number, char *text);

/* The number of a value in hand. Checks that the value is whole. */
long long player_number(const player *player, const larder_value *value);

/* A key, and the data of a value, as calls take them. `text` has room for 96 bytes. */
const void *player_key(const player *player, long long number);
const void *player_data(player *player, long long number, char *text, uint64_t *size);

/* Adds a row for a value in hand. */
void player_note(player *player, const larder_value *value, long long cause);

/* Sorts the rows by key and value, and the values that were freed. */
void player_sort(player *player);

#endif
