// SPDX-License-Identifier: Apache-2.0
/* abi.c — what programs built for LARDER_ABI 1 rely on: layouts, numbers, and types of functions.
 * The test is that it compiles. A later version may add members and numbers at the ends, and lines
 * for them here. No line that is here changes. */
#include <larder.h>

#define IS(condition) _Static_assert(condition, #condition)

IS(LARDER_ABI == 1);
IS(sizeof(void *) != 8 || sizeof(larder_config) >= 112);
IS(offsetof(larder_config, size) == 0);
IS(offsetof(larder_config, count_limit) == 8);
IS(offsetof(larder_config, cost_limit) == 16);
IS(offsetof(larder_config, policy) == 24);
IS(offsetof(larder_config, mode) == 28);
IS(offsetof(larder_config, shards) == 32);
IS(offsetof(larder_config, reserved) == 36);
IS(offsetof(larder_config, context) == 40);
IS(sizeof(void *) != 8 || offsetof(larder_config, hash) == 48);
IS(sizeof(void *) != 8 || offsetof(larder_config, equal) == 56);
IS(sizeof(void *) != 8 || offsetof(larder_config, key_retain) == 64);
IS(sizeof(void *) != 8 || offsetof(larder_config, key_release) == 72);
IS(sizeof(void *) != 8 || offsetof(larder_config, value_retain) == 80);
IS(sizeof(void *) != 8 || offsetof(larder_config, value_release) == 88);
IS(sizeof(void *) != 8 || offsetof(larder_config, removed) == 96);
IS(sizeof(void *) != 8 || offsetof(larder_config, context_release) == 104);
IS(sizeof(void *) != 8 || offsetof(larder_config, after_write) == 112);
IS(sizeof(void *) != 8 || offsetof(larder_config, after_access) == 120);
IS(sizeof(void *) != 8 || offsetof(larder_config, jitter) == 128);
IS(sizeof(void *) != 8 || offsetof(larder_config, expires) == 136);
IS(sizeof(void *) != 8 || offsetof(larder_config, reserved2) == 140);
IS(sizeof(void *) != 8 || offsetof(larder_config, clock) == 144);
IS(sizeof(larder_statistics) >= 104 && offsetof(larder_statistics, expirations) == 104);
IS(offsetof(larder_statistics, size) == 0 && offsetof(larder_statistics, hits) == 8);
IS(offsetof(larder_statistics, misses) == 16 && offsetof(larder_statistics, insertions) == 24);
IS(offsetof(larder_statistics, replacements) == 32 && offsetof(larder_statistics, removals) == 40);
IS(offsetof(larder_statistics, refusals) == 48);
IS(offsetof(larder_statistics, count_evictions) == 56);
IS(offsetof(larder_statistics, cost_evictions) == 64);
IS(offsetof(larder_statistics, trim_evictions) == 72);
IS(offsetof(larder_statistics, unordered_hits) == 80);
IS(offsetof(larder_statistics, waiting) == 88 && offsetof(larder_statistics, overhead_bytes) == 96);

IS(LARDER_OK == 0 && LARDER_REPLACED == 1 && LARDER_NOT_FOUND == 2 && LARDER_TOO_COSTLY == 3);
IS(LARDER_TOO_SMALL == 4 && LARDER_STOPPED == 5 && LARDER_EXPIRED == 6);
IS(LARDER_OUT_OF_MEMORY == -1 && LARDER_NEVER == UINT64_MAX);
IS(LARDER_BAD_ARGUMENT == -2 && LARDER_BAD_SIZE == -3 && LARDER_OUT_OF_RANGE == -4);
IS(LARDER_TOO_LONG == -5 && LARDER_UNSUPPORTED == -6 && LARDER_WRONG_MODE == -7);
IS(LARDER_FOREIGN == -8 && LARDER_CALLBACK_FAILED == -9);
IS(LARDER_BYTES == 0 && LARDER_OBJECTS == 1 && LARDER_COST_DEFAULT == UINT64_MAX);
IS(LARDER_DEFAULT == 0 && LARDER_LRU == 1 && LARDER_FIFO == 2 && LARDER_LFU == 3);
IS(LARDER_CLOCK == 4 && LARDER_SIEVE == 5 && LARDER_S3FIFO == 6 && LARDER_TINYLFU == 7);
IS(LARDER_TWO_QUEUE == 8 && LARDER_ARC == 9 && LARDER_CHEAPEST_FIRST == 10);
IS(LARDER_COST_AWARE == 11 && LARDER_ADAPTIVE == 12);
IS(LARDER_CAUSE_LIMIT == 1 && LARDER_CAUSE_TRIMMED == 2);
IS(LARDER_CAUSE_REPLACED == 3 && LARDER_CAUSE_REMOVED == 4 && LARDER_CAUSE_EXPIRED == 5);
IS(LARDER_CAUSE_PRESSURE == 6);
IS(LARDER_NORMAL == 0 && LARDER_WARNING == 1 && LARDER_CRITICAL == 2);
IS(offsetof(larder_statistics, pressure_evictions) == 112);
IS(offsetof(larder_pressure_response, size) == 0);
IS(offsetof(larder_pressure_response, minimum_count) == 8);
IS(offsetof(larder_pressure_response, warning) == 16);
IS(offsetof(larder_pressure_response, critical) == 24);
IS(offsetof(larder_pressure_response, background) == 32);
IS(offsetof(larder_pressure_response, respond) == 40);
IS(LARDER_HOTTEST_FIRST == 0 && LARDER_COLDEST_FIRST == 1);

/* If the type of a function has changed, it cannot initialise its pointer here. */
typedef larder_cache cache;
typedef larder_value value;
typedef larder_status status;
typedef status ask(cache *, uint64_t *);
typedef status order(cache *);
typedef status set(cache *, uint64_t);
typedef status find(cache *, const void *, uint64_t, value **);
typedef status store(cache *, const void *, uint64_t, const void *, uint64_t, uint64_t, value **);
typedef status name(const value *, const void **, uint64_t *);
typedef int32_t visit(void *, value *);

extern uint32_t (*const version)(void);
uint32_t (*const version)(void) = larder_version;
extern const char *(*const text)(status);
const char *(*const text)(status) = larder_status_text;
extern status (*const supports)(uint32_t);
status (*const supports)(uint32_t) = larder_supports_policy;
extern status (*const create)(const larder_config *, cache **);
status (*const create)(const larder_config *, cache **) = larder_create;
extern status (*const read)(cache *, const void *, uint64_t, void *, uint64_t, uint64_t *);
status (*const read)(cache *, const void *, uint64_t, void *, uint64_t, uint64_t *) = larder_read;
extern status (*const contains)(cache *, const void *, uint64_t);
status (*const contains)(cache *, const void *, uint64_t) = larder_contains;
extern status (*const cost)(const value *, uint64_t *);
status (*const cost)(const value *, uint64_t *) = larder_value_cost;
extern status (*const pins[])(value *);
status (*const pins[])(value *) = {larder_value_retain, larder_value_release};
extern status (*const statistics)(cache *, larder_statistics *);
status (*const statistics)(cache *, larder_statistics *) = larder_get_statistics;
extern status (*const iterate)(cache *, int32_t, visit *, void *);
status (*const iterate)(cache *, int32_t, visit *, void *) = larder_iterate;
extern find *const finds[];
find *const finds[] = {larder_get, larder_peek, larder_remove};
extern store *const stores[];
store *const stores[] = {larder_set, larder_replace};
extern name *const names[];
name *const names[] = {larder_value_data, larder_value_key};
extern order *const orders[];
order *const orders[] = {larder_remove_all, larder_reclaim, larder_destroy};
extern set *const sets[];
set *const sets[] = {larder_trim_to_count, larder_trim_to_cost, larder_set_count_limit,
                     larder_set_cost_limit};
extern ask *const asks[];
ask *const asks[] = {larder_get_count,
                     larder_get_cost,
                     larder_get_count_limit,
                     larder_get_cost_limit,
                     larder_get_effective_count_limit,
                     larder_get_effective_cost_limit};
extern status (*const set_for)(cache *, const void *, uint64_t, const void *, uint64_t, uint64_t,
                               uint64_t, value **);
status (*const set_for)(cache *, const void *, uint64_t, const void *, uint64_t, uint64_t, uint64_t,
                        value **) = larder_set_for;
extern status (*const left)(cache *, const void *, uint64_t, uint64_t *);
status (*const left)(cache *, const void *, uint64_t, uint64_t *) = larder_get_lifetime;
extern status (*const renew)(cache *, const void *, uint64_t, uint64_t);
status (*const renew)(cache *, const void *, uint64_t, uint64_t) = larder_set_lifetime;
extern status (*const rule)(cache *, uint64_t, uint64_t, double);
status (*const rule)(cache *, uint64_t, uint64_t, double) = larder_set_expiration;
extern ask *const expire;
ask *const expire = larder_remove_expired;
extern status (*const wind)(larder_clock **);
status (*const wind)(larder_clock **) = larder_clock_create;
extern status (*const advance)(larder_clock *, uint64_t);
status (*const advance)(larder_clock *, uint64_t) = larder_clock_advance;
extern status (*const stop)(larder_clock *);
status (*const stop)(larder_clock *) = larder_clock_release;
extern status (*const report[])(int32_t);
status (*const report[])(int32_t) = {larder_report_pressure, larder_listen, larder_background};
extern status (*const level)(int32_t *);
status (*const level)(int32_t *) = larder_get_pressure;
extern status (*const respond)(cache *, const larder_pressure_response *);
status (*const respond)(cache *, const larder_pressure_response *) = larder_set_pressure_response;
