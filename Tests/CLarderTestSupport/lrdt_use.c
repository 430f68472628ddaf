// SPDX-License-Identifier: Apache-2.0
#include "lrdt_use.h"

static void destroy_nothing(void *context, lrd_entry *entry, void **batch) {
  (void)context, (void)entry, (void)batch;
}

static void release_nothing(void *context) {
  (void)context;
}

lrd_cache *lrdt_cache_create_idle(lrd_manual_clock *clock, uint64_t idle) {
  lrd_options options = {.policy = lrd_policy_of(LRD_POLICY_LRU),
                         .shards = 1,
                         .entry_bytes = sizeof(lrd_entry) + 16,
                         .entry_alignment = 8,
                         .timed = true,
                         .expiration = {.after_write = LRD_NEVER, .after_access = idle},
                         .clock = clock,
                         .hooks = {.destroy = destroy_nothing, .release = release_nothing}};
  return lrd_cache_create(&options);
}

bool lrdt_use_at(lrd_cache *cache, lrd_lane *lane, lrd_entry *entry, uint64_t now) {
  lane->limit = lrd_limit_at(lrd_tick_at(now));
  lane->limit_read = lrd_cycles();
  lane->limit_lasts = UINT64_MAX;
  bool lives = lrd_entry_lives(cache, lane, entry);
  lane->limit_lasts = 0;
  return lives;
}

void lrdt_announce_idle(lrd_cache *cache, uint64_t idle) {
  lrd_rule rule = {.after_write = LRD_FOREVER,
                   .after_access = lrd_ticks_of(idle),
                   .parity = cache->parity ^ LRD_WORD_PARITY};
  lrd_cache_begin_idle(cache, &rule);
}
