// SPDX-License-Identifier: Apache-2.0
/* lrd_lead.h — how far the current expert may be ahead of another in what the advisor remembers.
 *
 * A lead that was earned long ago delays a change that is right, and a short memory changes when
 * two experts take turns in being best, as in a loop or a zigzag. What the workload does shows in
 * the changes themselves. The lead therefore begins short. Each change doubles it, up to a capacity
 * of misses, and each four capacities of misses without a change halve it.
 *
 *   lead   1/3 ──change─▶ 2/3 ──change─▶ 1 ──calm─▶ 1/2 ──calm─▶ 1/3     of a capacity
 *
 * Where few misses are followed by a store the lead is whole at once. There a change costs little
 * (lrd_advisor.c), and entries that it gave up do not come back: only the lead and the margin
 * (lrd_advisor.c) keep the advisor from taking it back.
 *
 * When a program ceases to store what it misses, what the current expert is ahead is forgotten: it
 * was earned while a lost entry came back. A program that reads through the cache, then stores rows
 * and reads each a third of a fill later, would find 66 % of what LRU finds in the next three
 * fills, and at worst 47 %. So it finds 76 %, and less than 60 % in one turn of a hundred. What was
 * earned without loads stays when the program begins to load: that expert serves programs which
 * store without loading, and one that takes turns would otherwise lose it each time.
 *
 * With a lead that is always whole, the policy saves 0.1 less over the traces of lrd_advisor.c, and
 * one cell of a trace of phases misses 1.5 points more: an expert stays there that was best in a
 * loop before. Without a bound, phases that follow each other cost more. To forget old misses as
 * well, by 0.2 to 1.2 % at each decision, stays within 0.05.
 *
 * Guard: the advisor's lock. */
#pragma once

#include "lrd_tally.h"

#pragma clang assume_nonnull begin

/// The decisions without a change after which the lead halves: about four capacities of misses.
enum { LRD_LEAD_CALM = 128 };

/// The least lead, as a part of the capacity. With an eighth, 7 % more of the random workloads of
/// `larder-bench search-policies` are lost; with a half, traces whose programs store a key only
/// when it is new save 0.2 less. In a small cache a third is so few misses that a zigzag's next
/// turn takes them back.
static const double lrd_lead_least = 1.0 / 3, lrd_lead_least_small = 1.0 / 2;

typedef struct lrd_lead {
  double part;        // of a capacity; 0 at first
  uint32_t calm;      // decisions since the latest change, or since the lead was halved
  bool stores_misses; // the program does, as far as known
} lrd_lead;

/// Stores that follow less than this part of the misses are few, and those that follow more than
/// the other are many. The part is counted of 32 to 64 misses, so what lies between may be chance.
static const double lrd_lead_few = 0.3, lrd_lead_many = 0.7;
/// Fewer misses tell nothing.
enum { LRD_LEAD_MISSES = 32 };

/// Notes whether stores follow the misses. True when the program has ceased to store what it
/// misses: what the current expert is ahead is to be forgotten.
static inline bool lrd_lead_ends(lrd_lead *lead, const lrd_tally *heard) {
  if (heard->misses < LRD_LEAD_MISSES) return false;
  double part = lrd_tally_loaded(heard);
  bool before = lead->stores_misses;
  if (part > lrd_lead_many) lead->stores_misses = true;
  if (part < lrd_lead_few) lead->stores_misses = false;
  return before && !lead->stores_misses;
}

/// The lead after a decision, in misses. `reference`: the capacity, or what stands for it where it
/// is very small: with a lead of only a few misses chance would decide. `loaded`: most misses are
/// followed by a store. `small`: the cache is.
static inline double lrd_lead_decided(lrd_lead *lead, bool changed, bool loaded, bool small,
                                      uint32_t capacity, uint32_t reference) {
  double least = (small ? lrd_lead_least_small : lrd_lead_least) * reference / capacity;
  if (lead->part < least) lead->part = least;
  if (changed || ++lead->calm == LRD_LEAD_CALM) {
    lead->part *= changed ? 2 : 0.5;
    lead->calm = 0;
  }
  if (lead->part < least) lead->part = least;
  if (lead->part > 1 || !loaded) lead->part = 1;
  return lead->part * capacity;
}

#pragma clang assume_nonnull end
