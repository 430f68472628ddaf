// SPDX-License-Identifier: Apache-2.0
#include "lrd_remnants.h"

#include <string.h>

enum { epoch_bits = 4, epoch_mask = 15, met_bit = 16, mark_shift = 5, mark_mask = 0x7ff };

uint32_t lrd_remnants_buckets(uint64_t capacity, uint32_t life) {
  uint64_t buckets = (capacity * life + LRD_REMNANTS_BUCKET - 1) / LRD_REMNANTS_BUCKET;
  return buckets > UINT32_MAX ? UINT32_MAX : (uint32_t)buckets;
}

void lrd_remnants_open(lrd_remnants *remnants, uint16_t *slots, uint32_t buckets,
                       uint64_t capacity) {
  uint64_t granule = capacity / LRD_REMNANTS_EPOCHS;
  *remnants = (lrd_remnants){.slots = slots, .buckets = buckets, .granule = granule ? granule : 1};
}

/// The slots of a bucket side by side. The processor compares all eight at once.
typedef uint16_t lanes __attribute__((vector_size(LRD_REMNANTS_BUCKET * sizeof(uint16_t))));
typedef int16_t signed_lanes __attribute__((vector_size(sizeof(lanes))));

static lanes all_lanes(uint32_t value) {
  uint16_t v = (uint16_t)value;
  return (lanes){v, v, v, v, v, v, v, v};
}

static lanes load(const uint16_t *bucket) {
  lanes slots;
  memcpy(&slots, bucket, sizeof slots);
  return slots;
}

static lanes age_of_each(const lrd_remnants *remnants, lanes slots) {
  return (all_lanes(remnants->epoch) - slots) & all_lanes(epoch_mask);
}

static uint32_t age(const lrd_remnants *remnants, uint16_t slot) {
  return (remnants->epoch - slot) & epoch_mask;
}

/// The fingerprint, in place and never 0.
static uint16_t mark_of(uint64_t scrambled) {
  uint16_t mark = scrambled & mark_mask;
  return (uint16_t)((mark ? mark : 1) << mark_shift);
}

/// A slot with this mark. Of several, which only chance brings about, any will do.
static uint16_t *find(uint16_t *bucket, uint16_t mark) {
  lanes equal = (lanes)((load(bucket) & all_lanes(mark_mask << mark_shift)) == all_lanes(mark));
  uint64_t half[2];
  memcpy(half, &equal, sizeof half);
  if (LRD_LIKELY(!(half[0] | half[1]))) return NULL;
  int lane = half[0] ? __builtin_ctzll(half[0]) / 16 : 4 + __builtin_ctzll(half[1]) / 16;
  return &bucket[lane];
}

static void sweep_bucket(lrd_remnants *remnants) {
  uint16_t *bucket = &remnants->slots[(size_t)remnants->sweep * LRD_REMNANTS_BUCKET];
  lanes slots = load(bucket);
  slots &= (lanes)(age_of_each(remnants, slots) <= all_lanes(LRD_REMNANTS_OLDEST));
  memcpy(bucket, &slots, sizeof slots);
  if (++remnants->sweep == remnants->buckets) remnants->sweep = 0;
}

/// The larger of each pair of numbers below 2^15.
static lanes larger(lanes a, lanes b) {
  lanes more = (lanes)((signed_lanes)a > (signed_lanes)b);
  return (a & more) | (b & ~more);
}

/// An empty slot, or the oldest; the first of several.
static uint16_t *place_for(const lrd_remnants *remnants, uint16_t *bucket) {
  lanes slots = load(bucket);
  lanes empty = (lanes)(slots == all_lanes(0)) & all_lanes(epoch_mask + 1);
  lanes rank = (age_of_each(remnants, slots) | empty) << 3 | (lanes){7, 6, 5, 4, 3, 2, 1, 0};
  rank = larger(rank, __builtin_shufflevector(rank, rank, 4, 5, 6, 7, 0, 1, 2, 3));
  rank = larger(rank, __builtin_shufflevector(rank, rank, 2, 3, 0, 1, 6, 7, 4, 5));
  rank = larger(rank, __builtin_shufflevector(rank, rank, 1, 0, 3, 2, 5, 4, 7, 6));
  return &bucket[7 - (rank[0] & 7)];
}

void lrd_remnants_add(lrd_remnants *remnants, uint64_t scrambled) {
  if (!remnants->buckets) return;
  if (++remnants->filled > remnants->granule) {
    remnants->filled = 1;
    remnants->epoch = (remnants->epoch + 1) & epoch_mask;
  }
  sweep_bucket(remnants);
  uint16_t *bucket = lrd_remnants_bucket(remnants, scrambled);
  uint16_t mark = mark_of(scrambled);
  uint16_t *known = find(bucket, mark);
  uint16_t met = known && age(remnants, *known) <= LRD_REMNANTS_OLDEST ? *known & met_bit : 0;
  *(known ? known : place_for(remnants, bucket)) = mark | met | (uint16_t)remnants->epoch;
}

lrd_recall lrd_remnants_recall(lrd_remnants *remnants, uint64_t scrambled, uint32_t life,
                               bool keep) {
  if (!remnants->buckets) return LRD_UNKNOWN;
  uint16_t mark = mark_of(scrambled);
  uint16_t *slot = find(lrd_remnants_bucket(remnants, scrambled), mark);
  if (!slot) return LRD_UNKNOWN;
  bool alive = age(remnants, *slot) <= life * LRD_REMNANTS_EPOCHS;
  bool met = *slot & met_bit;
  *slot = alive && !met && keep ? mark | met_bit | (uint16_t)remnants->epoch : 0;
  return !alive ? LRD_UNKNOWN : met ? LRD_MET : LRD_ONCE;
}
