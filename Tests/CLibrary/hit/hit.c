// SPDX-License-Identifier: Apache-2.0
/* hit.c — the twin of main.swift on larder.h: 16-byte keys, larder_read() of 64 bytes.
 *
 *     hit ENTRIES LOOKUPS SAMPLES */
#include "../c/check.h"

#include <larder.h>
#include <string.h>
#include <time.h>

enum { KEY = 16, SAMPLES_MOST = 101 };

static long long nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void text(char *key, unsigned long number) {
  char digits[32];
  snprintf(digits, sizeof digits, "key-%012lu", number);
  memcpy(key, digits, KEY);
}

__attribute__((noinline)) static void look_up(larder_cache *cache, const char *keys, long lookups,
                                              uint64_t *value) {
  for (long i = 0; i < lookups; i++) {
    uint64_t size;
    CHECK(larder_read(cache, keys + i * KEY, KEY, value, 64, &size) == LARDER_OK && size == 64);
  }
}

static int compare(const void *a, const void *b) {
  const long long *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

int main(int argc, char **argv) {
  CHECK(argc == 4);
  unsigned long entries = strtoul(argv[1], NULL, 10);
  long lookups = atol(argv[2]), samples = atol(argv[3]);
  CHECK(samples > 0 && samples <= SAMPLES_MOST);
  larder_config config = LARDER_CONFIG_INIT;
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  uint64_t value[8], state = 88172645463325252u, last = 0;
  for (unsigned long number = 0; number < entries; number++) {
    char key[KEY];
    text(key, number);
    for (int i = 0; i < 8; i++) value[i] = number;
    CHECK(larder_set(cache, key, KEY, value, sizeof value, 0, NULL) == LARDER_OK);
  }
  char *keys = malloc((size_t)lookups * KEY);
  CHECK(keys);
  for (long i = 0; i < lookups; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text(keys + i * KEY, last = state % entries);
  }
  long long cpu[SAMPLES_MOST], wall[SAMPLES_MOST];
  for (long sample = 0; sample < samples; sample++) {
    wall[sample] = nanoseconds(CLOCK_MONOTONIC);
    cpu[sample] = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    look_up(cache, keys, lookups, value);
    cpu[sample] = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu[sample];
    wall[sample] = nanoseconds(CLOCK_MONOTONIC) - wall[sample];
  }
  CHECK(value[7] == last);
  qsort(cpu, (size_t)samples, sizeof *cpu, compare);
  qsort(wall, (size_t)samples, sizeof *wall, compare);
  printf("%f %f\n", (double)cpu[samples / 2] / (double)lookups,
         (double)wall[samples / 2] / (double)lookups);
  free(keys);
  larder_destroy(cache);
}
