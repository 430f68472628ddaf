// SPDX-License-Identifier: Apache-2.0
#include "lrd_remnants.h"

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

static uint32_t age(const lrd_remnants *remnants, uint16_t slot) {
  return (remnants->epoch - slot) & epoch_mask;
}

static uint16_t *bucket_of(const lrd_remnants *remnants, uint64_t scrambled) {
  uint64_t bucket = (scrambled >> 32) * remnants->buckets >> 32;
  return &remnants->slots[bucket * LRD_REMNANTS_BUCKET];
}

/// The fingerprint, in place and never 0.
static uint16_t mark_of(uint64_t scrambled) {
  uint16_t mark = scrambled & mark_mask;
  return (uint16_t)((mark ? mark : 1) << mark_shift);
}

static uint16_t *find(uint16_t *bucket, uint16_t mark) {
  for (int i = 0; i < LRD_REMNANTS_BUCKET; i++) {
    if ((bucket[i] & mark_mask << mark_shift) == mark) return &bucket[i];
  }
  return NULL;
}

static void sweep_bucket(lrd_remnants *remnants) {
  uint16_t *bucket = &remnants->slots[(size_t)remnants->sweep * LRD_REMNANTS_BUCKET];
  for (int i = 0; i < LRD_REMNANTS_BUCKET; i++) {
    if (age(remnants, bucket[i]) > LRD_REMNANTS_OLDEST) bucket[i] = 0;
  }
  if (++remnants->sweep == remnants->buckets) remnants->sweep = 0;
}

static uint16_t *place_for(const lrd_remnants *remnants, uint16_t *bucket) {
  uint16_t *oldest = bucket;
  for (int i = 0; i < LRD_REMNANTS_BUCKET; i++) {
    if (!bucket[i]) return &bucket[i];
    if (age(remnants, bucket[i]) > age(remnants, *oldest)) oldest = &bucket[i];
  }
  return oldest;
}

void lrd_remnants_add(lrd_remnants *remnants, uint64_t scrambled) {
  if (!remnants->buckets) return;
  if (++remnants->filled > remnants->granule) {
    remnants->filled = 1;
    remnants->epoch = (remnants->epoch + 1) & epoch_mask;
  }
  sweep_bucket(remnants);
  uint16_t *bucket = bucket_of(remnants, scrambled);
  uint16_t mark = mark_of(scrambled);
  uint16_t *known = find(bucket, mark);
  uint16_t met = known && age(remnants, *known) <= LRD_REMNANTS_OLDEST ? *known & met_bit : 0;
  *(known ? known : place_for(remnants, bucket)) = mark | met | (uint16_t)remnants->epoch;
}

lrd_recall lrd_remnants_recall(lrd_remnants *remnants, uint64_t scrambled, uint32_t life,
                               bool keep) {
  if (!remnants->buckets) return LRD_UNKNOWN;
  uint16_t mark = mark_of(scrambled);
  uint16_t *slot = find(bucket_of(remnants, scrambled), mark);
  if (!slot) return LRD_UNKNOWN;
  bool alive = age(remnants, *slot) <= life * LRD_REMNANTS_EPOCHS;
  bool met = *slot & met_bit;
  *slot = alive && !met && keep ? mark | met_bit | (uint16_t)remnants->epoch : 0;
  return !alive ? LRD_UNKNOWN : met ? LRD_MET : LRD_ONCE;
}
