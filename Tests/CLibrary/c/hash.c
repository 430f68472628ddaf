// SPDX-License-Identifier: Apache-2.0
/* hash.c — hash and comparison of byte strings. Keys that were written to collide do not collide,
 * every byte counts, and a key is not taken for another one that begins like it.
 *
 * Compiled with the library's private headers. */
#include "check.h"
#include "lrdc_key.h"

#include <stdbool.h>

enum { KEYS = 4096, LENGTH = 40 };

static uint64_t random_state = 1;

static uint64_t next(void) { /* SplitMix64 */
  uint64_t mixed = random_state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
  return mixed ^ mixed >> 31;
}

static int compare(const void *a, const void *b) {
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

static bool all_differ(uint64_t *hashes) {
  qsort(hashes, KEYS, sizeof *hashes, compare);
  for (int i = 1; i < KEYS; i++) {
    if (hashes[i] == hashes[i - 1]) return false;
  }
  return true;
}

/* Keys whose second lane repeats the first, whatever the seeds. In the core's hash of long ASCII
 * text the two lanes would cancel each other, and all these keys would collide. That hash never
 * gets such bytes. */
static void check_lanes(uint64_t seed0, uint64_t seed1) {
  static uint64_t hashes[KEYS], of_text[KEYS];
  for (int i = 0; i < KEYS; i++) {
    uint64_t words[LENGTH / 8] = {next(), next(), 0, 0, 0};
    words[2] = words[0] ^ LRD_HASH_LANE;
    words[3] = words[1];
    hashes[i] = lrdc_hash_bytes(words, LENGTH, seed0, seed1);
    of_text[i] = lrd_hash_bytes((const uint8_t *)words, LENGTH, seed0, seed1).hash;
  }
  CHECK(all_differ(hashes));
  CHECK(!all_differ(of_text)); /* otherwise these keys attack nothing, and the test is void */
}

/* Changing any one bit, or the length, changes the hash and the comparison. */
static void check_every_byte(uint64_t seed0, uint64_t seed1) {
  unsigned char a[100], b[100];
  for (size_t length = 0; length <= 100; length++) {
    for (size_t i = 0; i < length; i++) a[i] = b[i] = (unsigned char)next();
    uint64_t hash = lrdc_hash_bytes(a, length, seed0, seed1);
    CHECK(lrdc_hash_bytes(b, length, seed0, seed1) == hash && lrd_same_bytes(a, b, length));
    for (size_t i = 0; i < length; i++) {
      b[i] ^= (unsigned char)(1u << next() % 8);
      CHECK(lrdc_hash_bytes(b, length, seed0, seed1) != hash && !lrd_same_bytes(a, b, length));
      b[i] = a[i];
    }
    for (size_t shorter = 0; shorter < length; shorter++) {
      CHECK(lrdc_hash_bytes(a, shorter, seed0, seed1) != hash);
    }
    CHECK(lrdc_hash_bytes(a, length, seed0 ^ 2, seed1) != hash);
  }
}

/* No key matches a longer or shorter one, whatever their hashes. */
static void check_prefixes(void) {
  enum { LONGEST = 100 };
  static const larder_cache cache = {.objects = false};
  static const char bytes[LONGEST] = {0};
  larder_value *value = calloc(1, sizeof *value + LONGEST);
  CHECK(value);
  for (uint32_t stored = 0; stored <= LONGEST; stored++) {
    value->key_size = stored;
    for (uint32_t asked = 0; asked <= LONGEST; asked++) {
      const lrdc_key key = {.data = bytes, .size = asked};
      CHECK(lrdc_key_matches(&cache, &key, value) == (stored == asked));
    }
  }
  free(value);
}

int main(void) {
  check_prefixes();
  for (int i = 0; i < 8; i++) {
    uint64_t seed0 = lrd_hash_seed0(next()), seed1 = lrd_hash_seed1(next());
    check_lanes(seed0, seed1);
    check_every_byte(seed0, seed1);
  }
  printf("Byte strings hash well.\n");
}
