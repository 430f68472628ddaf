// SPDX-License-Identifier: Apache-2.0
/* lrd_grace.h — grace periods: one heavy fence serves all threads that unlinked something before it
 * began, in any cache.
 *
 *   after unlinking     lrd_grace_ticket()           the number of fences that have begun by then
 *   any thread, later   lrd_grace_fence()            a heavy fence, with a number of its own
 *   after that          lrd_grace_has_passed(ticket) a fence has ended that began after the ticket
 *
 * A thread whose ticket has passed may read the hazards as if it had run the fence. (RCU calls this
 * polling for a grace period.)
 *
 * WHY. A full fence stands between unlinking and reading `begun`, and another between taking a
 * number and membarrier. So a fence with a higher number than the ticket comes after the unlinking,
 * for all threads. Release and acquire of `ended` put the reading of the hazards after that fence.
 *
 * FIELDS
 *   begun   relaxed: full fences around it order it
 *   ended   the highest number of a fence that has ended (release / acquire). Fences overlap: lower
 *           ones may still be under way, and nothing waits for these. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

typedef struct lrd_grace {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) begun;
  _Atomic(uint64_t) ended;
} lrd_grace;

/// One for the process: membarrier serves all caches.
extern lrd_grace lrd_grace_periods;

/// Begins a fence; returns its number.
static inline uint64_t lrd_grace_begin(lrd_grace *grace) {
  return atomic_fetch_add_explicit(&grace->begun, 1, memory_order_relaxed) + 1;
}

/// Ends the fence of this number.
static inline void lrd_grace_end(lrd_grace *grace, uint64_t number) {
  uint64_t ended = LRD_LOAD(&grace->ended);
  while (ended < number &&
         !atomic_compare_exchange_weak_explicit(&grace->ended, &ended, number, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

/// A ticket for everything that the caller, or an earlier holder of its lock, has unlinked.
static inline uint64_t lrd_grace_ticket(lrd_grace *grace) {
  atomic_thread_fence(memory_order_seq_cst);
  return LRD_LOAD(&grace->begun);
}

/// True once a fence has ended that began after the ticket.
static inline bool lrd_grace_has_passed(lrd_grace *grace, uint64_t ticket) {
  return atomic_load_explicit(&grace->ended, memory_order_acquire) > ticket;
}

/// lrd_fence_heavy(), with a number.
void lrd_grace_fence(void);

#pragma clang assume_nonnull end
