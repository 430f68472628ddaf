// SPDX-License-Identifier: Apache-2.0
#include "lrd_advisor.h"

#include "lrd_alloc.h"

/* How much the constants matter. Figures are mean reductions of misses against FIFO, over public
 * traces read through the cache, of some 13.6 %.
 *   period    0.01 to 0.1: within 0.1. Short periods react sooner when the workload changes.
 *   costs     of growing 0.3 to 0.5, of shrinking 0.2 to 0.4: within 0.05. They keep chance from
 *             giving up what a small queue has kept through scans.
 *   unloaded  Without it, programs that store nothing after a miss keep a bad expert up to ten
 *             points longer in short traces. 0.05 to 0.35: within 1 point there, of some 46 %.
 *   any       0 to 0.2: within 0.2. Keeps experts that are close from taking turns.
 *   excess    Without it, one cell of a disk trace whose programs store a key only when it is new
 *             misses 4 points more. 0.4: 0.1 to 0.3 worse where programs load what they miss.
 *   margin    Without it, experts that are close take turns where nothing is loaded. A program that
 *             stores one request in four then misses up to 4.5 points more than under the best
 *             policy, and with it 2.1. 1 to 5: within 0.1 of the mean there. In small caches, and
 *             where everything is loaded, it makes the advisor slower and thus worse. */
static const double decision_period = 0.03;
static const double cost_of_growing = 0.4;
static const double cost_of_shrinking = 0.3;
static const double cost_of_any = 0.1;
/// What a miss of the cache itself counts against the current expert if its shadow hits. More than
/// 0.25 makes loops change their expert while it still learns them.
static const double excess = 0.25;
/// The part of these costs that remains where no store follows a miss.
static const double unloaded = 0.15;
/// What a change must have saved there, in roots of the current expert's misses. Half of a shadow's
/// capacity is always enough.
static const double margin = 2;
/// A long time, in capacities of misses.
enum { long_time = 8 };
/// Shadows smaller than this decide as seldom as if they were this large, and by as many misses.
/// Otherwise they would decide by chance.
static const uint32_t least_reference = 100;

lrd_advisor *lrd_advisor_create(uint32_t shards) {
  lrd_advisor *advisor = lrd_alloc_zeroed(sizeof(lrd_advisor), _Alignof(lrd_advisor));
  if (!advisor) return NULL;
  advisor->shards = shards ? shards : 1;
  advisor->alone = !shards;
  LRD_STORE(&advisor->current, LRD_EXPERT_FIRST);
  return advisor;
}

/// The entries of the whole cache, if each shard holds so many.
static uint64_t times_shards(const lrd_advisor *advisor, uint64_t entries) {
  uint64_t most = UINT64_MAX / advisor->shards;
  return (entries < most ? entries : most) * advisor->shards;
}

void lrd_advisor_propose(lrd_advisor *advisor, uint64_t entries, bool exact) {
  uint64_t wished = LRD_LOAD(&advisor->wished), all = times_shards(advisor, entries);
  if (!exact && all / 2 <= wished && all >= wished / 2) return;
  // A limit that moves by a little: the shadows go on. All shards ask, before and after they are
  // adjusted, so what they were made for decides.
  uint64_t built = LRD_LOAD(&advisor->built);
  bool close = exact && built && all <= built + built / 8 && all >= built - built / 8;
  LRD_STORE(&advisor->wished, all);
  LRD_STORE(&advisor->mean, close ? all : 0);
  LRD_STORE(&advisor->exact, exact);
}

void lrd_advisor_measure(lrd_advisor *advisor, uint64_t entries) {
  uint64_t wished = LRD_LOAD(&advisor->wished), mean = LRD_LOAD(&advisor->mean);
  if (!wished) return;
  uint64_t all = times_shards(advisor, entries);
  // The last few of each shard: what it holds changes by chance.
  uint64_t parts = (uint64_t)advisor->shards + 3;
  if (!mean) mean = all;
  if (all > mean) mean += (all - mean - 1) / parts + 1;
  if (all < mean) mean -= (mean - all - 1) / parts + 1;
  LRD_STORE(&advisor->mean, mean);
  // Small shadows are made anew when the cache has become smaller, and learn anew.
  uint64_t slack = wished / (wished < LRD_SHADOW_LEAST ? 4 : 8);
  if (mean <= wished + slack && mean >= wished - slack) return;
  LRD_STORE(&advisor->wished, mean);
  LRD_STORE(&advisor->exact, false);
}

static void free_shadows(lrd_shadows *shadows, uint32_t capacity) {
  lrd_free(shadows, lrd_shadows_bytes(capacity), _Alignof(lrd_shadows));
}

void lrd_advisor_destroy(void *shared) {
  lrd_advisor *advisor = shared;
  // If the lock is held, fork() came in the middle of an adjustment, and nobody is left to release
  // it. The memory of the shadows is lost then.
  if (!lrd_lock_is_held(&advisor->lock)) free_shadows(advisor->shadows, advisor->capacity);
  lrd_free(advisor, sizeof *advisor, _Alignof(lrd_advisor));
}

/// Where an expert is on the scale from a small queue of nothing to one of all; CLOCK is at the
/// end.
static int place_of(const lrd_expert *expert) {
  return expert->clock ? 100 : expert->small;
}

/// The cost of a change from one expert to another, in entries. A small queue that grows makes the
/// main queue give up at once what it has gathered. Growing therefore costs more than shrinking.
static double cost_of_change(const lrd_expert *from, const lrd_expert *to, uint32_t capacity) {
  int way = place_of(to) - place_of(from);
  double distance = way > 0 ? cost_of_growing * way : -cost_of_shrinking * way;
  return (distance / 100 + cost_of_any) * capacity;
}

static uint32_t reference_capacity(const lrd_advisor *advisor) {
  return advisor->capacity > least_reference ? advisor->capacity : least_reference;
}

/// True when an expert may have saved so many misses by chance. `loads`: see lrd_tally_loaded().
static bool is_chance(lrd_advisor *advisor, double saved, double loads) {
  if (lrd_advisor_is_small(advisor) || saved >= advisor->capacity / 2.0) return false;
  double roots = margin * (1 - loads), misses = advisor->misses[lrd_advisor_current(advisor)];
  // After a long time the roots are many. Where nothing is found any more, the workload has become
  // another one.
  if (lrd_tally_finds_little(&advisor->heard) && misses > long_time * advisor->capacity)
    return false;
  return saved * saved < roots * roots * misses;
}

/// Forgets the misses of each expert beyond so many.
static void bound_misses_locked(lrd_advisor *advisor, double highest) LRD_REQUIRES(advisor->lock) {
  for (uint32_t i = 0; i < LRD_EXPERTS; i++) {
    if (advisor->misses[i] > highest) advisor->misses[i] = highest;
  }
}

static void decide_locked(lrd_advisor *advisor) LRD_REQUIRES(advisor->lock) {
  const lrd_tally *heard = &advisor->heard;
  const double *misses = advisor->misses;
  uint32_t current = lrd_advisor_current(advisor), best = current;
  double loads = lrd_tally_loaded(heard), weight = unloaded + (1 - unloaded) * loads, most = 0;
  if (lrd_lead_ends(&advisor->lead, heard)) bound_misses_locked(advisor, misses[current]);
  for (uint32_t i = 0; i < LRD_EXPERTS; i++) {
    double cost = cost_of_change(&lrd_experts[current], &lrd_experts[i], advisor->capacity);
    double saved = misses[current] - misses[i];
    if (i != current && saved - weight * cost > most && !is_chance(advisor, saved, loads)) {
      most = saved - weight * cost;
      best = i;
    }
  }
  LRD_STORE(&advisor->current, best);
  double lead =
      lrd_lead_decided(&advisor->lead, best != current, loads >= 0.5, lrd_advisor_is_small(advisor),
                       advisor->capacity, reference_capacity(advisor));
  bound_misses_locked(advisor, misses[best] + lead);
}

/// Insertions read the line of these fields, so each is written only when it changes.
static void hear_loads(lrd_advisor *advisor) {
  if (!lrd_advisor_hears_loads(advisor)) LRD_STORE(&advisor->loading, true);
}

static void hear(lrd_advisor *advisor, lrd_demand demand, bool keeps) {
  if (demand != lrd_advisor_hears_demand(advisor)) LRD_STORE(&advisor->demand, (uint8_t)demand);
  if (keeps != lrd_advisor_keeps(advisor)) LRD_STORE(&advisor->keeps, keeps);
}

/// Completes what only the advisor knows of a probe, before any shadow is asked.
static void begin_locked(lrd_advisor *advisor, lrd_probe *probe) LRD_REQUIRES(advisor->lock) {
  lrd_tally *heard = &advisor->heard;
  switch ((lrd_heard)probe->heard) {
  case LRD_HEARD_HIT:
    lrd_tally_hits(heard, probe->hits);
    probe->stores = lrd_tally_draw(heard);
    break;
  case LRD_HEARD_MISS:
    lrd_tally_miss(heard, probe->mixed);
    break;
  case LRD_HEARD_LOAD:
    lrd_tally_load(heard);
    hear_loads(advisor);
    break;
  case LRD_HEARD_STORE:
    probe->proves = lrd_advisor_hears_loads(advisor);
    if (!lrd_tally_store(heard, probe->mixed)) break;
    probe->heard = LRD_HEARD_FILL;
    hear_loads(advisor);
    break;
  case LRD_HEARD_FILL:
  case LRD_HEARD_REMOVAL:
    break;
  }
  lrd_demand demand = lrd_tally_demand(heard, lrd_advisor_is_small(advisor));
  probe->demand = (uint8_t)demand;
  probe->keeps = lrd_tally_loads_nothing(heard);
  hear(advisor, demand, probe->keeps);
}

/// Asks the shadows, counts the misses of each, and decides when there were enough.
static void learn_locked(lrd_advisor *advisor, lrd_probe *probe) LRD_REQUIRES(advisor->lock) {
  begin_locked(advisor, probe);
  lrd_question question = lrd_probe_question(probe);
  lrd_shadow_set lacking = lrd_question_ask(&question, advisor->shadows);
  uint32_t current = lrd_advisor_current(advisor), absent = 0;
  bool is_miss = lrd_probe_is_miss(probe);
  if (is_miss && !(lacking >> 4 * current & 1)) advisor->misses[current] += excess;
  for (lrd_shadow_set left = question.misses ? lacking : 0; left; left &= left - 1) {
    advisor->misses[lrd_shadow_first(left)] += question.misses;
    absent += question.misses;
  }
  advisor->events += absent || !is_miss ? absent : LRD_EXPERTS;
  if (advisor->events < decision_period * LRD_EXPERTS * reference_capacity(advisor)) return;
  advisor->events = 0;
  decide_locked(advisor);
}

/// Takes `lock`, unless one thread has the advisor for itself.
static bool try_lock(lrd_advisor *advisor)
    LRD_TRY_ACQUIRE(true, advisor->lock) LRD_UNCHECKED_LOCKS {
  return advisor->alone || lrd_lock_try(&advisor->lock);
}

static void release(lrd_advisor *advisor) LRD_RELEASE(advisor->lock) LRD_UNCHECKED_LOCKS {
  if (!advisor->alone) lrd_lock_release(&advisor->lock);
}

bool lrd_advisor_learn(lrd_advisor *advisor, lrd_probe *probe) {
  if (!try_lock(advisor)) return false;
  if (advisor->shadows) learn_locked(advisor, probe);
  release(advisor);
  return true;
}

/// `capacity` as a part of `entries`, in units of 2^-32.
static uint32_t threshold_for(uint32_t capacity, uint64_t entries) {
  if (!entries) return 0;
  uint64_t part = ((uint64_t)capacity << 32) / entries;
  return part > UINT32_MAX ? UINT32_MAX : (uint32_t)part;
}

static void sample_locked(lrd_advisor *advisor, uint64_t entries) LRD_REQUIRES(advisor->lock) {
  bool shadows = advisor->shadows;
  LRD_STORE(&advisor->threshold, shadows ? threshold_for(advisor->capacity, entries) : 0);
  LRD_STORE(&advisor->built, entries);
}

/// True when the shadows that there are do for a cache of `entries`, which a shard has measured, or
/// which are about as many as before.
static bool suit_locked(lrd_advisor *advisor, uint64_t entries) LRD_REQUIRES(advisor->lock) {
  uint32_t capacity = advisor->capacity, best = lrd_advisor_shadow(entries);
  uint64_t most = LRD_LOAD(&advisor->exact) ? entries + entries / 8 : entries;
  return advisor->shadows && LRD_LOAD(&advisor->mean) && capacity <= most && capacity / 2 <= best &&
         capacity >= best / 2;
}

/// Goes on with these shadows, or later if the lock is busy. False if they must be others.
static bool go_on(lrd_advisor *advisor, uint64_t entries) {
  if (!try_lock(advisor)) return true;
  bool suit = suit_locked(advisor, entries);
  if (suit) sample_locked(advisor, entries);
  release(advisor);
  return suit;
}

size_t lrd_advisor_bytes(void *shared) {
  lrd_advisor *advisor = shared;
  return sizeof *advisor + LRD_LOAD(&advisor->bytes);
}

void lrd_advisor_adjust(void *shared) {
  lrd_advisor *advisor = shared;
  if (!lrd_advisor_waits(advisor)) return;
  // While the lock is held, shadows made here could not be put in place. In a child of fork() it
  // may be held for ever; see the header.
  if (lrd_lock_is_held(&advisor->lock)) return;
  uint64_t entries = LRD_LOAD(&advisor->wished);
  if (go_on(advisor, entries)) return;
  uint32_t capacity = lrd_advisor_shadow(entries);
  void *memory =
      capacity ? lrd_alloc_zeroed(lrd_shadows_bytes(capacity), _Alignof(lrd_shadows)) : NULL;
  lrd_shadows *shadows = memory ? lrd_shadows_open(memory, capacity) : NULL;
  lrd_shadows *former = shadows;
  uint32_t former_capacity = capacity;
  if (try_lock(advisor)) {
    former = advisor->shadows;
    former_capacity = advisor->capacity;
    advisor->shadows = shadows;
    advisor->capacity = capacity;
    LRD_STORE(&advisor->bytes, shadows ? lrd_shadows_bytes(capacity) : 0);
    advisor->events = 0;
    advisor->lead = (lrd_lead){0};
    for (int i = 0; i < LRD_EXPERTS; i++) advisor->misses[i] = 0;
    lrd_tally_clear(&advisor->heard);
    // Since lrd_advisor_forget() misses may have been counted beside those of before.
    hear(advisor, LRD_DEMAND_NONE, false);
    uint64_t built = LRD_LOAD(&advisor->built);
    if (entries / 2 >= built || entries <= built / 2)
      LRD_STORE(&advisor->current, lrd_expert_first(entries ? entries : built));
    sample_locked(advisor, entries);
    release(advisor);
  }
  free_shadows(former, former_capacity);
}
