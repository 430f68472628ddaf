// SPDX-License-Identifier: Apache-2.0
/* lrd_thread.h — a record of each thread that uses a cache: its hazards, which scans read.
 *
 *   lrd_self ─▶ record   hazards[0] … top[-1]  loans that are pinned
 *                        top[0], top[1]        for the lookup that runs now
 *
 * HAZARD POINTERS (Maged Michael, "Hazard Pointers: Safe Memory Reclamation for Lock-Free Objects",
 * IEEE TPDS 15(6), 2004) with an asymmetric fence. A reader
 *     loads a pointer · stores it in a hazard · lrd_fence_light() · loads the pointer again
 * and may follow it if it has not changed. A writer or a visit
 *     removes the pointer · lrd_fence_heavy() · reads every hazard (a scan)
 * and destroys what no hazard names. If the reader stored before the heavy fence, the scan sees the
 * hazard. Otherwise the reader's second load comes after the fence and sees the pointer gone.
 *
 * Every store to a hazard is a release, and the scan's load is an acquire. Whatever value the scan
 * reads, everything that the reader did under earlier values happens before the destruction.
 *
 * THE ROLL. Records lie in blocks of 8, 16, 32 … Blocks are never freed, and records only reused,
 * so scans need no lock. Bits lead them to the records of living threads:
 *
 *   live_blocks [ 0 1 2 … ] ─▶ block   live [ 0 1 2 … ] ─▶ record of index first + 2
 *
 * A scan takes time for the living threads only, however many there were. Each new thread takes
 * the lowest record that is free, so that the living stay in few blocks.
 *   A thread that registers sets its bits and passes a heavy fence before it publishes a hazard. A
 *   scan passes one before it reads the bits. If it misses a bit, its fence was the first of the
 *   two, and lookups of the new thread see what was removed before it.
 *   A thread that ends clears its hazards and then its bit. A scan that sees the bit cleared sees
 *   everything that the thread did before. The lock puts the changes of a word one after the other,
 *   so that a later change carries the earlier ones.
 * A hook gives the record back when the thread ends. If the thread then uses a cache again, it
 * takes another.
 *
 * FIELDS
 *   hazards        written by the owner (release), read by scans (acquire)
 *   top            owner only
 *   index          constant while the record is in use: that of the thread's lane in every cache
 *   live_blocks, live   written under the registry's lock (release), read by scans (acquire)
 *   used           of a block: how many records; guard: the registry's lock
 *   blocks         constant once published by the bit in `live_blocks` */
#pragma once

#include "lrd_platform.h"

#pragma clang assume_nonnull begin

/// Loans that one thread may hold at a time; further lookups copy the value.
#define LRD_LOANS 32
/// Hazards above them for the lookup: one, and another for the second table while one moves.
#define LRD_OWN_HAZARDS 2

typedef struct lrd_hazard {
  _Atomic(uintptr_t) entry;
  _Atomic(uintptr_t) table;
} lrd_hazard;

typedef struct lrd_thread {
  _Alignas(LRD_LINE_PAIR) lrd_hazard hazards[LRD_LOANS + LRD_OWN_HAZARDS];
  lrd_hazard *top;
  uint32_t index;
} lrd_thread;

/// The calling thread's record. NULL before its first use of a cache, after its exit hook, and on
/// Darwin once the ending thread has lost its variables.
extern _Thread_local lrd_thread *_Nullable lrd_self LRD_INITIAL_EXEC;

/// The number of threads that have a record. Only the registry changes it.
extern _Atomic(uint32_t) lrd_threads_registered;

/// Gives the calling thread a record, or finds the one it has. False without memory: the caller
/// then reads under the lock.
bool lrd_thread_register(void) LRD_COLD;

/// Sets the function that is called on an ending thread before its record is given back.
void lrd_thread_set_exit_hook(void (*hook)(lrd_thread *thread));

/// Gives the calling thread's record back, as at its end.
void lrd_thread_unregister(void);

/// True when no other thread has a record: only the caller's own loans can hold what it has removed
/// before the call. The lrd_fence_light() after the removal pairs with the heavy fence at the end
/// of lrd_thread_register().
static inline bool lrd_thread_is_solitary(void) {
  lrd_fence_light();
  uint32_t registered = atomic_load_explicit(&lrd_threads_registered, memory_order_acquire);
  return registered <= (lrd_self ? 1 : 0);
}

/// Calls `visit` with every hazard of all threads, entries and tables. For pointers that were
/// removed before a heavy fence, of this or another thread (lrd_grace.h), that has ended.
void lrd_thread_visit_hazards(void (*visit)(void *context, uintptr_t pointer), void *context);

/// True when a hazard of the calling thread names `pointer`.
bool lrd_thread_owns_hazard(uintptr_t pointer);

/// Around fork(): lock the registry, unlock it, and in the child forget all other threads.
void lrd_thread_before_fork(void);
void lrd_thread_after_fork_parent(void);
void lrd_thread_after_fork_child(void);

#pragma clang assume_nonnull end
