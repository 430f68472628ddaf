// SPDX-License-Identifier: Apache-2.0
/* lrd_grace.h — grace periods: a heavy fence of one thread serves all that have unlinked something
 * before it began, in this cache or another.
 *
 *   after unlinking     lrd_grace_ticket()           the number of fences that have begun by then
 *   anybody, any time   lrd_grace_fence()            a heavy fence, with a number of its own
 *   later               lrd_grace_has_passed(ticket) a fence has ended that began after the ticket
 *
 * Whoever finds that its ticket has passed may read the hazards as if the fence had been its
 * own. (RCU calls this polling for a grace period.)
 *
 * WHY. A full fence stands between the unlinking and the reading of the number, and another between
 * a number's taking and membarrier: a fence with a higher number than the ticket therefore comes
 * after the unlinking, for all threads. The release of `ended` and its acquire order the reading of
 * the slots behind that fence.
 *
 * FIELDS
 *   begun   relaxed: the full fences around it give it its order
 *   ended   the highest number of a fence that has ended; release by its thread, acquire by those
 *           who ask. Fences overlap: lower numbers may still be under way, and nothing waits for
 *           these. */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

typedef struct lrd_grace {
  _Alignas(LRD_LINE_PAIR) _Atomic(uint64_t) begun;
  _Atomic(uint64_t) ended;
} lrd_grace;

/// The process has one: membarrier knows no caches either.
extern lrd_grace lrd_grace_periods;

/// Begins a fence: its number.
static inline uint64_t lrd_grace_begin(lrd_grace *grace) {
  return atomic_fetch_add_explicit(&grace->begun, 1, memory_order_relaxed) + 1;
}

/// A fence of this number has ended.
static inline void lrd_grace_end(lrd_grace *grace, uint64_t number) {
  uint64_t ended = atomic_load_explicit(&grace->ended, memory_order_relaxed);
  while (ended < number &&
         !atomic_compare_exchange_weak_explicit(&grace->ended, &ended, number, memory_order_release,
                                                memory_order_relaxed)) {
  }
}

/// For what the caller, or whoever had its lock before, has unlinked.
static inline uint64_t lrd_grace_ticket(lrd_grace *grace) {
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load_explicit(&grace->begun, memory_order_relaxed);
}

/// True once a fence has ended that began after the ticket.
static inline bool lrd_grace_has_passed(lrd_grace *grace, uint64_t ticket) {
  return atomic_load_explicit(&grace->ended, memory_order_acquire) > ticket;
}

/// lrd_fence_heavy() with a number.
void lrd_grace_fence(void);

#pragma clang assume_nonnull end
