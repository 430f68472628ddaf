// SPDX-License-Identifier: Apache-2.0
/* lrd_reply.h — one cache's answer to one level: the plan of lrd_answer.h, carried out. The caller
 * has a reference to the cache and no lock. */
#pragma once

#include "lrd_cache.h"

#pragma clang assume_nonnull begin

/// Answers to a level: asks, evicts, lowers the limits. NORMAL removes nothing: the caps then rise
/// step by step. True when something was evicted. Unless it `may_ask`, leaves a cache alone whose
/// owner must be asked.
bool lrd_reply_to_level(lrd_cache *cache, int level, bool may_ask);

/// One step of the caps. True when another one is needed.
bool lrd_reply_step(lrd_cache *cache);

/// The app's background was entered, or the response was set there: the cap is then that of the new
/// response, higher or lower. Or it was left. True when something was evicted.
bool lrd_reply_hide(lrd_cache *cache);
bool lrd_reply_unhide(lrd_cache *cache);

/// Sets the response. A cache that heeds nothing any more has no caps. False, and nothing else, if
/// a later version is in force: of two threads that set one, the layer above may let the first go,
/// and the core hear of it last.
bool lrd_reply_set(lrd_cache *cache, const lrd_response *response);
lrd_response lrd_reply_get(lrd_cache *cache);

#pragma clang assume_nonnull end
