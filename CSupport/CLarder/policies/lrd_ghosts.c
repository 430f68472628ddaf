// SPDX-License-Identifier: Apache-2.0
#include "lrd_ghosts.h"

#include <string.h>

enum {
  epoch_mask = 15,
  met_bit = 16,
  mark_shift = 5,
  mark_mask = 0x7ff,
};

void lrd_ghosts_open(lrd_ghosts *ghosts, uint16_t *slots, uint32_t buckets, uint64_t granule) {
  *ghosts = (lrd_ghosts){.slots = slots, .buckets = buckets, .granule = granule ? granule : 1};
}

/// The slots of a bucket side by side. The processor compares all eight at once.
typedef uint16_t vector __attribute__((vector_size(LRD_GHOSTS_BUCKET * sizeof(uint16_t))));
typedef int16_t signed_vector __attribute__((vector_size(sizeof(vector))));
typedef uint8_t bytes __attribute__((vector_size(LRD_GHOSTS_BUCKET)));

static vector all(uint32_t value) {
  uint16_t v = (uint16_t)value;
  return (vector){v, v, v, v, v, v, v, v};
}

static vector load(const uint16_t *bucket) {
  vector slots;
  memcpy(&slots, bucket, sizeof slots);
  return slots;
}

static vector age_of_each(const lrd_ghosts *ghosts, vector slots) {
  return (all(ghosts->epoch) - slots) & all(epoch_mask);
}

static uint32_t age(const lrd_ghosts *ghosts, uint16_t slot) {
  return (ghosts->epoch - slot) & epoch_mask;
}

/// The fingerprint, shifted to where a slot has it. Never 0.
static uint16_t mark_of(uint64_t mixed) {
  uint16_t mark = mixed & mark_mask;
  return (uint16_t)((mark ? mark : 1) << mark_shift);
}

/// A slot with this mark. If chance gave several slots the same mark, any of them will do.
static uint16_t *find(uint16_t *bucket, uint16_t mark) {
  vector equal = (vector)((load(bucket) & all(mark_mask << mark_shift)) == all(mark));
  bytes narrow = __builtin_convertvector(equal, bytes);
  uint64_t matches;
  memcpy(&matches, &narrow, sizeof matches);
  return LRD_LIKELY(!matches) ? NULL : &bucket[__builtin_ctzll(matches) / 8];
}

/// Clears the dead slots of the next bucket.
static void sweep_bucket(lrd_ghosts *ghosts) {
  uint16_t *bucket = &ghosts->slots[(size_t)ghosts->sweep * LRD_GHOSTS_BUCKET];
  vector slots = load(bucket);
  slots &= (vector)(age_of_each(ghosts, slots) <= all(LRD_GHOSTS_OLDEST));
  memcpy(bucket, &slots, sizeof slots);
  if (++ghosts->sweep == ghosts->buckets) ghosts->sweep = 0;
}

/// The larger of each pair of numbers below 2^15.
static vector larger(vector a, vector b) {
  vector more = (vector)((signed_vector)a > (signed_vector)b);
  return (a & more) | (b & ~more);
}

/// An empty slot, or the oldest. The first, if there are several.
static uint16_t *slot_for(const lrd_ghosts *ghosts, uint16_t *bucket) {
  vector slots = load(bucket);
  vector empty = (vector)(slots == all(0)) & all(epoch_mask + 1);
  vector rank = (age_of_each(ghosts, slots) | empty) << 3 | (vector){7, 6, 5, 4, 3, 2, 1, 0};
  rank = larger(rank, __builtin_shufflevector(rank, rank, 4, 5, 6, 7, 0, 1, 2, 3));
  rank = larger(rank, __builtin_shufflevector(rank, rank, 2, 3, 0, 1, 6, 7, 4, 5));
  rank = larger(rank, __builtin_shufflevector(rank, rank, 1, 0, 3, 2, 5, 4, 7, 6));
  return &bucket[7 - (rank[0] & 7)];
}

/// Counts the weight of a new ghost, and begins the next epoch when the current one is full.
static void fill_epoch(lrd_ghosts *ghosts, uint64_t weight) {
  ghosts->filled += weight;
  if (ghosts->filled <= ghosts->granule) return;
  ghosts->filled -= ghosts->granule;
  if (ghosts->filled > ghosts->granule) ghosts->filled = ghosts->granule;
  ghosts->epoch = (ghosts->epoch + 1) & epoch_mask;
}

void lrd_ghosts_add(lrd_ghosts *ghosts, uint64_t mixed, uint64_t weight) {
  if (!ghosts->buckets) return;
  fill_epoch(ghosts, weight);
  sweep_bucket(ghosts);
  uint16_t *bucket = lrd_ghosts_bucket(ghosts, mixed);
  uint16_t mark = mark_of(mixed);
  uint16_t *known = find(bucket, mark);
  uint16_t met = known && age(ghosts, *known) <= LRD_GHOSTS_OLDEST ? *known & met_bit : 0;
  *(known ? known : slot_for(ghosts, bucket)) = mark | met | (uint16_t)ghosts->epoch;
}

lrd_recall lrd_ghosts_recall(lrd_ghosts *ghosts, uint64_t mixed, uint32_t life, bool keep) {
  if (!ghosts->buckets) return LRD_UNKNOWN;
  uint16_t mark = mark_of(mixed);
  uint16_t *slot = find(lrd_ghosts_bucket(ghosts, mixed), mark);
  if (!slot) return LRD_UNKNOWN;
  bool alive = age(ghosts, *slot) <= life;
  bool met = *slot & met_bit;
  *slot = alive && !met && keep ? mark | met_bit | (uint16_t)ghosts->epoch : 0;
  return !alive ? LRD_UNKNOWN : met ? LRD_MET : LRD_ONCE;
}

/* For a policy whose history is a table of ghosts. */

enum {
  epochs_per_life = 8,
  slots_per_ghost = 2,
  // Buckets to clear for each ghost that has the weight of its cost. After a few heavy ghosts the
  // epochs hold fewer ghosts than was expected. A single bucket each would then be too slow.
  sweeps_by_cost = 4,
};

/// True where ghosts have the weight of their costs.
static bool is_by_cost(const lrd_order *order) {
  return order->share.count == LRD_UNBOUNDED && order->share.cost != LRD_UNBOUNDED;
}

static uint64_t weight_of(const lrd_order *order, const lrd_entry *entry) {
  uint64_t cost = lrd_entry_cost(entry);
  return is_by_cost(order) && cost ? cost : 1;
}

/// Asks for another history when this one has too few slots for `most` ghosts, or far too many. An
/// idle shard needs none.
static void demand(const lrd_ghosts *ghosts, lrd_order *order, uint64_t most) {
  uint32_t least = lrd_ghosts_buckets(most * slots_per_ghost);
  if (LRD_LIKELY(ghosts->buckets >= least && ghosts->buckets / 4 <= least)) return;
  if (lrd_order_is_idle(order, most)) return;
  // Where costs limit the entries, their number may still rise. Leave room for more.
  uint32_t spare = order->share.count != LRD_UNBOUNDED ? 0 : least / 2;
  order->history.wanted = lrd_ghosts_bytes(least + spare);
}

/// Makes ghosts live while a weight of `most` is added. A ghost sees the rest of its own epoch and
/// `life` more: eight and a half on average in a large table. Exact up to a weight of 8.
static void set_life(lrd_ghosts *ghosts, uint64_t most) {
  uint64_t halves = 2 * epochs_per_life + 1;
  ghosts->granule = (most * 2 + halves - 1) / halves;
  ghosts->life = (uint32_t)(most / ghosts->granule);
}

void lrd_ghosts_add_entry(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry,
                          uint32_t percent) {
  uint64_t entries = lrd_order_percent(order, percent);
  demand(ghosts, order, entries);
  if (!ghosts->buckets) return;
  bool by_cost = is_by_cost(order);
  set_life(ghosts, by_cost ? lrd_bound_percent(order->share.cost, percent) : entries);
  lrd_ghosts_add(ghosts, lrd_entry_mixed_hash(entry), weight_of(order, entry));
  for (int i = 1; by_cost && i < sweeps_by_cost; i++) sweep_bucket(ghosts);
}

bool lrd_ghosts_take(lrd_ghosts *ghosts, const lrd_order *order, const lrd_entry *entry) {
  uint64_t mixed = lrd_entry_mixed_hash(entry);
  if (lrd_ghosts_recall(ghosts, mixed, ghosts->life, false) == LRD_UNKNOWN) return false;
  uint64_t weight = weight_of(order, entry);
  ghosts->filled -= weight < ghosts->filled ? weight : ghosts->filled;
  return true;
}

void lrd_ghosts_renewed(lrd_ghosts *ghosts, const lrd_order *order) {
  uint32_t buckets = (uint32_t)(order->history.bytes / lrd_ghosts_bytes(1));
  lrd_ghosts_open(ghosts, order->history.memory, buckets, 1);
}
