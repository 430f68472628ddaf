// SPDX-License-Identifier: Apache-2.0
/* lrd_thread.h — one record per thread that uses a cache: its hazards, where reclaimers look.
 *
 *   lrd_self ─▶ record   hazards[0] … top[-1]  held by loans that are still out
 *                        top[0], top[1]        used by the lookup that runs now
 *
 * HAZARD POINTERS (Maged Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
 * IEEE TPDS 15(6), 2004) with an asymmetric fence. A reader
 *     loads a pointer · stores it in its slot · lrd_fence_light() · loads the pointer again
 * and may follow it if it has not changed. A reclaimer
 *     removes the pointer · lrd_fence_heavy() · reads every slot
 * and destroys what no slot holds. Either the reader's store is before the heavy fence and the
 * reclaimer sees it, or the reader's second load is after it and sees the pointer gone.
 *
 * Every store to a slot is a release and the reclaimer's load an acquire: whatever value it reads,
 * all that the reader did under the slot's earlier values happens before the destruction.
 *
 * Records are never freed, only reused, so the list may be walked without a lock. A thread's record
 * is given back by a thread-exit hook; a later use by the same thread takes one again.
 *
 * FIELDS
 *   hazards        written by the owner (release), read by reclaimers (acquire)
 *   top            owner only
 *   index          constant; numbers the record's place in every cache's table of lanes
 *   used           guard: the registry's lock
 *   next           constant once published through the registry's head (release / acquire) */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

/// Loans one thread may hold at a time by hazards; deeper ones are served by a copy.
#define LRD_LOANS 32
/// Slots above them for a lookup itself: one, and one more for the second table while one moves.
#define LRD_OWN_HAZARDS 2

typedef struct lrd_hazard {
  _Atomic(uintptr_t) entry;
  _Atomic(uintptr_t) table;
} lrd_hazard;

typedef struct lrd_thread {
  _Alignas(LRD_LINE_PAIR) lrd_hazard hazards[LRD_LOANS + LRD_OWN_HAZARDS];
  lrd_hazard *top;
  uint32_t index;
  bool used;
  struct lrd_thread *_Nullable next;
} lrd_thread;

/// The calling thread's record; NULL before its first use of a cache and after its exit hook, and
/// on Darwin once the ending thread's variables are gone.
#if defined(__ELF__)
extern _Thread_local lrd_thread *_Nullable lrd_self __attribute__((tls_model("initial-exec")));
#else
extern _Thread_local lrd_thread *_Nullable lrd_self;
#endif

/// Gives the calling thread a record, or finds the one it has. False without memory: the caller
/// then reads under the lock.
bool lrd_thread_register(void) LRD_COLD;

/// Has `hook` called, on the ending thread, before a thread's record is given back.
void lrd_thread_set_exit_hook(void (*hook)(lrd_thread *thread));

/// Gives the calling thread's record back, as its exit would.
void lrd_thread_unregister(void);

/// True when no other thread has a record, so that nothing removed can be in a reader's hand but
/// the caller's own. The caller must have removed what it asks for before the call:
/// lrd_fence_light() inside stands between, its partner is the heavy fence at the end of
/// lrd_thread_register().
bool lrd_thread_is_solitary(void);

/// Calls `visit` with every pointer in any hazard, entries and tables, of all threads.
/// lrd_fence_heavy() must have run between the removal of what is asked for and this call, here or
/// elsewhere (lrd_grace.h).
void lrd_thread_visit_hazards(void (*visit)(void *context, uintptr_t pointer), void *context);

/// True when one of the calling thread's own slots holds `pointer`.
bool lrd_thread_owns_hazard(uintptr_t pointer);

/// Around fork(): keeps the registry still, lets it go, and in the child forgets all other threads.
void lrd_thread_before_fork(void);
void lrd_thread_after_fork_parent(void);
void lrd_thread_after_fork_child(void);

#pragma clang assume_nonnull end
