// SPDX-License-Identifier: Apache-2.0
#include "lrd_reply.h"

#include "lrd_compact.h"
#include "lrd_level.h"
#include "lrd_relief.h"
#include "lrd_shrink.h"
#include "lrd_trim.h"

static lrd_amount present(lrd_cache *cache) {
  return (lrd_amount){lrd_cache_count(cache), lrd_cache_cost(cache)};
}

/// Evicts down to the limits in force. Insertions that came during a relief, perhaps by an observer
/// of its removals, went by those before. True when something was evicted.
static bool evict_rest(lrd_cache *cache, uint64_t least) {
  uint64_t count = lrd_cache_count(cache), most = count > least ? count - least : 0;
  lrd_relief rest = {.bounds = {LRD_UNBOUNDED, LRD_UNBOUNDED}, .allowance = most};
  if (lrd_budget_excess(&cache->budget, rest.bounds) == LRD_ROOM) return false;
  lrd_relief_run(cache, lrd_lane_if_any(cache), &rest);
  return rest.allowance != most;
}

/// Where only entries are left that may not go, raises the cap to their cost: insertions that came
/// during the relief may have brought them.
static void spare_rest(lrd_cache *cache, int cause, uint64_t least) {
  lrd_amount left = present(cache);
  if (left.count > least) return;
  lrd_lock_acquire(&cache->admin);
  lrd_answer_spare(&cache->answer, cause, left.cost);
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
}

/// Carries an action out. `held`: what there was before anybody was asked for it. True when
/// something was evicted.
static bool act(lrd_cache *cache, int cause, lrd_action action, lrd_amount held) {
  lrd_answer *answer = &cache->answer;
  lrd_lock_acquire(&cache->admin);
  bool heeds = answer->response.heeds;
  uint64_t least = answer->response.least;
  lrd_relief relief = {0};
  if (heeds) {
    answer->cause[cause].spell = lrd_level_spell(cause);
    relief = lrd_answer_plan(answer, cause, action, held, present(cache));
  }
  lrd_lock_release(&cache->admin);
  if (!heeds) return false;
  uint64_t allowance = relief.allowance;
  lrd_relief_run(cache, lrd_lane_if_any(cache), &relief);
  lrd_amount left = present(cache);
  lrd_lock_acquire(&cache->admin);
  // Ignored or ended meanwhile: no cap may come after that.
  if (answer->response.heeds) {
    // Entries that may not go can cost more than the goal.
    lrd_answer_cap(answer, cause, (lrd_amount){0, left.count <= least ? left.cost : 0});
  }
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
  bool more = evict_rest(cache, least);
  if (least) spare_rest(cache, cause, least);
  if (relief.allowance == allowance && !more) return false;
  // Under the lowered limits, by which the policy knows what history it needs.
  lrd_shrink(cache);
  lrd_relief_settle(cache);
  lrd_compact(cache, lrd_lane_if_any(cache));
  return true;
}

bool lrd_reply_to_level(lrd_cache *cache, int level, bool may_ask) {
  lrd_answer *answer = &cache->answer;
  lrd_lock_acquire(&cache->admin);
  lrd_response response = answer->response;
  bool answers = may_ask || !response.asks;
  if (answers && level == LRD_NORMAL) lrd_answer_recover(answer, LRD_BY_LEVEL);
  lrd_lock_release(&cache->admin);
  if (!answers || level == LRD_NORMAL) return false;
  lrd_amount held = present(cache);
  lrd_action action = response.at[level];
  if (response.asks) action = cache->hooks.ask(cache->hooks.context, level, response.asked);
  return act(cache, LRD_BY_LEVEL, action, held);
}

bool lrd_reply_step(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  bool more = lrd_answer_step(&cache->answer, LRD_BY_LEVEL);
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
  return more;
}

bool lrd_reply_hide(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  lrd_action action = cache->answer.response.at[LRD_BACKGROUND];
  lrd_lock_release(&cache->admin);
  bool evicted = act(cache, LRD_BY_BACKGROUND, action, present(cache));
  // An earlier response may have set a lower cap, which no step would raise.
  lrd_lock_acquire(&cache->admin);
  lrd_cause *cause = &cache->answer.cause[LRD_BY_BACKGROUND];
  cause->cap.count = lrd_most(cause->cap.count, cause->goal.count);
  cause->cap.cost = lrd_most(cause->cap.cost, cause->goal.cost);
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
  return evicted;
}

bool lrd_reply_unhide(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  lrd_answer_end(&cache->answer, LRD_BY_BACKGROUND);
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
  return false;
}

bool lrd_reply_set(lrd_cache *cache, const lrd_response *response) {
  lrd_answer *answer = &cache->answer;
  lrd_lock_acquire(&cache->admin);
  if (response->version < answer->response.version) {
    lrd_lock_release(&cache->admin);
    return false;
  }
  bool heeded = answer->response.heeds;
  answer->response = *response;
  lrd_answer_heed(answer, response->heeds);
  for (int cause = 0; cause < LRD_CAUSES; cause++) {
    if (!response->heeds) {
      lrd_answer_rest(answer, cause);
    } else if (!heeded && answer->cause[cause].spell != lrd_level_spell(cause)) {
      lrd_answer_end(answer, cause);
    }
  }
  lrd_lock_release(&cache->admin);
  lrd_cache_enforce(cache);
  return true;
}

lrd_response lrd_reply_get(lrd_cache *cache) {
  lrd_lock_acquire(&cache->admin);
  lrd_response response = cache->answer.response;
  lrd_lock_release(&cache->admin);
  return response;
}
