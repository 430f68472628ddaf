// SPDX-License-Identifier: Apache-2.0
#include "lrd_timer.h"

#include "lrd_alloc.h"

uint64_t lrd_ticks_of(uint64_t nanoseconds) {
  if (nanoseconds > lrd_lifetime_longest) return LRD_FOREVER;
  // Not 0, which is "at once", for a lifetime shorter than a tick.
  uint64_t ticks = nanoseconds >> LRD_TICK_SHIFT;
  return nanoseconds && !ticks ? 1 : ticks;
}

lrd_rule lrd_rule_of(lrd_expiration expiration) {
  return (lrd_rule){.after_write = lrd_ticks_of(expiration.after_write),
                    .after_access = lrd_ticks_of(expiration.after_access),
                    .jitter = (uint64_t)(expiration.jitter * 0x1p32)};
}

lrd_timer *lrd_timer_create(lrd_manual_clock *clock, const lrd_rule *rule) {
  lrd_timer *timer = lrd_alloc(sizeof *timer, _Alignof(lrd_timer));
  if (!timer) return NULL;
  timer->rule = timer->former = *rule;
  timer->clock = clock;
  timer->wake = timer->first = LRD_FOREVER;
  timer->now = timer->at_ease = 0;
  timer->wide = timer->hard = false;
  timer->wheel.grace = 0;
  lrd_wheel_open(&timer->wheel, lrd_timer_tick(timer));
  return timer;
}

void lrd_timer_destroy(lrd_timer *timer) {
  lrd_free(timer, sizeof *timer, _Alignof(lrd_timer));
}

void lrd_entry_time_open(lrd_entry *entry, enum lrd_lifetime_kind kind, uint64_t ticks) {
  lrd_time *time = lrd_entry_time(entry);
  LRD_STORE(&time->word, ticks);
  time->previous = LRD_NIL;
  time->next = kind;
}

void lrd_entry_add_time(lrd_entry *entry) {
  lrd_entry_make_timed(entry, lrd_entry_cost(entry));
  lrd_entry_time_open(entry, LRD_LIFETIME_OF_RULE, 0);
}

bool lrd_timer_refuses(const lrd_timer *timer, const lrd_entry *entry) {
  const lrd_time *time = lrd_entry_time(entry);
  if (!timer->rule.after_access) return true;
  switch ((enum lrd_lifetime_kind)time->next) {
  case LRD_LIFETIME_OF_RULE:
    return !timer->rule.after_write;
  case LRD_LIFETIME_OWN:
    return !LRD_LOAD(&time->word);
  case LRD_LIFETIME_UNTIL:
    return LRD_LOAD(&time->word) <= lrd_timer_tick(timer);
  case LRD_LIFETIME_KEPT:
    return lrd_timer_is_over(entry, lrd_limit_at(lrd_timer_tick(timer)));
  }
  return false;
}

static uint64_t idle_of(const lrd_rule *rule, const lrd_entry *entry) {
  return lrd_spread(rule->after_access, rule->jitter, lrd_entry_hash48(entry));
}

static uint64_t life_of(const lrd_rule *rule, const lrd_entry *entry) {
  return lrd_spread(rule->after_write, rule->jitter, lrd_entry_hash48(entry));
}

/// Sets the word that counts, and links the entry.
LRD_INLINE void link(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id,
                     uint64_t word) {
  // Release, partner: the acquire load of hits that move the word.
  atomic_store_explicit(&lrd_entry_time(entry)->word, word, memory_order_release);
  uint64_t due = lrd_wheel_add(&timer->wheel, pool, entry, id, lrd_word_deadline(word));
  if (due < timer->first) timer->first = due;
}

/// Sets the words: that of the hard deadline, and what is left of it if the entry was used last at
/// `accessed`. Links the entry.
LRD_INLINE void set(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id, uint64_t hard,
                    uint64_t accessed) {
  uint64_t word = hard;
  if (timer->hard) {
    uint64_t idle = idle_of(&timer->rule, entry);
    uint64_t soft = lrd_word_make(accessed, idle, LRD_LIFE_SOFT, timer->rule.parity);
    // Near the end of time an idle time has no end, whatever the bits say that come after it.
    if (idle < LRD_FOREVER && !lrd_word_is_endless(soft) && soft < hard) word = soft;
    LRD_STORE(lrd_entry_hard_field(pool, entry), hard);
  }
  link(timer, pool, entry, id, word);
}

void lrd_timer_add_plain(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  const lrd_rule *rule = &timer->rule;
  uint64_t hard = lrd_word_make(timer->now, life_of(rule, entry), 0, rule->parity);
  set(timer, pool, entry, id, hard, timer->now);
}

/// The hard word of an entry, written at the last look, that lives for so many ticks.
static uint64_t word_of_own(const lrd_timer *timer, uint64_t ticks) {
  return lrd_word_make(timer->now, ticks, lrd_life_encode(ticks), timer->rule.parity);
}

void lrd_timer_add(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint32_t id) {
  const lrd_time *time = lrd_entry_time(entry);
  uint64_t word = LRD_LOAD(&time->word), hard;
  switch ((enum lrd_lifetime_kind)time->next) {
  case LRD_LIFETIME_OWN:
    hard = word_of_own(timer, word);
    break;
  case LRD_LIFETIME_UNTIL:
    // If the deadline has come since the entry was found, it is over at once.
    hard = word_of_own(timer, word > timer->now ? word - timer->now : 0);
    break;
  case LRD_LIFETIME_KEPT:
    // The rule may have changed since that entry left. It is not to miss the next change.
    hard = lrd_entry_hard(pool, entry, word) & ~LRD_WORD_PARITY;
    hard |= timer->rule.parity;
    break;
  default:
    lrd_timer_add_plain(timer, pool, entry, id);
    return;
  }
  set(timer, pool, entry, id, hard, timer->now);
}

void lrd_timer_move(lrd_timer *timer, lrd_pool *pool, lrd_entry *from, lrd_entry *to, uint32_t id) {
  uint64_t word = LRD_LOAD(&lrd_entry_time(from)->word);
  if (lrd_word_is_soft(word)) {
    LRD_STORE(lrd_entry_hard_field(pool, to), LRD_LOAD(lrd_entry_hard_field(pool, from)));
  }
  lrd_wheel_remove(&timer->wheel, pool, from);
  link(timer, pool, to, id, word);
}

void lrd_timer_renew(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry, uint64_t ticks) {
  uint64_t now = lrd_timer_tick(timer);
  uint32_t id = lrd_wheel_remove(&timer->wheel, pool, entry);
  set(timer, pool, entry, id, lrd_word_make(now, ticks, lrd_life_encode(ticks), timer->rule.parity),
      now);
}

static uint64_t written_by(const lrd_rule *rule, const lrd_entry *entry, uint64_t hard) {
  uint64_t deadline = lrd_word_deadline(hard), life = lrd_word_life(hard);
  if (lrd_word_is_endless(hard)) return 2 * (deadline - LRD_FOREVER);
  uint64_t ticks = life ? lrd_life_decode(life) : life_of(rule, entry);
  return deadline > ticks ? deadline - ticks : 0;
}

uint64_t lrd_timer_written(const lrd_timer *timer, const lrd_pool *pool, const lrd_entry *entry) {
  uint64_t word = LRD_LOAD(&lrd_entry_time(entry)->word);
  uint64_t hard = lrd_entry_hard(pool, entry, word);
  // A word without an end has all bits of the tick but the lowest. Rounded up, so that nothing
  // looks older than it is.
  bool follows = (hard & LRD_WORD_PARITY) == timer->rule.parity;
  const lrd_rule *rule = follows ? &timer->rule : &timer->former;
  return written_by(rule, entry, hard) + lrd_word_is_endless(hard);
}

void lrd_timer_follow(lrd_timer *timer, lrd_pool *pool, lrd_entry *entry) {
  const lrd_rule *former = &timer->former;
  uint64_t word = LRD_LOAD(&lrd_entry_time(entry)->word);
  uint64_t hard = lrd_entry_hard(pool, entry, word);
  if ((hard & LRD_WORD_PARITY) == timer->rule.parity) return;
  // What has expired does not come back, however long the new lifetimes are.
  uint64_t now = lrd_timer_tick(timer), accessed = now;
  if (lrd_timer_is_over(entry, lrd_limit_at(now))) return;
  // A soft word tells when the entry was used last. If nothing does, it was now.
  if (lrd_word_is_soft(word)) accessed = lrd_word_deadline(word) - idle_of(former, entry);
  if (lrd_word_life(hard)) {
    hard = (hard & ~LRD_WORD_PARITY) | timer->rule.parity;
  } else {
    uint64_t written = written_by(former, entry, hard);
    hard = lrd_word_make(written, life_of(&timer->rule, entry), 0, timer->rule.parity);
  }
  uint32_t id = lrd_wheel_remove(&timer->wheel, pool, entry);
  set(timer, pool, entry, id, hard, accessed);
}
