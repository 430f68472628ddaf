// SPDX-License-Identifier: Apache-2.0
/* CLarder.h — the core of Larder: hashes, entries, links, costs, locks. No keys, no values, no
 * Swift.
 *
 *   lrd_base ← lrd_platform ← lrd_lock ← lrd_pool, lrd_table, lrd_side_lock
 *            ← lrd_chain, lrd_list ← lrd_order ← lrd_policy ← lrd_shard ← lrd_matches
 *            ← lrd_expert ← lrd_remnants ← lrd_shadow ← lrd_advisor (the adaptive policy)
 *            ← lrd_budget, lrd_thread ← lrd_cache ← lrd_lookup (hits)
 *                                     ← lrd_slot ← lrd_change (writes)
 *            ← lrd_sweep (walks over all entries)
 *   lrd_base ← lrd_memory (what limits may be made of) */
#pragma once

#include "lrd_advisor.h"
#include "lrd_alloc.h"
#include "lrd_cache.h"
#include "lrd_change.h"
#include "lrd_grace.h"
#include "lrd_hash.h"
#include "lrd_lookup.h"
#include "lrd_matches.h"
#include "lrd_memory.h"
#include "lrd_samples.h"
#include "lrd_side_lock.h"
#include "lrd_sweep.h"
