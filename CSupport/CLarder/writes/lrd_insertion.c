// SPDX-License-Identifier: Apache-2.0
/* lrd_insertion.c — the steps of lrd_insertion_finish(), begun under the shard's lock:
 *
 *   Step 0. Where entries can expire, remove what has: the key's old entry, and two others. If
 *           the entry has no room for a deadline, unlock and return UNFIT.
 *   Step 1. Refuse an entry that has no time to live, or that costs more than the cost limit. If
 *           it is refused, remove its key's old entry.
 *   Step 2. Make room in the table. If that takes memory, unlock, allocate, and return AGAIN.
 *   Step 3. Note a hit on the old entry, once. Where hits move entries, it is the last to be
 *           evicted.
 *   Step 4. Exchange room: evict until the freed room, with what the limits leave, fits the entry.
 *           What has expired goes first: if the shard has none, unlock, look in the other shards,
 *           and return AGAIN. If there is no other victim, or the shard has far fewer entries than
 *           others, unlock, take room from another shard, and return AGAIN; after many victims,
 *           too. The old entry stays meanwhile: nobody finds the key without a value, and a removal
 *           in between is not undone. All others may go, and from the second round on it has a
 *           claim (lrd_budget.h), so in the end the new entry fits.
 *   Step 5. Publish the entry, in place of the old one if there is one.
 *   Step 6. Hand on what was unlinked, and unlock. */
#include "lrd_insertion.h"

#include "lrd_change.h"
#include "lrd_evict.h"
#include "lrd_expire.h"
#include "lrd_growth.h"

/// An insertion adds one entry, and removes up to two that have expired. So these dwindle even
/// where no background thread runs. If it removed more, all writers would wait longer for the lock.
enum { expirations_per_insertion = 2, vain_seeks_per_insertion = 16 };

/// Of one insertion. Each may win little: what is freed between rounds others may take, so an entry
/// that needs much room must not take it bit by bit.
enum { evenings_per_insertion = 16 };

/// Begins to claim room, or ends that.
static void set_claims(lrd_cache *cache, lrd_insertion *insertion, bool claims) {
  if (LRD_LIKELY(insertion->claims == claims)) return;
  insertion->claims = claims;
  if (claims) {
    lrd_budget_claim(&cache->budget);
  } else {
    lrd_budget_disclaim(&cache->budget);
  }
}

void lrd_insertion_abandon(lrd_cache *cache, lrd_shard *shard, lrd_insertion *insertion) {
  set_claims(cache, insertion, false);
  lrd_shard_leave(cache, shard);
  lrd_supply_drop(&insertion->supply);
}

/// Step 1, for an entry that is not to be stored, for this reason.
static lrd_result refuse(lrd_cache *cache, lrd_shard *shard, lrd_insertion *insertion,
                         lrd_entry *old, lrd_result why) LRD_RELEASE(shard->lock) {
  lrd_chain removed = {0};
  shard->counters.refusals += why == LRD_TOO_COSTLY;
  if (old) {
    lrd_change_note(old);
    lrd_shard_unlink_locked(shard, old, LRD_REMOVED_BY_CALL, &removed);
    shard->counters.removals++;
  }
  lrd_garbage_give_up_locked(cache, shard, &insertion->garbage, &removed);
  lrd_insertion_abandon(cache, shard, insertion);
  return why;
}

/// Step 0. Gives the entry the time field that it lacks, and removes what has expired: `*old`, and
/// two others. False if there is no room for the field.
static __attribute__((noinline)) bool tell_time_locked(lrd_cache *cache, lrd_shard *shard,
                                                       lrd_insertion *insertion, lrd_entry *entry,
                                                       lrd_entry **old) LRD_REQUIRES(shard->lock) {
  if (shard->timer->wide && !lrd_pool_is_wide(&cache->pool, entry->prev)) return false;
  if (!(entry->fields & LRD_IS_TIMED)) lrd_entry_add_time(entry);
  lrd_chain expired = {0};
  uint64_t limit = lrd_limit_at(lrd_timer_look(shard->timer));
  // Of this round: another thread may have stored a value since an earlier one.
  insertion->expired = false;
  if (*old && (*old)->fields & LRD_IS_TIMED && lrd_timer_is_over(*old, limit)) {
    lrd_change_note(*old);
    lrd_expire_locked(shard, *old, &expired);
    *old = NULL;
    insertion->expired = true;
  }
  lrd_expire_any_locked(shard, expirations_per_insertion, *old, &expired);
  lrd_garbage_give_up_locked(cache, shard, &insertion->garbage, &expired);
  return true;
}

/// Step 2, where memory is missing.
static lrd_result fetch(lrd_cache *cache, lrd_shard *shard, lrd_insertion *insertion)
    LRD_RELEASE(shard->lock) {
  lrd_supply *supply = &insertion->supply;
  lrd_shard_leave(cache, shard);
  if (lrd_supply_fetch(supply, &cache->entry_references)) return LRD_AGAIN;
  supply->declined = supply->optional;
  if (supply->optional) return LRD_AGAIN;
  set_claims(cache, insertion, false);
  return LRD_OUT_OF_MEMORY;
}

/// The entries of each shard if all had equally many. An estimate (relaxed): others go on.
static uint64_t even_part(lrd_cache *cache) {
  return LRD_LOAD(&cache->budget.count) / (cache->shard_mask + 1);
}

/// Step 4, when another shard than `own` must make room, for `more` cost if that is short: evicts
/// from the next one that has something to give. `richer`: one with more than an even part of the
/// entries, down to that. False if there is none.
static bool steal_room(lrd_cache *cache, lrd_lane *lane, const lrd_shard *own,
                       lrd_insertion *insertion, lrd_shortage shortage, uint64_t more,
                       bool richer) {
  for (uint32_t i = 0; i <= cache->shard_mask; i++) {
    uint32_t hand = atomic_fetch_add_explicit(&cache->steal_hand, 1, memory_order_relaxed);
    lrd_shard *shard = &cache->shards[hand & cache->shard_mask];
    if (shard == own) continue;
    uint64_t lacks = shortage == LRD_COST_SHORT ? lrd_budget_lacks(&cache->budget, more) : 1;
    if (!lacks) return true; // others have made room, or taken the limit away
    lrd_chain victims = {0};
    lrd_shard_enter(cache, lane, shard);
    uint64_t keeps = richer ? even_part(cache) : 0;
    bool found = shard->count > keeps;
    while (found && victims.count < LRD_EVICTIONS_PER_LOCK) {
      found = lrd_evict_locked(cache, shard, NULL, LRD_REMOVED_LIMIT, shortage, &victims);
      bool enough = shortage == LRD_COUNT_SHORT || victims.cost >= lacks;
      if (enough || shard->count <= keeps) break;
    }
    found = victims.head;
    lrd_garbage_give_up_locked(cache, shard, &insertion->garbage, &victims);
    lrd_shard_leave(cache, shard);
    if (found) return true;
  }
  return false;
}

/// What a search for an entry to take out has come to.
typedef enum found {
  FOUND,           // it is out
  FOUND_MANY,      // not tried: this round has as many as one lock may take out
  FOUND_NONE,      // the shard has no other one that would help
  FOUND_ELSEWHERE, // not here, but another shard may have one that has expired, which goes first
  FOUND_POOR,      // not tried: the shard has far fewer entries than others
} found;

/// True when the shard has far fewer entries than others. A victim costs more or less than what it
/// makes room for. What is left over serves whoever comes next, in any shard. So by chance some
/// shards would come to have next to nothing, if these did not take from those that have most.
/// Entries are counted, and not costs: equally many come to each shard, so where equally many stay,
/// the victims of all shards are equally old. A shard with one entry of great cost gives up no
/// others for it.
static bool is_poor_locked(lrd_cache *cache, const lrd_shard *shard) LRD_REQUIRES(shard->lock) {
  uint64_t even = even_part(cache);
  return shard->count < even - even / 8;
}

/// Step 4. Takes one entry out.
static found take_out_locked(lrd_cache *cache, lrd_shard *shard, const lrd_insertion *insertion,
                             lrd_entry *old, lrd_shortage shortage, lrd_chain *unlinked)
    LRD_REQUIRES(shard->lock) {
  if (LRD_UNLIKELY(shard->timer)) {
    if (lrd_expire_one_locked(shard, old, unlinked)) return FOUND;
    bool may = cache->shard_mask && insertion->vain_seeks < vain_seeks_per_insertion;
    if (may && lrd_expire_may_find(cache, shard->timer->now)) return FOUND_ELSEWHERE;
  }
  bool evens = cache->shard_mask && insertion->evenings < evenings_per_insertion;
  if (evens && shortage == LRD_COST_SHORT && is_poor_locked(cache, shard)) return FOUND_POOR;
  bool evicted = lrd_evict_living_locked(cache, shard, old, LRD_REMOVED_LIMIT, shortage, unlinked);
  return evicted ? FOUND : FOUND_NONE;
}

/// Step 4, when the victims are not enough: gives their room back for the next round. `found`: how
/// the last search for one has ended.
static lrd_result end_round(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard,
                            lrd_insertion *insertion, const lrd_entry *entry, lrd_entry *old,
                            lrd_chain *victims, lrd_shortage shortage, found found)
    LRD_RELEASE(shard->lock) {
  uint64_t former = old ? lrd_entry_cost(old) : 0, cost = lrd_entry_cost(entry);
  uint64_t more = cost > former ? cost - former : 0;
  if (old && old->state == LRD_ENTRY_DISPLACED) lrd_shard_restore_locked(shard, old);
  if (shortage == LRD_COST_SHORT) set_claims(cache, insertion, true);
  lrd_garbage_give_up_locked(cache, shard, &insertion->garbage, victims);
  lrd_shard_leave(cache, shard);
  if (found == FOUND_ELSEWHERE) {
    // Those that remove some come to an end, although others may take the room: what has expired
    // is finite, for all insertions together. Those that only move entries of a wheel may be as
    // many as it has.
    uint64_t removed = 0;
    lrd_expire_seek(cache, lane, &insertion->garbage, &removed);
    insertion->vain_seeks += !removed;
  }
  if (found == FOUND_POOR) {
    insertion->evenings++;
    if (!steal_room(cache, lane, shard, insertion, shortage, more, true)) {
      insertion->evenings = evenings_per_insertion;
    }
  }
  if (found == FOUND_NONE && !steal_room(cache, lane, shard, insertion, shortage, more, false)) {
    lrd_yield(); // other insertions have reserved all room and are about to publish
  }
  return LRD_AGAIN;
}

/// Step 5.
LRD_INLINE void publish_locked(lrd_shard *shard, lrd_entry *entry, lrd_entry *old, uint64_t hash,
                               lrd_chain *unlinked) LRD_REQUIRES(shard->lock) {
  shard->order.ahead = unlinked->head && lrd_shard_is_far_locked(shard);
  if (old) {
    lrd_change_note(old);
    lrd_shard_replace_locked(shard, old, entry, hash, unlinked);
    shard->counters.replacements++;
  } else {
    lrd_shard_link_locked(shard, entry, hash);
  }
}

lrd_result lrd_insertion_finish(lrd_cache *cache, lrd_lane *lane, lrd_shard *shard,
                                lrd_insertion *insertion, lrd_entry *entry, lrd_entry *old,
                                uint64_t hash) {
  // Step 0, and step 1 where time decides. A shard that has to tell it is never at ease.
  if (LRD_UNLIKELY(!lrd_shard_is_at_ease_locked(shard)) && shard->timer) {
    if (!tell_time_locked(cache, shard, insertion, entry, &old)) {
      lrd_insertion_abandon(cache, shard, insertion);
      return LRD_UNFIT;
    }
    if (lrd_timer_refuses(shard->timer, entry)) {
      return refuse(cache, shard, insertion, old, LRD_EXPIRED);
    }
  }

  // Step 1, where cost decides.
  uint64_t cost_limit = lrd_cache_cost_limit(cache);
  if (cost_limit && lrd_entry_cost(entry) > cost_limit) {
    return refuse(cache, shard, insertion, old, LRD_TOO_COSTLY);
  }

  // Step 2. Make room in the table.
  lrd_supply *supply = &insertion->supply;
  if (!lrd_growth_prepare_locked(shard, hash, supply)) return fetch(cache, shard, insertion);
  insertion->garbage.unsettled |= supply->tidy;

  // Step 3. Note a replacement, in the first of several rounds.
  if (old && !insertion->noted) {
    lrd_note_hit_locked(cache, shard, old);
    insertion->noted = true;
  }

  // Step 4. Exchange room.
  lrd_chain unlinked = {0};
  uint64_t freed = old ? 1 : 0, freed_cost = old ? lrd_entry_cost(old) : 0;
  lrd_shortage shortage;
  while ((shortage = lrd_budget_exchange(&cache->budget, freed, freed_cost, lrd_entry_cost(entry),
                                         insertion->claims)) != LRD_ROOM) {
    // Leaves half the range for the next cost, so that the sum cannot overflow.
    bool many = unlinked.count == LRD_EVICTIONS_PER_LOCK || freed_cost > INT64_MAX;
    found found =
        many ? FOUND_MANY : take_out_locked(cache, shard, insertion, old, shortage, &unlinked);
    if (found != FOUND) {
      return end_round(cache, lane, shard, insertion, entry, old, &unlinked, shortage, found);
    }
    freed++;
    freed_cost += lrd_entry_cost(unlinked.tail);
  }
  set_claims(cache, insertion, false);

  // Step 5. Publish.
  publish_locked(shard, entry, old, hash, &unlinked);
  // The lane's batch was applied when the insertion began, so its own evictions leave it sound,
  // unless lookups have come since, while the lock was given up. And an entry that a lookup around
  // this call has found may be unlinked now.
  if (lane) {
    lane->sound_at = lane->touches ? LRD_NEVER_SOUND : shard->unlinked;
    lane->applied++;
  }

  // Step 6. Hand on and unlock.
  lrd_garbage_add_locked(cache, shard, &insertion->garbage, &unlinked);
  bool adjusts = shard->order.adjust;
  insertion->garbage.unsettled |= shard->timer && lrd_timer_asks(shard->timer);
  lrd_shard_leave(cache, shard);
  if (supply->given != LRD_SUPPLY_NONE) lrd_supply_drop(supply);
  if (LRD_UNLIKELY(adjusts)) lrd_cache_adjust(cache);
  return old ? LRD_REPLACED : LRD_INSERTED;
}
