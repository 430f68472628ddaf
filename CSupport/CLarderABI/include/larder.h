/* SPDX-License-Identifier: Apache-2.0 */
/* larder.h: a bounded, concurrent cache in the memory of one process, for any language.
 *
 *     larder_config config = LARDER_CONFIG_INIT;
 *     larder_cache *cache;
 *     config.count_limit = 1000;
 *     if (larder_create(&config, &cache) < 0) ...
 *     larder_set(cache, "key", 3, "value", 5, LARDER_COST_DEFAULT, NULL);
 *     larder_read(cache, "key", 3, buffer, sizeof buffer, &size);
 *     larder_destroy(cache);
 *
 * TWO MODES. With LARDER_BYTES, keys and values are byte strings, which the cache copies in. With
 * LARDER_OBJECTS they are pointers that the cache hands to callbacks: hash and equality of keys,
 * retain and release of both. All functions serve both modes; in the second the sizes mean what
 * the caller wants them to mean, and come back with the pointers.
 *
 * A VALUE IN HAND IS PINNED. larder_get() and its like hand out a larder_value, which stays as it
 * is until larder_value_release(), even if it is replaced, evicted or removed meanwhile, or the
 * cache is destroyed. A pin keeps memory alive, not a place in the cache: limits always hold. A
 * value is released exactly once, when it is in no cache and in no hand: before the call returns
 * while one thread of the process uses caches, otherwise soon after, see larder_reclaim().
 *
 * STATUS. Every function that can fail returns a larder_status: negative if the call was wrong or
 * impossible, else what came of it. A call that was wrong changes nothing. Outputs are written
 * only where the text says so. Nothing is printed, errno means nothing, and no argument named
 * here as wrong stops the process. A pointer to memory that is not what it should be cannot be
 * told from a good one, save that a null pointer is found (a key is never null, not even an empty
 * one), and a cache that belongs to another
 * copy of this library (LARDER_FOREIGN).
 *
 * THREADS. Every function may be called from any thread at any time, larder_destroy() excepted.
 * Operations are linearizable for each key. A hit takes no lock and stores only to memory of its
 * own thread, and to the value's own count of pins where it pins; a write locks one shard. After
 * fork() caches work in the child.
 *
 * CALLBACKS run on the calling thread (releases also on the library's background thread), without
 * a lock, and may call any cache, but may not destroy theirs. `equal` is the exception: it may run
 * under a lock and must not use a cache. No callback may leave by longjmp or a C++ exception. A
 * callback that makes the next one run, as a removal that stores another value, nests on the stack,
 * about 500 bytes for each: an end to that is the caller's care.
 *
 * MEMORY. An entry takes about 100 bytes besides its key and value, with LARDER_ADAPTIVE up to 16
 * more for each of the limit; an empty cache takes about 2 KB, and 0.8 KB for each further shard.
 * Each thread that uses a cache adds 2.7 KB to it. No memory of its own is reserved for values: the
 * process's malloc gives it, and from 1 MiB on the system.
 *
 * COMPATIBILITY. Structures begin with their size; a later version adds members at the end, and
 * numbers to the enumerations. A zero in a member the caller does not know means what the library
 * did before there was that member. Programs built for one LARDER_ABI run with every later library
 * of the same. C11 or C++11, or later. */
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

/* A cache, and a value in hand. */
typedef struct larder_cache larder_cache;
typedef struct larder_value larder_value;

/* What became of a call: one of the numbers below. */
typedef int32_t larder_status;

enum {
  LARDER_OK = 0,         /* done; from larder_set(): stored under a key that had no value */
  LARDER_REPLACED = 1,   /* stored in place of another value */
  LARDER_NOT_FOUND = 2,  /* the key has no value */
  LARDER_TOO_COSTLY = 3, /* not stored: costs more than the whole limit; its key has no value now */
  LARDER_TOO_SMALL = 4,  /* found, but larger than the buffer: nothing copied */
  LARDER_STOPPED = 5,    /* the visitor asked to stop */

  LARDER_OUT_OF_MEMORY = -1,  /* what is stored stays, but for what was evicted to make room */
  LARDER_BAD_ARGUMENT = -2,   /* a null pointer, a number without a meaning, or a policy
                                 that needs another limit */
  LARDER_BAD_SIZE = -3,       /* the size in a structure is that of no version */
  LARDER_OUT_OF_RANGE = -4,   /* a limit, cost or number of shards above what is possible */
  LARDER_TOO_LONG = -5,       /* a key or value above LARDER_KEY_MOST or LARDER_VALUE_MOST */
  LARDER_UNSUPPORTED = -6,    /* a policy or member this build of the library does not know */
  LARDER_WRONG_MODE = -7,     /* a callback or call that the cache's mode has no use for */
  LARDER_FOREIGN = -8,        /* not a cache, or one that another copy of the library created */
  LARDER_CALLBACK_FAILED = -9 /* key_retain returned other than 0 */
};

/* The largest limit and cost, the longest key and value, and the most shards. */
#define LARDER_LIMIT_MOST UINT64_C(0x7fffffffffffffff)
#define LARDER_KEY_MOST UINT64_C(65535)
#define LARDER_VALUE_MOST UINT64_C(0xffffffff)
#define LARDER_SHARDS_MOST 64

/* As a cost: 1 if the cache has a cost limit and no count limit, otherwise 0. Unless the policy goes
 * by cost, what costs 0 is passed over where cost is wanted, but for one of seventeen in a row. */
#define LARDER_COST_DEFAULT UINT64_MAX

/* larder_config.mode */
enum { LARDER_BYTES = 0, LARDER_OBJECTS = 1 };

/* larder_config.policy: how a full cache chooses what it gives up. larder_supports_policy() tells
 * which of them this build has. Those that order by use learn of hits from each thread in batches
 * of 64, so that their order is exact for one thread and one shard; CLOCK, SIEVE, S3-FIFO and the
 * adaptive policy count hits in the entry. Each shard keeps an order of its own. Those that go by
 * cost need a cost limit, LARDER_LIMIT_MOST if no other: without one, LARDER_BAD_ARGUMENT. */
enum {
  LARDER_DEFAULT = 0,   /* LARDER_ADAPTIVE in this version */
  LARDER_LRU = 1,       /* least recently used: insertion, replacement and every hit are a use */
  LARDER_FIFO = 2,      /* first in, first out: hits change nothing; a replacement keeps its place,
                           unless that is the next to go */
  LARDER_LFU = 3,       /* least frequently used, since it was stored */
  LARDER_CLOCK = 4,     /* FIFO with a second chance for what was hit */
  LARDER_SIEVE = 5,     /* Zhang and others, NSDI 2024 */
  LARDER_S3FIFO = 6,    /* Yang and others, SOSP 2023 */
  LARDER_TINYLFU = 7,   /* W-TinyLFU with an adaptive window: Einziger and others, 2017 and 2018 */
  LARDER_TWO_QUEUE = 8, /* 2Q: Johnson and Shasha, VLDB 1994 */
  LARDER_ARC = 9,       /* Megiddo and Modha, FAST 2003 */
  LARDER_CHEAPEST_FIRST = 10, /* the lowest cost first */
  LARDER_COST_AWARE = 11,     /* GDSF: weighs use against cost */
  LARDER_ADAPTIVE = 12        /* finds out by itself what serves */
};

/* Why a value left the cache. */
enum {
  LARDER_CAUSE_LIMIT = 1,    /* evicted to keep a limit while another was stored */
  LARDER_CAUSE_TRIMMED = 2,  /* evicted by a trim, or by a limit that was lowered */
  LARDER_CAUSE_REPLACED = 3, /* another value was stored for its key */
  LARDER_CAUSE_REMOVED = 4   /* by larder_remove(), larder_remove_all(), or LARDER_TOO_COSTLY */
};

/* The order of larder_iterate(). */
enum { LARDER_HOTTEST_FIRST = 0, LARDER_COLDEST_FIRST = 1 };

/* How to create a cache. Set `size` and zero the rest, or begin with LARDER_CONFIG_INIT.
 *
 * Callbacks get `context` as their first argument. In LARDER_BYTES all but the last two must be
 * NULL; in LARDER_OBJECTS `hash` and `equal` must be given, and the others may be NULL, which means
 * that the pointer is kept as it is and nothing happens at its release. */
typedef struct larder_config {
  uint64_t size;        /* sizeof(larder_config) */
  uint64_t count_limit; /* the most entries; 0: no limit; at most LARDER_LIMIT_MOST */
  uint64_t cost_limit;  /* the most their costs may sum up to, likewise */
  uint32_t policy;
  uint32_t mode;
  uint32_t shards;   /* parts with a lock and an order of their own, rounded up to a power of two.
                        More let more threads write at once. 0: the library's choice. That is one,
                        so that the order is exact; but with LARDER_ADAPTIVE, which keeps none, up
                        to 16: twice as many as processors, and each for 512 or more of
                        `count_limit` */
  uint32_t reserved; /* 0 */
  void *context;
  /* Equal keys have equal hashes. The cache mixes in a secret of its own, which spreads the bits;
     against keys made to collide, the callback must be seeded itself. */
  uint64_t (*hash)(void *context, const void *key, uint64_t key_size);
  /* Nonzero when the keys are equal. Must not use a cache. */
  int32_t (*equal)(void *context, const void *a, uint64_t a_size, const void *b, uint64_t b_size);
  /* Retains or copies a key that is about to be stored, and writes what to keep to `*kept`, which
     may be `key`; key_release is called once for that, also if it is not stored after all. Other
     than 0: the call fails with LARDER_CALLBACK_FAILED. */
  int32_t (*key_retain)(void *context, const void *key, uint64_t key_size, const void **kept);
  void (*key_release)(void *context, const void *kept, uint64_t key_size);
  /* Called once for each value that is handed over, before it can be found, and value_release once
     when it is in no cache and no hand any more, or was not stored. Without value_retain the cache
     takes over the caller's own claim, unless the call fails (a negative status). */
  void (*value_retain)(void *context, const void *value, uint64_t value_size);
  void (*value_release)(void *context, const void *value, uint64_t value_size);
  /* Is told of every value that leaves, in both modes, except when the cache is destroyed. `value`
     is lent for the call; larder_value_retain() keeps it. Without it removals are cheaper. */
  void (*removed)(void *context, larder_value *value, int32_t cause);
  /* In both modes: called once, when the cache is destroyed, all its values are released and no
     callback will come any more; perhaps after larder_destroy() has returned. May be NULL. */
  void (*context_release)(void *context);
} larder_config;

#define LARDER_CONFIG_INIT                                                                         \
  {sizeof(larder_config), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* What a cache has done since it was created. */
typedef struct larder_statistics {
  uint64_t size;            /* sizeof(larder_statistics), set by the caller */
  uint64_t hits;            /* by larder_get() and larder_read() */
  uint64_t misses;          /* by the same */
  uint64_t insertions;      /* values stored under keys that had none */
  uint64_t replacements;    /* values stored in place of others */
  uint64_t removals;        /* LARDER_CAUSE_REMOVED */
  uint64_t refusals;        /* LARDER_TOO_COSTLY */
  uint64_t count_evictions; /* to keep the count limit */
  uint64_t cost_evictions;  /* to keep the cost limit */
  uint64_t trim_evictions;  /* LARDER_CAUSE_TRIMMED */
  uint64_t unordered_hits;  /* hits that never reached the order: other threads kept it busy */
  uint64_t waiting;         /* entries that left and are not released yet */
  uint64_t overhead_bytes;  /* memory of what is stored and `waiting` besides the bytes of keys and
                               values: entries, tables, what the policy remembers, and 32 bytes for
                               each value, or 48 in LARDER_OBJECTS. Without padding, what threads
                               take, and values that are only in hand */
} larder_statistics;

/* THE LIBRARY. */

/* The LARDER_VERSION the library was built with. */
LARDER_API uint32_t larder_version(void);

/* One line of English for a status; never NULL. */
LARDER_API const char *larder_status_text(larder_status status);

/* LARDER_OK or LARDER_UNSUPPORTED. */
LARDER_API larder_status larder_supports_policy(uint32_t policy);

/* LIFE OF A CACHE. */

/* Creates an empty cache and writes it to `*cache`; on failure writes NULL. `config` is copied.
 * A structure larger than the library's is accepted if all it has beyond is zero. Without random
 * numbers from the system, for the secret of the hash, there is no cache: LARDER_OUT_OF_MEMORY.
 * LARDER_BAD_ARGUMENT, LARDER_BAD_SIZE, LARDER_OUT_OF_RANGE, LARDER_UNSUPPORTED,
 * LARDER_WRONG_MODE, LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_create(const larder_config *config, larder_cache **cache);

/* Releases everything the cache holds; `removed` is not called. No other call on the cache may be
 * running or come later. Values in hand stay good until they are released. What the background
 * thread is releasing at that very moment may follow the return: see `context_release`.
 * LARDER_BAD_ARGUMENT, LARDER_FOREIGN. */
LARDER_API larder_status larder_destroy(larder_cache *cache);

/* LOOKUPS. O(1) on average. No lock, but at a thread's first use of a cache, and where another key
 * has the same hash. */

/* Writes the value of `key` to `*value`, pinned, and NULL where there is none. A use of the entry.
 * LARDER_OK, LARDER_NOT_FOUND, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_get(larder_cache *cache, const void *key, uint64_t key_size,
                                    larder_value **value);

/* As larder_get(), but neither order nor statistics notice. */
LARDER_API larder_status larder_peek(larder_cache *cache, const void *key, uint64_t key_size,
                                     larder_value **value);

/* Copies the value of `key` into `buffer`, which has room for `room` bytes, and writes its size to
 * `*value_size` (may be NULL). A value that does not fit is not copied, but its size is written; it
 * counts as a use all the same. LARDER_BYTES only. `buffer` may be NULL if `room` is 0.
 * LARDER_OK, LARDER_NOT_FOUND, LARDER_TOO_SMALL, LARDER_BAD_ARGUMENT, LARDER_FOREIGN,
 * LARDER_TOO_LONG, LARDER_WRONG_MODE. */
LARDER_API larder_status larder_read(larder_cache *cache, const void *key, uint64_t key_size,
                                     void *buffer, uint64_t room, uint64_t *value_size);

/* LARDER_OK if `key` has a value, else LARDER_NOT_FOUND; neither order nor statistics notice.
 * LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_contains(larder_cache *cache, const void *key, uint64_t key_size);

/* VALUES IN HAND. No lock. LARDER_OK, LARDER_BAD_ARGUMENT. */

/* Writes the value's bytes or pointer, and its size; either may be NULL. Bytes are aligned to 16
 * and stay where they are while the value is in hand. */
LARDER_API larder_status larder_value_data(const larder_value *value, const void **data,
                                           uint64_t *size);

/* Writes the key the value was stored under, and its size; either may be NULL. */
LARDER_API larder_status larder_value_key(const larder_value *value, const void **key,
                                          uint64_t *size);

/* Writes the cost the value was stored with. */
LARDER_API larder_status larder_value_cost(const larder_value *value, uint64_t *cost);

/* Pins the value once more: to be released once more. */
LARDER_API larder_status larder_value_retain(larder_value *value);

/* Ends one pin. The last one of a value that is in no cache any more releases it. */
LARDER_API larder_status larder_value_release(larder_value *value);

/* WRITES. O(1) on average, and for each entry evicted; O(log n) where the policy sorts by cost. One
 * shard is locked, and nothing is copied, freed or called back meanwhile, `equal` excepted. */

/* Stores `value` for `key`, in place of an earlier one. What no longer fits is evicted before the
 * call returns; the new value is never among it, though it may be evicted at any later moment. If
 * `old` is not NULL, the value replaced, or removed by LARDER_TOO_COSTLY, is written there, pinned,
 * else NULL. `value` may be NULL with a `value_size` of 0, and always in LARDER_OBJECTS. `cost` may
 * be LARDER_COST_DEFAULT.
 * LARDER_OK, LARDER_REPLACED, LARDER_TOO_COSTLY, LARDER_OUT_OF_MEMORY, LARDER_BAD_ARGUMENT,
 * LARDER_FOREIGN, LARDER_OUT_OF_RANGE, LARDER_TOO_LONG, LARDER_CALLBACK_FAILED. */
LARDER_API larder_status larder_set(larder_cache *cache, const void *key, uint64_t key_size,
                                    const void *value, uint64_t value_size, uint64_t cost,
                                    larder_value **old);

/* As larder_set(), but only if `key` has a value; otherwise LARDER_NOT_FOUND, and nothing is
 * stored. Of an absent key nothing is retained or copied, unless its value left during the call. */
LARDER_API larder_status larder_replace(larder_cache *cache, const void *key, uint64_t key_size,
                                        const void *value, uint64_t value_size, uint64_t cost,
                                        larder_value **old);

/* Removes the value of `key`; `old` as in larder_set().
 * LARDER_OK, LARDER_NOT_FOUND, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, LARDER_TOO_LONG. */
LARDER_API larder_status larder_remove(larder_cache *cache, const void *key, uint64_t key_size,
                                       larder_value **old);

/* THE WHOLE CACHE. LARDER_OK, LARDER_BAD_ARGUMENT, LARDER_FOREIGN, and what is named. */

/* Removes everything: every insertion comes either before all of it or after. O(n). */
LARDER_API larder_status larder_remove_all(larder_cache *cache);

/* Evicts in the policy's order until at most `count` entries, or `cost` in sum, are left. Limits
 * stay as they are. Each entry costs what its eviction by a write does. */
LARDER_API larder_status larder_trim_to_count(larder_cache *cache, uint64_t count);
LARDER_API larder_status larder_trim_to_cost(larder_cache *cache, uint64_t cost);

/* Sets a limit, 0 for none, and evicts what exceeds it. Under a policy that goes by cost, a cost
 * limit of 0 is LARDER_BAD_ARGUMENT. LARDER_OUT_OF_RANGE. */
LARDER_API larder_status larder_set_count_limit(larder_cache *cache, uint64_t limit);
LARDER_API larder_status larder_set_cost_limit(larder_cache *cache, uint64_t limit);

/* Write a limit, the number of entries, or the sum of their costs (at most LARDER_LIMIT_MOST).
 * The last two never exceed their limits while these are not being lowered. O(1), no lock. */
LARDER_API larder_status larder_get_count_limit(larder_cache *cache, uint64_t *limit);
LARDER_API larder_status larder_get_cost_limit(larder_cache *cache, uint64_t *limit);
LARDER_API larder_status larder_get_count(larder_cache *cache, uint64_t *count);
LARDER_API larder_status larder_get_cost(larder_cache *cache, uint64_t *cost);

/* Fills in the first `statistics->size` bytes, which stay as they are in `size`. While other
 * threads work, the sums are of slightly different moments. LARDER_BAD_SIZE. */
LARDER_API larder_status larder_get_statistics(larder_cache *cache, larder_statistics *statistics);

/* Calls `visit` with every value, in the policy's order, until it returns other than 0. Each shard
 * is listed at one moment; the calls come afterwards, without a lock, and `value` is lent for the
 * call, alive even if it has left the cache meanwhile. Neither order nor statistics notice. O(n).
 * LARDER_STOPPED, LARDER_OUT_OF_MEMORY. */
LARDER_API larder_status larder_iterate(larder_cache *cache, int32_t order,
                                        int32_t (*visit)(void *context, larder_value *value),
                                        void *context);

/* Releases, before it returns, every value that left the cache and that no thread is reading. */
LARDER_API larder_status larder_reclaim(larder_cache *cache);

#ifdef __cplusplus
}
#endif

#endif
