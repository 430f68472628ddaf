// SPDX-License-Identifier: Apache-2.0
/* lrd_timer.h — the lifetimes of a shard's entries: the rule for those that were given none, and
 * the wheel that finds what has expired.
 *
 *   described ──published──▶ in the wheel ──its deadline──▶ due ──unlinked──▶ out of the wheel
 *
 * A lookup compares deadlines itself (lrd_use.h). So nobody finds what has expired, however late
 * the wheel is. The wheel only gives room and memory back.
 *
 * Guard: the shard's lock; `clock` is constant. `wide`, then `hard` are set once (lrd_retrofit.h),
 * or `hard` from the beginning. */
#pragma once

#include "lrd_wheel.h"

#pragma clang assume_nonnull begin

/// Lifetimes in nanoseconds; LRD_NEVER for none. `jitter`: by what part of a lifetime an entry may
/// expire earlier, from 0 to 1. The part depends on the key.
typedef struct lrd_expiration {
  uint64_t after_write;
  uint64_t after_access;
  double jitter;
} lrd_expiration;

/// The same in ticks, LRD_FOREVER for none; the jitter in units of 2^-32.
typedef struct lrd_rule {
  uint64_t after_write;
  uint64_t after_access;
  uint64_t jitter;
  uint64_t parity; // of words made by this rule
} lrd_rule;

typedef struct lrd_timer {
  lrd_wheel wheel;
  lrd_rule rule;
  uint64_t wake;    // the tick for which a visit is planned; it may come 0.25 s later
  uint64_t first;   // before this tick nothing is due
  uint64_t now;     // the tick of the last look
  uint64_t at_ease; // that of a shard without a timer (lrd_shard.h)
  bool wide;        // what is stored from now on takes `wide` slots (lrd_pool.h)
  bool hard;        // all entries have room for a hard word
  lrd_rule former;  // words with the other parity were made by it, while the rule changes
  lrd_manual_clock *_Nullable clock;
} lrd_timer;

/// A lifetime less all the jitter, if it ends.
static inline uint64_t lrd_shortest(uint64_t ticks, uint64_t jitter) {
  if (ticks >= LRD_FOREVER) return ticks;
  return ticks - (uint64_t)((unsigned __int128)ticks * jitter >> 32);
}

/// A use need not move a soft word that is later than the limit by this: a hit that finds so much
/// left stores nothing. That is the idle lifetime less the jitter and a 64th, and more by what the
/// limit may be late by: what is left of a short lifetime is never enough. Of the jitter a quarter
/// counts at most. Otherwise entries that are used all the time could expire.
static inline uint64_t lrd_rule_plenty(const lrd_rule *rule) {
  uint64_t idle = rule->after_access, most = (uint64_t)1 << 30;
  if (idle >= LRD_FOREVER) return 0;
  uint64_t shortest = lrd_shortest(idle, rule->jitter < most ? rule->jitter : most);
  return (shortest - shortest / 64 + LRD_LATE) << LRD_WORD_SHIFT;
}

/// What hits need of a rule (lrd_cache.h).
typedef struct lrd_idle {
  _Atomic(uint64_t) ticks; // after_access
  _Atomic(uint64_t) jitter;
} lrd_idle;

/// What an entry that is about to be published knows of its lifetime, in `next`; `word` has it.
enum lrd_lifetime_kind {
  LRD_LIFETIME_OF_RULE, // nothing
  LRD_LIFETIME_OWN,     // ticks from its publication
  LRD_LIFETIME_UNTIL,   // the tick of its deadline
  LRD_LIFETIME_KEPT,    // `word` and `hard` are those of another entry
};

lrd_rule lrd_rule_of(lrd_expiration expiration);

/// A lifetime shortened by the jitter of a key, but to no less than a tick. One of 0 stays 0.
static inline uint64_t lrd_spread(uint64_t ticks, uint64_t jitter, uint64_t hash48) {
  if (!ticks || !jitter || ticks >= LRD_FOREVER) return ticks;
  uint64_t part = (lrd_hash_mix(hash48) >> 32) * jitter >> 32;
  uint64_t less = (uint64_t)((unsigned __int128)ticks * part >> 32);
  return ticks - less ? ticks - less : 1;
}

/// A timer for an empty wheel; NULL without memory.
lrd_timer *_Nullable lrd_timer_create(lrd_manual_clock *_Nullable clock, const lrd_rule *rule);
void lrd_timer_destroy(lrd_timer *_Nullable timer);

/// The tick that it is now.
static inline uint64_t lrd_timer_tick(const lrd_timer *timer) {
  return lrd_tick_at(lrd_now(timer->clock));
}

/// The same, for all that its holder of the lock is about to do: reading the clock takes long.
static inline uint64_t lrd_timer_look(lrd_timer *timer) {
  return timer->now = lrd_timer_tick(timer);
}

/// True when a timed entry has expired by this limit.
static inline bool lrd_timer_is_over(const lrd_entry *entry, uint64_t limit) {
  return LRD_LOAD(&lrd_entry_time(entry)->word) < limit;
}

/// A hundred years, in nanoseconds. A longer lifetime has no end.
static const uint64_t lrd_lifetime_longest = (uint64_t)36525 * 86400 * 1000000000u;

/// The ticks of a lifetime in nanoseconds.
uint64_t lrd_ticks_of(uint64_t nanoseconds);

/// Says that an entry, described but for its time, goes by such a lifetime. It has room for it.
/// `ticks`: what `word` has of it.
void lrd_entry_time_open(lrd_entry *entry, enum lrd_lifetime_kind kind, uint64_t ticks);

/// Moves the cost of an entry that was described without a time to where it lies beside one.
static inline void lrd_entry_make_timed(lrd_entry *entry, uint64_t cost) {
  entry->fields |= LRD_IS_TIMED;
  if (cost) *lrd_entry_cost_field(entry, entry->fields) = cost;
}

/// Says of an entry, described without one, that it goes by the cache's lifetime. It has room.
void lrd_entry_add_time(lrd_entry *entry);

/// True when an entry that is about to be published would have expired by then.
bool lrd_timer_refuses(const lrd_timer *timer, const lrd_entry *entry);

/// Sets the words of an entry that is published at the last look, and links it.
void lrd_timer_add(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id);

/// The same for one that goes by the rule, whatever its time says.
void lrd_timer_add_plain(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id);

/// Takes `from` out of the wheel, and links its copy `to`, in slot `id`, with the same words. If a
/// hit moves the deadline of `from` at this moment, that may be lost: it then counts as not used.
void lrd_timer_move(lrd_timer *timer, lrd_pool *pool, lrd_entry *from, lrd_entry *to, uint32_t id);

/// Gives an entry in the wheel another deadline, from now on.
void lrd_timer_renew(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint64_t ticks);

/// Computes the words of an entry in the wheel anew if they are those of the former rule. If the
/// words do not tell when it was used last, it counts as used now.
void lrd_timer_follow(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry);

/// About a second.
static const uint64_t lrd_timer_overdue = (uint64_t)1 << (30 - LRD_TICK_SHIFT);

/// True once an entry expires before the tick for which a visit is planned: an earlier one must be
/// asked for. Also true when that visit is late by a second at the last look: it waits by a clock
/// that stood still while the machine slept. A clock that is moved by hand wakes nobody.
static inline bool lrd_timer_asks(const lrd_timer *timer) {
  if (timer->clock) return false;
  return timer->first < timer->wake || timer->wake + lrd_timer_overdue < timer->now;
}

/// The tick at which an entry was written: exact where the rule ends it; that tick or the next one
/// where nothing does; wrong by up to a fiftieth of a lifetime of its own.
uint64_t lrd_timer_written(const lrd_timer *timer, const lrd_pool *pool, const lrd_entry *entry);

#pragma clang assume_nonnull end
