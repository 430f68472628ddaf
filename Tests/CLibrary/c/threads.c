// SPDX-License-Identifier: Apache-2.0
/* threads.c — many threads on one cache. Every object is released exactly once, the limits hold
 * whenever a thread looks, and every value that is read is whole.
 *
 *     threads STEPS [fork]     steps by each of the threads, for each of the configurations; with
 *                              `fork` a child uses the cache, too, and loses what others held */
#include "check.h"

#include <larder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, KEYS = 400, LIMIT = 100, HANDS = 4 };

/* A value in object mode. */
typedef struct object {
  uint64_t key;
  _Atomic(int) releases;
  struct object *next; /* in the list of the thread that made it */
} object;

typedef struct worker {
  pthread_t thread;
  larder_cache *cache;
  bool objects;
  long steps;
  uint64_t random;
  object *made;
  larder_value *hands[HANDS];
} worker;

static _Atomic(long) made, released, told, keys_kept;

static uint64_t next(worker *worker) { /* xorshift64 */
  worker->random ^= worker->random << 13;
  worker->random ^= worker->random >> 7;
  worker->random ^= worker->random << 17;
  return worker->random;
}

static uint64_t hash(void *context, const void *key, uint64_t size) {
  (void)context, (void)key;
  return size % (KEYS / 2); /* each hash has two keys */
}

static int32_t equal(void *context, const void *a, uint64_t a_size, const void *b,
                     uint64_t b_size) {
  (void)context;
  return a_size == b_size && *(const uint64_t *)a == *(const uint64_t *)b;
}

static int32_t key_retain(void *context, const void *key, uint64_t size, const void **kept) {
  (void)context, (void)size;
  uint64_t *copy = malloc(sizeof *copy);
  if (!copy) return 1;
  *copy = *(const uint64_t *)key;
  *kept = copy;
  atomic_fetch_add(&keys_kept, 1);
  return 0;
}

static void key_release(void *context, const void *kept, uint64_t size) {
  (void)context, (void)size;
  free((void *)(uintptr_t)kept);
  atomic_fetch_sub(&keys_kept, 1);
}

static void value_release(void *context, const void *value, uint64_t size) {
  (void)context, (void)size;
  object *object = (struct object *)(uintptr_t)value;
  CHECK(atomic_fetch_add(&object->releases, 1) == 0);
  atomic_fetch_add(&released, 1);
}

/* Checks that a value in hand belongs to its key and is alive. */
static void check_value(const worker *worker, const larder_value *value) {
  const void *key, *data;
  uint64_t size;
  CHECK(larder_value_key(value, &key, NULL) == LARDER_OK);
  CHECK(larder_value_data(value, &data, &size) == LARDER_OK);
  uint64_t number = *(const uint64_t *)key;
  if (worker->objects) {
    const object *object = data;
    CHECK(object->key == number && atomic_load(&object->releases) == 0);
  } else {
    CHECK(size == 8 + number % 90);
    for (uint64_t i = 0; i < size; i++) CHECK(((const unsigned char *)data)[i] == number % 251);
  }
}

static void removed(void *context, larder_value *value, int32_t cause) {
  const worker any = {.objects = *(const bool *)context};
  CHECK(cause >= LARDER_CAUSE_LIMIT && cause <= LARDER_CAUSE_REMOVED);
  check_value(&any, value);
  atomic_fetch_add(&told, 1);
}

static int32_t visit(void *context, larder_value *value) {
  check_value(context, value);
  return 0;
}

static void store(worker *worker, uint64_t key, bool replace) {
  char bytes[100];
  const void *data = bytes;
  uint64_t size = 8 + key % 90;
  memset(bytes, (int)(key % 251), sizeof bytes);
  if (worker->objects) {
    object *object = calloc(1, sizeof *object);
    CHECK(object);
    *object = (struct object){.key = key, .next = worker->made};
    worker->made = object;
    atomic_fetch_add(&made, 1);
    data = object;
  }
  larder_value *old;
  larder_status status = (replace ? larder_replace : larder_set)(
      worker->cache, &key, worker->objects ? key : sizeof key, data, size, 1 + key % 3, &old);
  CHECK(status == LARDER_OK || status == LARDER_REPLACED || status == LARDER_NOT_FOUND);
  if (!old) return;
  check_value(worker, old);
  CHECK(larder_value_release(old) == LARDER_OK);
}

/* Releases the value in one hand, and takes the value of a key into it. */
static void hold(worker *worker, uint64_t key, uint64_t size) {
  larder_value **hand = &worker->hands[next(worker) % HANDS];
  if (*hand) {
    check_value(worker, *hand);
    CHECK(larder_value_release(*hand) == LARDER_OK);
  }
  larder_status status = larder_get(worker->cache, &key, size, hand);
  CHECK(status == (*hand ? LARDER_OK : LARDER_NOT_FOUND));
}

static void step(worker *worker) {
  larder_cache *cache = worker->cache;
  uint64_t key = next(worker) % KEYS, size = worker->objects ? key : sizeof key;
  uint64_t what = next(worker) % 100, number;
  char buffer[100];
  if (what < 30) {
    store(worker, key, what < 5);
  } else if (what < 60) {
    hold(worker, key, size);
  } else if (what < 90 && !worker->objects) {
    if (larder_read(cache, &key, size, buffer, sizeof buffer, &number) == LARDER_OK) {
      CHECK(number == 8 + key % 90 && (unsigned char)buffer[number - 1] == key % 251);
    }
  } else if (what < 96) {
    larder_value *old;
    larder_status status = larder_remove(cache, &key, size, &old);
    CHECK(status == (old ? LARDER_OK : LARDER_NOT_FOUND));
    if (old) larder_value_release(old);
  } else if (what < 98) {
    CHECK(larder_get_count(cache, &number) == LARDER_OK && number <= LIMIT);
    CHECK(larder_get_cost(cache, &number) == LARDER_OK && number <= 2 * LIMIT);
  } else if (key < 4) {
    CHECK(larder_remove_all(cache) == LARDER_OK);
  } else if (key < 40) {
    CHECK(larder_iterate(cache, (int32_t)(key % 2), visit, worker) == LARDER_OK);
  } else {
    CHECK(larder_trim_to_count(cache, LIMIT - key % 10) == LARDER_OK);
  }
}

static void *work(void *context) {
  worker *worker = context;
  for (long i = 0; i < worker->steps; i++) step(worker);
  return NULL;
}

/* The cache works in the child of a fork. */
static void check_fork(larder_cache *cache, bool objects) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    worker only = {.cache = cache, .objects = objects, .random = 5};
    for (int i = 0; i < 1000; i++) step(&only);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool all_released(void) {
  return atomic_load(&released) == atomic_load(&made) && atomic_load(&keys_kept) == 0;
}

static void run(uint32_t policy, bool objects, uint32_t shards, long steps, bool forks) {
  worker workers[THREADS];
  larder_config config = LARDER_CONFIG_INIT;
  config.count_limit = LIMIT;
  config.cost_limit = 2 * LIMIT;
  config.policy = policy;
  config.shards = shards;
  config.context = &objects;
  config.removed = removed;
  if (objects) {
    config.mode = LARDER_OBJECTS;
    config.hash = hash;
    config.equal = equal;
    config.key_retain = key_retain;
    config.key_release = key_release;
    config.value_release = value_release;
  }
  larder_cache *cache;
  CHECK(larder_create(&config, &cache) == LARDER_OK);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.cache = cache,
                          .objects = objects,
                          .steps = steps,
                          .random = (uint64_t)i * 77 + shards + 1};
    CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
  }
  if (forks) check_fork(cache, objects);
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
  // Half of the values in hand are released before the cache is destroyed, half after.
  for (int i = 0; i < THREADS; i++) {
    for (int k = 0; k < HANDS / 2; k++) {
      if (workers[i].hands[k]) larder_value_release(workers[i].hands[k]);
    }
  }
  CHECK(larder_reclaim(cache) == LARDER_OK);
  CHECK(larder_destroy(cache) == LARDER_OK);
  for (int i = 0; i < THREADS; i++) {
    for (int k = HANDS / 2; k < HANDS; k++) {
      if (!workers[i].hands[k]) continue;
      check_value(&workers[i], workers[i].hands[k]);
      larder_value_release(workers[i].hands[k]);
    }
  }
  // The background thread may still have to release the last few, a value first and then its key.
  for (int i = 0; i < 10000 && !all_released(); i++) usleep(1000);
  CHECK(all_released());
  for (int i = 0; i < THREADS; i++) {
    while (workers[i].made) {
      object *object = workers[i].made;
      workers[i].made = object->next;
      CHECK(atomic_load(&object->releases) == 1);
      free(object);
    }
  }
}

int main(int argc, char **argv) {
  CHECK(argc > 1);
  long steps = atol(argv[1]);
  bool forks = argc > 2 && strcmp(argv[2], "fork") == 0;
  for (uint32_t policy = LARDER_LRU; policy <= LARDER_ADAPTIVE; policy++) {
    if (larder_supports_policy(policy) != LARDER_OK) continue;
    for (uint32_t shards = 1; shards <= 4; shards += 3) {
      run(policy, false, shards, steps, forks);
      run(policy, true, shards, steps, forks);
    }
  }
  CHECK(atomic_load(&told) > 0);
  printf("%ld objects were released once each.\n", atomic_load(&released));
}
