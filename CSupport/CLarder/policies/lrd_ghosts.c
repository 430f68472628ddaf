// SPDX-License-Identifier: Apache-2.0
#include "lrd_ghosts.h"

enum {
  slots_per_bucket = 16,
  live_per_bucket = 8,
  epoch_bits = 12,
  epoch_mask = (1 << epoch_bits) - 1,
  epochs_per_set = 256,
  idle_part = 16, // the part of its limit that a shard must hold to have ghosts
};

typedef struct bucket {
  uint32_t slot[slots_per_bucket];
} bucket;

/// Where a key's ghost is, and its slot without the epoch. Never 0: the fingerprint has a bit set.
typedef struct spot {
  bucket *bucket;
  uint32_t fingerprint;
} spot;

static spot spot_of(const lrd_ghosts *ghosts, const lrd_order *order, const lrd_entry *entry) {
  uint64_t mixed = lrd_entry_hash48(entry) * 0x9E3779B97F4A7C15u;
  uint64_t index = (uint64_t)(((unsigned __int128)mixed * ghosts->buckets) >> 64);
  uint32_t fingerprint = (uint32_t)(mixed >> 20) << epoch_bits | (uint32_t)1 << epoch_bits;
  return (spot){(bucket *)order->history.memory + index, fingerprint};
}

/// Epochs that can be told apart, a power of two: enough for a set of which most were taken out.
static uint64_t epochs_for(uint64_t buckets) {
  uint64_t epochs = 64;
  while (epochs <= epoch_mask && epochs < buckets * live_per_bucket * 8) epochs *= 2;
  return epochs;
}

static uint64_t *alive(const lrd_ghosts *ghosts, const lrd_order *order, uint64_t epoch) {
  uint64_t *weights = (uint64_t *)((bucket *)order->history.memory + ghosts->buckets);
  return &weights[epoch & (epochs_for(ghosts->buckets) - 1)];
}

/// The epoch a slot was filled in, as far as 12 bits tell: none is reused before its slots are.
static uint64_t epoch_of(const lrd_ghosts *ghosts, uint32_t slot) {
  return ghosts->newest - ((ghosts->newest - slot) & epoch_mask);
}

static uint64_t buckets_for(uint64_t capacity) {
  return capacity / live_per_bucket + 1;
}

/// True where ghosts are weighed by cost.
static bool weighs(const lrd_order *order) {
  return order->share.count == LRD_UNBOUNDED && order->share.cost != LRD_UNBOUNDED;
}

static uint64_t weight_of(const lrd_order *order, const lrd_entry *entry) {
  return weighs(order) && entry->cost ? entry->cost : 1;
}

/// Asks for another history when this one is too small or far too large.
/// A shard that is nearly empty, as one with a huge limit may be for ever, needs none.
static void demand(lrd_ghosts *ghosts, lrd_order *order, uint64_t entries) {
  uint64_t held = 0;
  for (int i = 0; i < LRD_QUEUES; i++) held += order->queue[i].size.count;
  if (entries / idle_part > held) return;
  uint64_t least = buckets_for(entries);
  if (LRD_LIKELY(ghosts->buckets >= least && ghosts->buckets <= least * 4)) return;
  // Where the cost limits the entries, their number is not known in advance: room for more.
  ghosts->wanted_buckets = order->share.count != LRD_UNBOUNDED ? least : least + least / 2;
  order->history.wanted = ghosts->wanted_buckets * sizeof(bucket) +
                          epochs_for(ghosts->wanted_buckets) * sizeof(uint64_t);
}

void lrd_ghosts_renewed(lrd_ghosts *ghosts) {
  uint64_t buckets = ghosts->wanted_buckets;
  *ghosts = (lrd_ghosts){.buckets = buckets, .wanted_buckets = buckets};
  ghosts->granule = buckets * live_per_bucket / epochs_per_set + 1;
}

/// Lets the oldest epochs die until at most `most`, or one epoch more, is alive.
static void expire(lrd_ghosts *ghosts, lrd_order *order, uint64_t most) {
  uint64_t span = epochs_for(ghosts->buckets) - 1;
  while (ghosts->oldest < ghosts->newest) {
    uint64_t *left = alive(ghosts, order, ghosts->oldest);
    if (ghosts->live - *left < most && ghosts->newest - ghosts->oldest < span) break;
    ghosts->live -= *left;
    *left = 0;
    ghosts->oldest++;
  }
}

/// Takes a ghost out of what is alive. False when it was dead.
static bool lay_to_rest(lrd_ghosts *ghosts, lrd_order *order, uint32_t slot, uint64_t weight) {
  uint64_t epoch = epoch_of(ghosts, slot);
  if (!slot || epoch < ghosts->oldest || epoch > ghosts->newest) return false;
  uint64_t *left = alive(ghosts, order, epoch);
  if (!*left) return false;
  // The weight is a guess where the slot does not tell whose it was, or costs have changed.
  if (weight > *left) weight = *left;
  *left -= weight;
  ghosts->live -= weight;
  if (ghosts->count) ghosts->count--;
  return true;
}

/// The slot of a bucket to put a new ghost in: an empty one, or that of the oldest.
static uint32_t *choose(const lrd_ghosts *ghosts, bucket *bucket) {
  uint32_t *chosen = &bucket->slot[0];
  for (int i = 1; i < slots_per_bucket && *chosen; i++) {
    uint32_t *slot = &bucket->slot[i];
    if (!*slot || epoch_of(ghosts, *slot) < epoch_of(ghosts, *chosen)) chosen = slot;
  }
  return chosen;
}

void lrd_ghosts_add(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry,
                    uint32_t percent) {
  uint64_t entries = lrd_order_percent(order, percent);
  demand(ghosts, order, entries);
  if (!ghosts->buckets) return;
  expire(ghosts, order, weighs(order) ? lrd_bound_percent(order->share.cost, percent) : entries);
  spot spot = spot_of(ghosts, order, entry);
  uint32_t *slot = choose(ghosts, spot.bucket);
  lay_to_rest(ghosts, order, *slot, ghosts->count ? ghosts->live / ghosts->count : 0);
  *slot = spot.fingerprint | (uint32_t)(ghosts->newest & epoch_mask);
  uint64_t weight = weight_of(order, entry);
  *alive(ghosts, order, ghosts->newest) += weight;
  ghosts->live += weight;
  ghosts->count++;
  if (++ghosts->filled == ghosts->granule) {
    ghosts->filled = 0;
    ghosts->newest++;
  }
}

bool lrd_ghosts_take(lrd_ghosts *ghosts, lrd_order *order, const lrd_entry *entry) {
  if (!ghosts->buckets) return false;
  spot spot = spot_of(ghosts, order, entry);
  for (int i = 0; i < slots_per_bucket; i++) {
    uint32_t slot = spot.bucket->slot[i];
    if ((slot & ~(uint32_t)epoch_mask) != spot.fingerprint) continue;
    spot.bucket->slot[i] = 0;
    if (lay_to_rest(ghosts, order, slot, weight_of(order, entry))) return true;
  }
  return false;
}
