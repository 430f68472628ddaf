// SPDX-License-Identifier: Apache-2.0
#include "lrdt_advisor.h"

#include "lrd_adaptive.h"

void lrdt_pin_expert(lrd_cache *cache, uint32_t number) LRD_UNCHECKED_LOCKS {
  lrd_advisor *advisor = cache->shared;
  lrd_lock_acquire(&advisor->lock);
  atomic_store_explicit(&advisor->loading, true, memory_order_relaxed);
  lrdt_turn_to_expert(cache, number, LRD_DEMAND_PRESSING);
}

void lrdt_turn_to_expert(lrd_cache *cache, uint32_t number, lrd_demand demand) {
  lrd_advisor *advisor = cache->shared;
  atomic_store_explicit(&advisor->current, number, memory_order_relaxed);
  atomic_store_explicit(&advisor->demand, (uint8_t)demand, memory_order_relaxed);
}

void lrdt_keep_hits(lrd_cache *cache, bool keeps) {
  lrd_advisor *advisor = cache->shared;
  atomic_store_explicit(&advisor->keeps, keeps, memory_order_relaxed);
}

bool lrdt_keeps_hits(lrd_cache *cache) {
  return lrd_advisor_keeps(cache->shared);
}

/// Makes an advisor decide. `loads`: a store has followed each of the latest misses; otherwise
/// none.
static void decide_once(lrd_advisor *advisor, bool loads) {
  lrd_lock_acquire(&advisor->lock);
  advisor->heard.misses = 64;
  advisor->heard.loads = loads ? 64 : 0;
  advisor->events = LRD_EXPERTS * advisor->capacity;
  lrd_lock_release(&advisor->lock);
  // A removal is no event.
  lrd_probe probe = {.heard = LRD_HEARD_REMOVAL};
  lrd_advisor_learn(advisor, &probe);
}

uint32_t lrdt_decide(uint64_t entries, uint32_t current, const double *misses, bool loads,
                     uint32_t hits) {
  lrd_advisor *advisor = lrd_advisor_create(1);
  lrd_advisor_propose(advisor, entries, true);
  lrd_advisor_adjust(advisor);
  LRD_CHECK(advisor->capacity == 256);
  advisor->heard.hits = hits;
  atomic_store_explicit(&advisor->current, current, memory_order_relaxed);
  for (int i = 0; i < LRD_EXPERTS; i++) advisor->misses[i] = misses[i];
  decide_once(advisor, loads);
  uint32_t chosen = lrd_advisor_current(advisor);
  lrd_advisor_destroy(advisor);
  return chosen;
}

double lrdt_lead_left(double lead, bool loaded, bool loads) {
  lrd_advisor *advisor = lrd_advisor_create(1);
  lrd_advisor_propose(advisor, 4096, true);
  lrd_advisor_adjust(advisor);
  advisor->heard.hits = 64;
  decide_once(advisor, loaded);
  for (int i = 0; i < LRD_EXPERTS; i++) {
    advisor->misses[i] = i == LRD_EXPERT_FIRST ? 10000 : 10000 + lead;
  }
  decide_once(advisor, loads);
  LRD_CHECK(lrd_advisor_current(advisor) == LRD_EXPERT_FIRST);
  double left = advisor->misses[0] - advisor->misses[LRD_EXPERT_FIRST];
  lrd_advisor_destroy(advisor);
  return left;
}

double lrdt_miss_of_held(uint32_t current, uint32_t number) {
  lrd_advisor *advisor = lrd_advisor_create(1);
  lrd_advisor_propose(advisor, 256, true);
  lrd_advisor_adjust(advisor);
  atomic_store_explicit(&advisor->current, current, memory_order_relaxed);
  lrd_probe store = {.mixed = lrd_hash_mix(1 << 16), .heard = LRD_HEARD_STORE};
  lrd_probe miss = {.mixed = store.mixed, .heard = LRD_HEARD_MISS};
  lrd_advisor_learn(advisor, &store);
  lrd_advisor_learn(advisor, &miss);
  double misses = advisor->misses[number];
  lrd_advisor_destroy(advisor);
  return misses;
}

lrd_demand lrdt_hears_demand(uint64_t entries, const lrd_heard *events, size_t count) {
  lrd_advisor *advisor = lrd_advisor_create(1);
  lrd_advisor_propose(advisor, entries, true);
  lrd_advisor_adjust(advisor);
  for (size_t i = 0; i < count; i++) {
    lrd_probe probe = {.mixed = lrd_hash_mix(1 << 16), .heard = (uint8_t)events[i], .hits = 1};
    lrd_advisor_learn(advisor, &probe);
  }
  lrd_demand demand = lrd_advisor_hears_demand(advisor);
  lrd_advisor_destroy(advisor);
  return demand;
}

uint32_t lrdt_current_expert(lrd_cache *cache) {
  return lrd_advisor_current(cache->shared);
}

uint32_t lrdt_hits_heard(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  lrd_advisor *advisor = cache->shared;
  lrd_lock_acquire(&advisor->lock);
  uint32_t hits = advisor->heard.hits;
  lrd_lock_release(&advisor->lock);
  return hits;
}

uint64_t lrdt_ghost_buckets(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  uint64_t buckets = 0;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_lock_acquire(&shard->lock);
    const lrd_adaptive *state = shard->order.state;
    buckets += state->ghosts.buckets;
    lrd_lock_release(&shard->lock);
  }
  return buckets;
}

uint64_t lrdt_probes_waiting(lrd_cache *cache) LRD_UNCHECKED_LOCKS {
  uint64_t probes = 0;
  for (lrd_shard *shard = cache->shards; shard < lrd_cache_end(cache); shard++) {
    lrd_lock_acquire(&shard->lock);
    const lrd_adaptive *state = shard->order.state;
    probes += state->probe_count;
    lrd_lock_release(&shard->lock);
  }
  return probes;
}
