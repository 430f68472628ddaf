// SPDX-License-Identifier: Apache-2.0
#include "lrd_ghosts.h"

void lrd_ghosts_open(lrd_ghosts *ghosts, uint16_t *slots, uint32_t buckets, uint64_t granule) {
  *ghosts = (lrd_ghosts){.slots = slots, .buckets = buckets, .granule = granule ? granule : 1};
  ghosts->room = ghosts->granule;
}

void lrd_ghosts_end_epoch(lrd_ghosts *ghosts) {
  uint64_t over = -ghosts->room;
  ghosts->room = over < ghosts->granule ? ghosts->granule - over : 0;
  ghosts->epoch = (ghosts->epoch + 1) % LRD_GHOSTS_EPOCHS;
}

bool lrd_ghosts_take_out(const lrd_ghosts *ghosts, uint16_t *bucket, uint16_t mark, uint32_t life) {
  bool alive = false;
  // A key that was evicted again has two ghosts. Chance may give it others.
  for (uint64_t found; (found = lrd_ghosts_matches(bucket, mark));) {
    uint32_t first = (uint32_t)__builtin_ctzll(found) / 8;
    alive |= (ghosts->epoch - bucket[first]) % LRD_GHOSTS_EPOCHS <= life;
    for (uint32_t i = first; i < LRD_GHOSTS_BUCKET - 1; i++) bucket[i] = bucket[i + 1];
    bucket[LRD_GHOSTS_BUCKET - 1] = 0;
  }
  return alive;
}

/// Clears the dead ghosts of the next bucket.
static void sweep_bucket(lrd_ghosts *ghosts) {
  uint16_t *bucket = &ghosts->slots[(size_t)ghosts->sweep * LRD_GHOSTS_BUCKET];
  lrd_ghosts_slots slots = lrd_ghosts_living(ghosts, lrd_ghosts_load(bucket));
  memcpy(bucket, &slots, sizeof slots);
  if (++ghosts->sweep == ghosts->buckets) ghosts->sweep = 0;
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
/// idle shard needs none. There are `percent` ghosts for a hundred entries.
static void demand(const lrd_ghosts *ghosts, lrd_order *order, uint64_t most, uint32_t percent) {
  uint32_t least = lrd_ghosts_buckets(most * slots_per_ghost);
  if (LRD_LIKELY(ghosts->buckets >= least && ghosts->buckets / 4 <= least)) return;
  if (lrd_order_is_idle(order, most)) return;
  // Where costs limit the entries, their number may still rise, to that of the other limit. Leave
  // room for more: a new history is an empty one.
  uint64_t room = lrd_least(most + most / 2, lrd_bound_percent(order->share.count, percent));
  order->history.wanted = lrd_ghosts_bytes(lrd_ghosts_buckets(room * slots_per_ghost));
}

/// Makes ghosts live while a weight of `most` is added. A ghost sees the rest of its own epoch and
/// `life` more: eight and a half on average in a large table. Exact up to a weight of 8.
static void set_life(lrd_ghosts *ghosts, uint64_t most) {
  uint64_t halves = 2 * epochs_per_life + 1;
  uint64_t granule = (most * 2 + halves - 1) / halves;
  uint64_t filled = ghosts->granule - ghosts->room;
  ghosts->room = filled < granule ? granule - filled : 0;
  ghosts->granule = granule;
  ghosts->life = (uint32_t)(most / granule);
}

void lrd_ghosts_add_entry(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry,
                          uint32_t percent) {
  uint64_t entries = lrd_order_room_percent(order, percent);
  demand(ghosts, order, entries, percent);
  if (!ghosts->buckets) return;
  bool by_cost = is_by_cost(order);
  set_life(ghosts, by_cost ? lrd_bound_percent(order->share.cost, percent) : entries);
  lrd_ghosts_add(ghosts, lrd_entry_hash48_locked(entry), weight_of(order, entry));
  for (int i = by_cost ? sweeps_by_cost : 1; i; i--) sweep_bucket(ghosts);
}

void lrd_ghosts_resize(const lrd_ghosts *ghosts, lrd_order *order, uint32_t percent) {
  if (!ghosts->buckets && !order->history.wanted) return;
  uint64_t most = lrd_order_room_percent(order, percent);
  // What was asked for was for other limits.
  order->history.wanted = order->history.bytes;
  demand(ghosts, order, most, percent);
  if (lrd_order_is_idle(order, most)) order->history.wanted = 0;
}

bool lrd_ghosts_take(lrd_ghosts *ghosts, const lrd_order *order, const lrd_entry *entry) {
  if (!lrd_ghosts_recall(ghosts, lrd_entry_hash48_locked(entry), ghosts->life)) return false;
  uint64_t weight = weight_of(order, entry), filled = ghosts->granule - ghosts->room;
  ghosts->room += weight < filled ? weight : filled;
  return true;
}

void lrd_ghosts_renewed(lrd_ghosts *ghosts, const lrd_order *order) {
  uint32_t buckets = (uint32_t)(order->history.bytes / lrd_ghosts_bytes(1));
  lrd_ghosts_open(ghosts, order->history.memory, buckets, 1);
}
