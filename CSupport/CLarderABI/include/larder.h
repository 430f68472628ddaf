/* SPDX-License-Identifier: Apache-2.0 */
/* larder.h: a bounded, concurrent cache in the memory of one process, for any language.
 *
 *     #include <larder.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       larder_config config = LARDER_CONFIG_INIT;
 *       larder_cache *cache;
 *       char buffer[64];
 *       uint64_t size;
 *       config.count_limit = 1000;
 *       if (larder_create(&config, &cache) != LARDER_OK) return 1;
 *       larder_set(cache, "key", 3, "value", 5, LARDER_COST_DEFAULT, NULL);
 *       if (larder_read(cache, "key", 3, buffer, sizeof buffer, &size) == LARDER_OK)
 *         printf("%.*s\n", (int)size, buffer);
 *       larder_destroy(cache);
 *     }
 *
 * TWO MODES. With LARDER_BYTES, keys and values are byte strings, which the cache copies. With
 * LARDER_OBJECTS they are pointers, which the cache passes to callbacks: hash and equality of keys,
 * retain and release of both. All functions serve both modes. In LARDER_OBJECTS the sizes mean
 * whatever the caller wants, up to the largest of byte strings, and come back with the pointers.
 *
 * A VALUE IN HAND IS PINNED. larder_get() and its like hand out a larder_value. It stays as it is
 * until larder_value_release(), even if it is replaced, evicted or removed meanwhile, or if the
 * cache is destroyed. A pin keeps the memory alive; it does not keep the value in the cache,
 * because limits always hold. A value is released exactly once, when no cache and no hand holds it
 * any more: before the call returns while only one thread of the process uses caches, otherwise
 * soon afterwards (see larder_reclaim()). Some milliseconds more can pass in two cases: while the
 * background thread moves entries together, each of which then has a second reference; and where
 * one release causes the next, of which the first 280 or so come before the call returns.
 *
 * STATUS. Every function that can fail returns a larder_status. It is negative if the call was
 * wrong or impossible; otherwise it says what the call has done. A wrong call changes nothing.
 * Outputs are written only where the text says so. Nothing is printed, and errno means nothing. No
 * argument that this header calls wrong stops the process. The library cannot tell a good pointer
 * from a bad one, with two exceptions. It detects a null pointer: a key is never null, not even an
 * empty one. And it detects a cache that belongs to another copy of this library (LARDER_FOREIGN).
 *
 * THREADS. Every function may be called from any thread at any time, except larder_destroy().
 * Operations are linearizable for each key. A hit takes no lock. It stores only to memory of its
 * own thread, to the count of pins of a value that it pins, and, with a policy that counts hits in
 * the entry, to that count until it is at its small maximum. With a policy that orders by use,
 * every 64th hit tries locks. With `after_access` a hit may move the deadline. A write locks one
 * shard. After fork() caches work in the child; handlers of pthread_atfork() may use them there if
 * they were registered after the first cache was created.
 *
 * CALLBACKS run on the calling thread, without a lock. Releases, and `removed` for what expires,
 * may also run on the library's background thread. Releases, `removed` and `respond` may also run
 * on a thread that reports memory pressure, that listens for it, or that the library starts to ask
 * `respond`. Callbacks may use any cache, but may not destroy the cache that calls them. Releases
 * may not use a cache that another thread may be destroying, since larder_destroy() does not wait
 * for them. `equal` is the exception: it may run under a lock. It must not use a cache or call
 * fork(), and must not wait for a lock that another thread holds while it does either (in Python,
 * the interpreter's). No callback may leave by longjmp, a C++ exception, pthread_exit() or because
 * its thread is cancelled. If one callback causes the next, for example when a removal stores
 * another value, they nest on the stack, about 800 bytes for each, and 1.7 KB for each of
 * larder_iterate(). The caller must see to it that this ends.
 *
 * MEMORY. An entry takes about 100 bytes besides its key and value. LARDER_ADAPTIVE takes more for
 * each entry of the limit: up to 8 bytes from 8,000 entries on, 4 bytes and 27 KB in all from 256
 * entries on, and some 130 bytes below that, but 1.6 KB at least. An empty cache takes 2.7 KB, and
 * 0.8 KB for each further shard. With LARDER_ADAPTIVE that is 3.5 and 1.1 KB, with LARDER_LFU 3.7
 * and 1.9 KB. The first entry brings a page of 4 KB, which later ones share. An entry with a cost
 * takes twice the room in a cache that was created without a limit of the cost. Where values can
 * expire, each shard takes 2.3 KB more. Each thread that uses a cache adds 2.7 KB to it. The
 * library reserves no memory for values: they come from the process's malloc, and from 1 MiB on
 * from the system.
 *
 * TIME. Lifetimes are in nanoseconds, of a clock that never jumps and goes on while the machine
 * sleeps; one below 4,096 ns is taken for that. When its lifetime is over, a value is found for 10
 * ms more at most. For 2 ms after the end, calls may disagree, also those of one thread. It may end
 * early, by 2 ms if its lifetime is longer than a second and by some microseconds otherwise, and by
 * a 64th of an idle lifetime. It still counts, and holds its memory, until a write or the
 * background thread comes upon it. That is within a second, unless the machine is overloaded; the
 * time that the machine sleeps does not count there. Where values can expire, an entry takes 16
 * bytes more, and 24 with `after_access`. A cache that was created without anything about time can
 * be given lifetimes, too. The first call that sets one, be it one without end, costs O(n), once:
 * all entries are stored anew, and count as written at that moment. From then on an entry takes two
 * or three times the room.
 *
 * COMPATIBILITY. Structures begin with their size. A later version may add members at their ends,
 * and numbers to the enumerations. Zero in such a member means what the library did before the
 * member existed. A program built for one LARDER_ABI runs with every later library of the same
 * LARDER_ABI. Programs may be in C11 or C++11, or later. */
#ifndef LARDER_H
#define LARDER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LARDER_API __attribute__((visibility("default")))
#else
#define LARDER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header, major << 16 | minor << 8 | patch, and of the binary interface. */
#define LARDER_VERSION 0x000100
#define LARDER_ABI 1

/* A cache, a value in hand, and a clock that is moved by hand. */
typedef struct larder_cache larder_cache;
typedef struct larder_value larder_value;
typedef struct larder_clock larder_clock;

/* What a call has done, or why it failed: one of these numbers. */
typedef int32_t larder_status;

enum {
  LARDER_OK = 0,         /* done; from larder_set(): stored under a key that had no value */
  LARDER_REPLACED = 1,   /* stored in place of another value */
  LARDER_NOT_FOUND = 2,  /* the key has no value */
  LARDER_TOO_COSTLY = 3, /* not stored: costs more than the whole limit; its key has no value now */
  LARDER_TOO_SMALL = 4,  /* found, but larger than the buffer: nothing copied */
  LARDER_STOPPED = 5,    /* the visitor asked to stop */
  LARDER_EXPIRED = 6,    /* a lifetime of 0: not stored, or removed; its key has no value now */

  LARDER_OUT_OF_MEMORY = -1,  /* all entries stay, except those evicted to make room */
  LARDER_BAD_ARGUMENT = -2,   /* a null pointer, a number without a meaning, or a policy
                                 that needs another limit */
  LARDER_BAD_SIZE = -3,       /* the size in a structure is not that of any version */
  LARDER_OUT_OF_RANGE = -4,   /* a limit, cost or number of shards above what is possible */
  LARDER_TOO_LONG = -5,       /* a key or value above LARDER_KEY_MOST or LARDER_VALUE_MOST */
  LARDER_UNSUPPORTED = -6,    /* a policy or member that this build of the library does not know */
  LARDER_WRONG_MODE = -7,     /* a callback or call for which the cache's mode has no use */
  LARDER_FOREIGN = -8,        /* not a cache, or one that another copy of the library created */
  LARDER_CALLBACK_FAILED = -9 /* key_retain returned other than 0 */
};

/* The largest limit and cost, the longest key and value, and the most shards. */
#define LARDER_LIMIT_MOST UINT64_C(0x7fffffffffffffff)
#define LARDER_KEY_MOST UINT64_C(65535)
#define LARDER_VALUE_MOST UINT64_C(0xffffffff)
#define LARDER_SHARDS_MOST 64

/* As a cost: 1 if a cost limit is in force at that moment, otherwise 0. Unless the policy goes by
 * cost, entries of cost 0 are passed over when room for cost is needed, except for one of
 * seventeen in a row. */
#define LARDER_COST_DEFAULT UINT64_MAX

/* A lifetime without an end. Every lifetime above a hundred years has none either. */
#define LARDER_NEVER UINT64_MAX

/* larder_config.mode */
enum { LARDER_BYTES = 0, LARDER_OBJECTS = 1 };

/* larder_config.policy: how a full cache chooses what to evict. larder_supports_policy() tells
 * which policies this build has. CLOCK, SIEVE, S3-FIFO and the adaptive policy count hits in the
 * entry. The policies that order by use receive each thread's hits in batches of 64, so their order
 * is exact for one thread and one shard. Each shard keeps an order of its own. The policies that go
 * by cost need a cost limit, which may be LARDER_LIMIT_MOST; without one, LARDER_BAD_ARGUMENT. */
enum {
  LARDER_DEFAULT = 0,   /* LARDER_ADAPTIVE in this version */
  LARDER_LRU = 1,       /* least recently used: insertion, replacement and every hit are a use */
  LARDER_FIFO = 2,      /* first in, first out: hits change nothing; a replacement keeps its
                           position, unless it would be evicted next */
  LARDER_LFU = 3,       /* least frequently used since it was stored */
  LARDER_CLOCK = 4,     /* FIFO with a second chance for entries that were hit */
  LARDER_SIEVE = 5,     /* Zhang and others, NSDI 2024 */
  LARDER_S3FIFO = 6,    /* Yang and others, SOSP 2023 */
  LARDER_TINYLFU = 7,   /* W-TinyLFU with an adaptive window: Einziger and others, 2017 and 2018 */
  LARDER_TWO_QUEUE = 8, /* 2Q: Johnson and Shasha, VLDB 1994 */
  LARDER_ARC = 9,       /* not a policy: no build has it, larder_create() says LARDER_UNSUPPORTED */
  LARDER_CHEAPEST_FIRST = 10, /* the lowest cost first */
  LARDER_COST_AWARE = 11,     /* GDSF: weighs use against cost */
  LARDER_ADAPTIVE = 12        /* finds out by itself what works best */
};

/* Why a value left the cache. */
enum {
  LARDER_CAUSE_LIMIT = 1,    /* evicted to keep a limit while another value was stored */
  LARDER_CAUSE_TRIMMED = 2,  /* evicted by a trim, or by the lowering of a limit */
  LARDER_CAUSE_REPLACED = 3, /* another value was stored for its key */
  LARDER_CAUSE_REMOVED = 4,  /* by larder_remove(), larder_remove_all(), LARDER_TOO_COSTLY, or
                                larder_set_for() with a lifetime of 0 */
  LARDER_CAUSE_EXPIRED = 5,  /* its lifetime was over, whatever call came upon it or ended it */
  LARDER_CAUSE_PRESSURE = 6  /* evicted because memory ran short, or in the background */
};

/* The order of larder_iterate(). */
enum { LARDER_HOTTEST_FIRST = 0, LARDER_COLDEST_FIRST = 1 };

/* How short memory is. */
enum { LARDER_NORMAL = 0, LARDER_WARNING = 1, LARDER_CRITICAL = 2 };

/* How to create a cache. Set `size` and zero the rest, or begin with LARDER_CONFIG_INIT.
 *
 * Callbacks receive `context` as their first argument. In LARDER_BYTES all of them must be NULL
 * except the last two. In LARDER_OBJECTS `hash` and `equal` must be given. The others may be NULL,
 * which means that the pointer is kept as it is and nothing happens at its release. */
typedef struct larder_config {
  uint64_t size;        /* sizeof(larder_config) */
  uint64_t count_limit; /* the most entries; 0: no limit; at most LARDER_LIMIT_MOST */
  uint64_t cost_limit;  /* the most their costs may add up to, likewise */
  uint32_t policy;
  uint32_t mode;
  uint32_t shards;   /* parts with a lock and an order of their own, rounded up to a power of two.
                        More of them let more threads write at once. 0: the library chooses. That
                        is one, so that the order is exact. With LARDER_ADAPTIVE, which keeps no
                        order, it is two for each processor, each for 512 or more of
                        `count_limit`, or eight, each for 8,192 or more */
  uint32_t reserved; /* 0 */
  void *context;
  /* Equal keys must have equal hashes. The cache mixes in a secret of its own, which spreads the
     bits. To resist keys that are made to collide, the callback itself must be seeded. */
  uint64_t (*hash)(void *context, const void *key, uint64_t key_size);
  /* Nonzero if the keys are equal. Must not use a cache. */
  int32_t (*equal)(void *context, const void *a, uint64_t a_size, const void *b, uint64_t b_size);
  /* Retains or copies a key that is about to be stored, and writes to `*kept` what to keep, which
     may be `key`. key_release is called once for that, even if it is not stored after all. If the
     result is not 0, the call fails with LARDER_CALLBACK_FAILED. */
  int32_t (*key_retain)(void *context, const void *key, uint64_t key_size, const void **kept);
  void (*key_release)(void *context, const void *kept, uint64_t key_size);
  /* value_retain is called once for each value that is handed over, before it can be found.
     value_release is called once for it, when no cache and no caller holds it any more, or when it
     was not stored. Without value_retain the cache takes over the caller's own claim, unless the
     call fails (a negative status). */
  void (*value_retain)(void *context, const void *value, uint64_t value_size);
  void (*value_release)(void *context, const void *value, uint64_t value_size);
  /* Called for every value that leaves, in both modes, except when the cache is destroyed. `value`
     is lent for the call; larder_value_retain() keeps it. Removals are cheaper without it. */
  void (*removed)(void *context, larder_value *value, int32_t cause);
  /* In both modes: called once, when the cache is destroyed, all its values are released, and no
     other callback will come. That may be after larder_destroy() has returned. May be NULL. */
  void (*context_release)(void *context);
  /* Values expire this long after they were stored, and this long after they were last stored or
     found, whichever comes first. 0: never. */
  uint64_t after_write;
  uint64_t after_access;
  /* The part of these lifetimes, from 0 to 1, by which a value may expire earlier, so that values
     that are stored together do not expire together. How much earlier depends on the key, and with
     `after_access` on the moments of its uses as well. */
  double jitter;
  /* 1: values will be given lifetimes, though none of the members above says so. Entries have room
     for them from the start. */
  uint32_t expires;
  uint32_t reserved2; /* 0 */
  /* The clock of the cache, for tests; NULL: the system's. The cache retains it. With such a clock
     only calls remove what has expired, never the background thread. */
  larder_clock *clock;
} larder_config;

#define LARDER_CONFIG_INIT                                                                         \
  {sizeof(larder_config),                                                                          \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   0.0,                                                                                            \
   0,                                                                                              \
   0,                                                                                              \
   NULL}

/* What a cache has done since it was created. */
typedef struct larder_statistics {
  uint64_t size;            /* sizeof(larder_statistics), set by the caller */
  uint64_t hits;            /* by larder_get() and larder_read() */
  uint64_t misses;          /* likewise */
  uint64_t insertions;      /* values stored under keys that had none */
  uint64_t replacements;    /* values stored in place of others */
  uint64_t removals;        /* LARDER_CAUSE_REMOVED */
  uint64_t refusals;        /* LARDER_TOO_COSTLY */
  uint64_t count_evictions; /* to keep the count limit */
  uint64_t cost_evictions;  /* to keep the cost limit */
  uint64_t trim_evictions;  /* LARDER_CAUSE_TRIMMED */
  uint64_t unordered_hits;  /* hits that never reached the order: other threads kept it busy */
  uint64_t waiting;         /* entries that have left and are not released yet */
  uint64_t overhead_bytes;  /* memory of what is stored or `waiting`, besides the bytes of keys and
                               values: entries, tables, what the policy remembers, and 32 bytes for
                               each value, or 48 in LARDER_OBJECTS. Without padding, what threads
                               take, and values that are only in hand */
  uint64_t expirations;     /* LARDER_CAUSE_EXPIRED */
  uint64_t pressure_evictions; /* LARDER_CAUSE_PRESSURE */
} larder_statistics;

/* THE LIBRARY. */

/* The LARDER_VERSION that the library was built with. */
LARDER_API uint32_t larder_version(void);

/* One line of English for a status; never NULL. */
LARDER_API const char *larder_status_text(larder_status status);

/* Returns LARDER_OK or LARDER_UNSUPPORTED. */
LARDER_API larder_status larder_supports_policy(uint32_t policy);

/* LIFE OF A CACHE. */

/* Creates an empty cache and writes it to `*cache`; on failure writes NULL. `config` is copied. A
 * structure larger than the library's is accepted if everything beyond that is zero. The hash needs
 * random numbers from the system for its secret; without them the call returns
 * LARDER_OUT_OF_MEMORY.
 * Fails with LARDER_BAD_ARGUMENT, LARDER_BAD_SIZE, LARDER_OUT_OF_RANGE, LARDER_UNSUPPORTED,
 * LARDER_WRONG_MODE, LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_create(const larder_config *config, larder_cache **cache);

/* Releases everything the cache holds. `removed` is not called for it. No callback but releases
 * runs after the return. If `removed` or `respond` is running on another thread, the call waits for
 * it: do not hold a lock that it needs. (A callback must not destroy the cache that calls it. If it
 * does, the call does not wait.) No other call on the cache may be running or come later. Values in
 * hand stay good until they are released. A value that another thread is releasing at that very
 * moment may be released after the return; see `context_release`. Fails with LARDER_BAD_ARGUMENT,
 * LARDER_FOREIGN. */
LARDER_API larder_status larder_destroy(larder_cache *cache);

/* LOOKUPS. O(1) on average. No lock, except at a thread's first use of a cache, if another key has
 * the same hash, inside 32 lookups of the thread (by `equal`), and without memory. */

/* Writes the value of `key` to `*value`, pinned, or NULL if there is none. Counts as a use.
 * Statuses: LARDER_OK, LARDER_NOT_FOUND, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_get(larder_cache *cache, const void *key, uint64_t key_size,
                                    larder_value **value);

/* Like larder_get(), but neither the order nor the statistics change. If there is no value, the
 * default policy learns that the key was asked for. */
LARDER_API larder_status larder_peek(larder_cache *cache, const void *key, uint64_t key_size,
                                     larder_value **value);

/* Copies the value of `key` into `buffer`, which has room for `room` bytes, and writes its size to
 * `*value_size` (which may be NULL). A value that does not fit is not copied, but its size is
 * written and it counts as a use all the same. LARDER_BYTES only. `buffer` may be NULL if `room` is
 * 0.
 * Statuses: LARDER_OK, LARDER_NOT_FOUND, LARDER_TOO_SMALL, LARDER_BAD_ARGUMENT, LARDER_FOREIGN,
 * LARDER_TOO_LONG, LARDER_WRONG_MODE. */
LARDER_API larder_status larder_read(larder_cache *cache, const void *key, uint64_t key_size,
                                     void *buffer, uint64_t room, uint64_t *value_size);

/* LARDER_OK if `key` has a value, otherwise LARDER_NOT_FOUND. Neither the order nor the statistics
 * change. If it has none, the default policy learns that the key was asked for.
 * Fails with LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_contains(larder_cache *cache, const void *key, uint64_t key_size);

/* VALUES IN HAND. No lock. Statuses: LARDER_OK, LARDER_BAD_ARGUMENT. */

/* Writes the value's bytes or pointer, and its size; either may be NULL. Bytes are aligned to 16
 * and stay where they are while the value is in hand. */
LARDER_API larder_status larder_value_data(const larder_value *value, const void **data,
                                           uint64_t *size);

/* Writes the key under which the value was stored, and its size; either may be NULL. */
LARDER_API larder_status larder_value_key(const larder_value *value, const void **key,
                                          uint64_t *size);

/* Writes the cost with which the value was stored. */
LARDER_API larder_status larder_value_cost(const larder_value *value, uint64_t *cost);

/* Pins the value once more, so it must be released once more. */
LARDER_API larder_status larder_value_retain(larder_value *value);

/* Ends one pin. The last pin of a value that is in no cache any more releases it. */
LARDER_API larder_status larder_value_release(larder_value *value);

/* WRITES. O(1) on average, plus O(1) for each entry evicted, or O(log n) if the policy sorts by
 * cost. One shard is locked. Nothing is copied, freed or called back meanwhile, except `equal`. */

/* Stores `value` for `key`, in place of an earlier value. Entries that no longer fit are evicted
 * before the call returns. The new value is never among them, but may be evicted at any later
 * moment. If `old` is not NULL, the value that was replaced, or removed by LARDER_TOO_COSTLY or
 * LARDER_EXPIRED, is written there, pinned, or NULL if there was none. A call that fails writes
 * NULL, or nothing if it was wrong. `value` may be NULL if `value_size` is 0, and always in
 * LARDER_OBJECTS. `cost` may be LARDER_COST_DEFAULT.
 * Statuses: LARDER_OK, LARDER_REPLACED, LARDER_TOO_COSTLY, LARDER_OUT_OF_MEMORY,
 * LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_OUT_OF_RANGE, LARDER_TOO_LONG,
 * LARDER_CALLBACK_FAILED. */
LARDER_API larder_status larder_set(larder_cache *cache, const void *key, uint64_t key_size,
                                    const void *value, uint64_t value_size, uint64_t cost,
                                    larder_value **old);

/* Like larder_set(), but only if `key` has a value; otherwise stores nothing and returns
 * LARDER_NOT_FOUND. If the key is absent, nothing is copied, unless its value left during the call.
 * A pointer that is not stored is retained and released once. */
LARDER_API larder_status larder_replace(larder_cache *cache, const void *key, uint64_t key_size,
                                        const void *value, uint64_t value_size, uint64_t cost,
                                        larder_value **old);

/* Removes the value of `key`; `old` as for larder_set().
 * Statuses: LARDER_OK, LARDER_NOT_FOUND, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_remove(larder_cache *cache, const void *key, uint64_t key_size,
                                       larder_value **old);

/* LIFETIMES, in any cache; see TIME about those whose configuration has none of `after_write`,
 * `after_access` and `expires`. */

/* Like larder_set(), with a lifetime of its own instead of the cache's `after_write`. 0: the value
 * is not stored, an earlier one of its key is removed, and the call returns LARDER_EXPIRED. */
LARDER_API larder_status larder_set_for(larder_cache *cache, const void *key, uint64_t key_size,
                                        const void *value, uint64_t value_size, uint64_t cost,
                                        uint64_t lifetime, larder_value **old);

/* Writes what is left of the lifetime of `key`'s value, if nobody uses it; LARDER_NEVER if it does
 * not end. No use of the value. Locks one shard. O(1).
 * Statuses: LARDER_OK, LARDER_NOT_FOUND, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_get_lifetime(larder_cache *cache, const void *key,
                                             uint64_t key_size, uint64_t *lifetime);

/* Gives the value of `key` this lifetime, from now on. 0: it is removed, for LARDER_CAUSE_EXPIRED,
 * and the call returns LARDER_EXPIRED; if it had expired before, LARDER_NOT_FOUND.
 * Otherwise statuses as of larder_get_lifetime(), or LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_set_lifetime(larder_cache *cache, const void *key,
                                             uint64_t key_size, uint64_t lifetime);

/* Sets three members of the configuration, also for what is stored: it expires as if it had been
 * stored under them, unless it was given a lifetime. If there was no `after_access` before, or it
 * would have ended after its writing first, it counts as used now. Otherwise a shorter
 * `after_access` may end what was used a 64th of the former one ago, or with jitter that part of it
 * more, a quarter at most: not every use is noted. O(n), in slices. The first `after_access` of a
 * cache that was created with 0 for it takes longer, like a first lifetime, and memory as well.
 * LARDER_OUT_OF_MEMORY if the members stay as they are, or some entries keep their deadlines.
 * Statuses: LARDER_OK, LARDER_OUT_OF_MEMORY, LARDER_BAD_ARGUMENT (`jitter`), LARDER_FOREIGN. */
LARDER_API larder_status larder_set_expiration(larder_cache *cache, uint64_t after_write,
                                               uint64_t after_access, double jitter);

/* Removes everything that has expired, and writes how much that was; `removed` may be NULL. What
 * expires while it runs may stay. Statuses: LARDER_OK, LARDER_BAD_ARGUMENT, LARDER_FOREIGN. */
LARDER_API larder_status larder_remove_expired(larder_cache *cache, uint64_t *removed);

/* A clock that stands still, at 0, until it is moved. It only moves forward, and stops after some
 * 146 years. The last of its caches frees it after larder_clock_release().
 * Statuses: LARDER_OK, LARDER_BAD_ARGUMENT, LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_clock_create(larder_clock **clock);
LARDER_API larder_status larder_clock_advance(larder_clock *clock, uint64_t nanoseconds);
LARDER_API larder_status larder_clock_release(larder_clock *clock);

/* THE WHOLE CACHE. Statuses: LARDER_OK, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, and those below. */

/* Removes everything. Every insertion comes either before all of it or after all of it. O(n). */
LARDER_API larder_status larder_remove_all(larder_cache *cache);

/* Evicts in the policy's order until at most `count` entries, or costs of `cost` in all, are left.
 * The limits do not change. Each eviction costs what it costs in a write. */
LARDER_API larder_status larder_trim_to_count(larder_cache *cache, uint64_t count);
LARDER_API larder_status larder_trim_to_cost(larder_cache *cache, uint64_t cost);

/* Sets a limit, 0 for none, and evicts what exceeds it. A limit that was lowered because memory is
 * short stays in force until it has come back (larder_set_pressure_response()). With a policy that
 * goes by cost, a cost limit of 0 is LARDER_BAD_ARGUMENT.
 * Also returns LARDER_OUT_OF_RANGE. */
LARDER_API larder_status larder_set_count_limit(larder_cache *cache, uint64_t limit);
LARDER_API larder_status larder_set_cost_limit(larder_cache *cache, uint64_t limit);

/* Write a limit, the number of entries, or the sum of their costs (at most LARDER_LIMIT_MOST). The
 * last two never exceed their limits, except while these are being lowered. O(1), no lock. */
LARDER_API larder_status larder_get_count_limit(larder_cache *cache, uint64_t *limit);
LARDER_API larder_status larder_get_cost_limit(larder_cache *cache, uint64_t *limit);
LARDER_API larder_status larder_get_count(larder_cache *cache, uint64_t *count);
LARDER_API larder_status larder_get_cost(larder_cache *cache, uint64_t *cost);

/* Fills in the first `statistics->size` bytes, and leaves `size` as it is. While other threads
 * work, the sums mix slightly different moments.
 * Also returns LARDER_BAD_SIZE. */
LARDER_API larder_status larder_get_statistics(larder_cache *cache, larder_statistics *statistics);

/* Calls `visit` with every value, in the policy's order, until it returns a number other than 0.
 * Each shard is listed at one moment. The calls come afterwards, without a lock. `value` is lent
 * for the call, and alive even if it has left the cache meanwhile. Neither the order nor the
 * statistics change. O(n).
 * Also returns LARDER_STOPPED, LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_iterate(larder_cache *cache, int32_t order,
                                        int32_t (*visit)(void *context, larder_value *value),
                                        void *context);

/* Releases, before it returns, every value that has left the cache and is not being read, but for
 * up to four that the background thread is about to release. Gives memory back to the system: what
 * entries do not need, once they have been moved together, and what the process's allocator keeps
 * for later. Blocks that keys and values lie in do not move. With glibc's malloc that takes tenths
 * of a second where a million blocks are free. */
LARDER_API larder_status larder_reclaim(larder_cache *cache);

/* MEMORY PRESSURE. A cache ignores it until it has a response. The first cache with a response
 * makes the library listen to the system, on a thread that sleeps. On Linux it listens to the
 * stalls of the system and of the nearest control group with a limit (PSI), or of the process's own
 * if none has one, and to the usage of that group. */

/* What a cache does when memory runs short. The fractions are of what it held when that began:
 * entries, or their cost if that is limited, rounded up. Values in hand go last, unless the
 * policy goes by cost, and before them the hottest by the policy's order. While memory is short,
 * the limits are lowered to the same fractions, but not below a sixteenth. Afterwards they come
 * back step by step. Repeated reports do not add up. Where cost is limited, values of cost 0 may
 * stay even with a fraction of 0. */
typedef struct larder_pressure_response {
  uint64_t size;          /* sizeof(larder_pressure_response) */
  uint64_t minimum_count; /* never keeps fewer entries than that */
  double warning;         /* the fraction to keep, 0 to 1 */
  double critical;        /* likewise */
  double background;      /* likewise, between larder_background(1) and (0) */
  /* If not NULL, called at each warning and critical report for the fraction to keep, and once a
     second while the system's level lasts. A number that is not from 0 to 1 keeps everything.
     `context` is that of the configuration. The callback may use any cache. */
  double (*respond)(void *context, int32_t level);
} larder_pressure_response;

#define LARDER_PRESSURE_RESPONSE_INIT {sizeof(larder_pressure_response), 0, 0.5, 0.1, 1, NULL}

/* Sets the response; NULL: ignores pressure, as at first. If memory is short now, or the program in
 * the background, the cache answers before the call returns.
 * Statuses: LARDER_OK, LARDER_BAD_ARGUMENT (also for fractions), LARDER_FOREIGN, LARDER_BAD_SIZE,
 * LARDER_OUT_OF_RANGE, LARDER_UNSUPPORTED. */
LARDER_API larder_status larder_set_pressure_response(larder_cache *cache,
                                                      const larder_pressure_response *response);

/* Says how short memory is, until the next call. What counts is this or what the system says,
 * whichever is worse. The caches have answered when the call returns.
 * Statuses: LARDER_OK, LARDER_BAD_ARGUMENT. */
LARDER_API larder_status larder_report_pressure(int32_t level);

/* Writes how short memory is: by reports, and by the system while the library listens to it, which
 * it does once a cache has a response or larder_listen() was called.
 * Statuses: LARDER_OK, LARDER_BAD_ARGUMENT. */
LARDER_API larder_status larder_get_pressure(int32_t *level);

/* Begins to listen to the system, or stops if `listens` is 0. From then on only this function
 * begins or stops it, and no response does. What could not be watched, or was lost, is tried again
 * at each beginning. The child of fork() does not listen: it calls this function again, or if the
 * parent had not, gives a cache a response. Limits that pressure had lowered rise there after the
 * next report, or once it listens. Returns LARDER_OK. */
LARDER_API larder_status larder_listen(int32_t listens);

/* Says that the program went to the background, or came back if `entered` is 0. Returns
 * LARDER_OK. */
LARDER_API larder_status larder_background(int32_t entered);

/* Like larder_get_count_limit() and larder_get_cost_limit(), but what pressure has lowered them to.
 * A value that costs more is not stored meanwhile. */
LARDER_API larder_status larder_get_effective_count_limit(larder_cache *cache, uint64_t *limit);
LARDER_API larder_status larder_get_effective_cost_limit(larder_cache *cache, uint64_t *limit);

#ifdef __cplusplus
}
#endif

#endif
