// SPDX-License-Identifier: Apache-2.0
/* lrdt_advisor.h — a window into the adaptive policy, and the sketch of others. */
#pragma once

#include "../../../CSupport/CLarder/policies/adaptive/lrd_advisor.h"
#include "../../../CSupport/CLarder/policies/adaptive/lrd_samples.h"
#include "../../../CSupport/CLarder/policies/lrd_sketch.h"
#include "CLarder.h"

#pragma clang assume_nonnull begin

/// Makes a cache of the adaptive policy follow one expert for good. The advisor's lock stays taken,
/// so nobody makes or asks shadows. The advisor believes that what lookups miss will be loaded, and
/// that there is demand.
void lrdt_pin_expert(lrd_cache *cache, uint32_t number);

/// Makes such a cache follow another expert under another demand.
void lrdt_turn_to_expert(lrd_cache *cache, uint32_t number, lrd_demand demand);

/// Makes such a cache keep the hits of entries that age, or not.
void lrdt_keep_hits(lrd_cache *cache, bool keeps);

/// True when a cache keeps them.
bool lrdt_keeps_hits(lrd_cache *cache);

/// The expert that the advisor of a cache of `entries`, 256 to 16,384, turns to: its shadows hold
/// 256. Before, it followed `current`, and each shadow has missed so often. `loads`: a store has
/// followed each of the latest 64 misses; otherwise none. Beside them there were `hits`.
uint32_t lrdt_decide(uint64_t entries, uint32_t current, const double *misses, bool loads,
                     uint32_t hits);

/// The first expert is followed, and each other has missed more by `lead`. What is left of that
/// after a decision. `loaded`: until then a store had followed each miss; otherwise none. `loads`:
/// the same of the latest misses.
double lrdt_lead_left(double lead, bool loaded, bool loads);

/// A cache that follows expert `current` misses a key that all shadows hold. The misses that expert
/// `number` is charged with for that.
double lrdt_miss_of_held(uint32_t current, uint32_t number);

/// The demand that the advisor of a cache of `entries` has heard after these events of one key.
lrd_demand lrdt_hears_demand(uint64_t entries, const lrd_heard *events, size_t count);

/// The expert that a cache of the adaptive policy follows now.
uint32_t lrdt_current_expert(lrd_cache *cache);

/// How many buckets of ghosts the cache has, in all shards. No other thread may use the cache.
uint64_t lrdt_ghost_buckets(lrd_cache *cache);

/// How many hits the advisor of a cache has heard of lately, of up to 256.
uint32_t lrdt_hits_heard(lrd_cache *cache);

/// How many probes wait in all shards.
uint64_t lrdt_probes_waiting(lrd_cache *cache);

#pragma clang assume_nonnull end
