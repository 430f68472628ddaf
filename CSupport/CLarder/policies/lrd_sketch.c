// SPDX-License-Identifier: Apache-2.0
#include "lrd_sketch.h"

/// The blocks of a group age together. Keys of one group are thus compared by counts of one age.
enum { words_per_block = 8, uses_per_block = 5 * words_per_block, blocks_per_group = 64 };

typedef struct block {
  uint64_t word[words_per_block];
} block;

/// One word for each entry: it has 16 counters, so each row has four for each entry.
static uint64_t blocks_for(uint64_t entries) {
  return entries / words_per_block + 1;
}

void lrd_sketch_demand(const lrd_sketch *sketch, lrd_order *order, uint64_t entries) {
  uint64_t least = blocks_for(entries);
  if (LRD_LIKELY(sketch->blocks >= least && sketch->blocks <= least * 4)) return;
  // Where costs limit the entries, their number may still rise, to that of the other limit. Leave
  // room for more: a new sketch is an empty one.
  bool known = order->share.count != LRD_UNBOUNDED;
  uint64_t most = known ? blocks_for(order->share.count) : UINT64_MAX;
  order->history.wanted = lrd_least(least * 2, most) * sizeof(block);
}

void lrd_sketch_resize(lrd_order *order) {
  const lrd_sketch *sketch = order->state;
  if (!sketch->blocks && !order->history.wanted) return;
  uint64_t entries = lrd_order_room_percent(order, 100);
  order->history.wanted = order->history.bytes;
  lrd_sketch_demand(sketch, order, entries);
  if (lrd_order_is_idle(order, entries)) order->history.wanted = 0;
}

void lrd_sketch_renewed(lrd_order *order) {
  lrd_sketch *sketch = order->state;
  uint64_t blocks = order->history.bytes / sizeof(block);
  *sketch = (lrd_sketch){.blocks = blocks};
  sketch->group = blocks < blocks_per_group ? blocks : blocks_per_group;
}

static block *block_of(const lrd_sketch *sketch, const lrd_order *order, uint64_t mixed) {
  block *blocks = order->history.memory;
  return &blocks[(uint64_t)(((unsigned __int128)mixed * sketch->blocks) >> 64)];
}

/// The counter of a row: its word in the block. `shift` gets its position in that word.
static uint64_t *counter_of(block *block, uint64_t mixed, int row, uint32_t *shift) {
  uint32_t bits = (uint32_t)(mixed >> 20) >> (row * 5);
  *shift = (bits & 15) * 4;
  return &block->word[row * 2 + (bits >> 4 & 1)];
}

/// Halves the counters of the next group.
static void age(lrd_sketch *sketch, const lrd_order *order) {
  block *blocks = order->history.memory;
  sketch->uses = 0;
  for (uint64_t i = 0; i < sketch->group; i++) {
    uint64_t *words = blocks[sketch->hand].word;
    for (int w = 0; w < words_per_block; w++) words[w] = words[w] >> 1 & 0x7777777777777777u;
    if (++sketch->hand == sketch->blocks) sketch->hand = 0;
  }
}

void lrd_sketch_add(lrd_sketch *sketch, const lrd_order *order, const lrd_entry *entry) {
  if (!sketch->blocks) return;
  uint64_t mixed = lrd_entry_mixed_hash(entry);
  block *block = block_of(sketch, order, mixed);
  bool added = false;
  for (int row = 0; row < 4; row++) {
    uint32_t shift;
    uint64_t *word = counter_of(block, mixed, row, &shift);
    if ((*word >> shift & 15) == 15) continue;
    *word += (uint64_t)1 << shift;
    added = true;
  }
  if (added && ++sketch->uses >= sketch->group * uses_per_block) age(sketch, order);
}

uint32_t lrd_sketch_estimate(const lrd_sketch *sketch, const lrd_order *order,
                             const lrd_entry *entry) {
  if (!sketch->blocks) return 0;
  uint64_t mixed = lrd_entry_mixed_hash(entry);
  block *block = block_of(sketch, order, mixed);
  uint32_t least = 15;
  for (int row = 0; row < 4; row++) {
    uint32_t shift;
    const uint64_t *word = counter_of(block, mixed, row, &shift);
    uint32_t count = *word >> shift & 15;
    if (count < least) least = count;
  }
  return least;
}
