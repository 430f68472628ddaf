// SPDX-License-Identifier: Apache-2.0
/* lrd_change.h — changes of an entry that one thread has begun, and code of its caller's runs in
 * their midst: without a lock, as the layer above does it for modifyValue().
 *
 *   lrd_change_begin()      the entry that was found
 *   the caller's code       whatever of this thread replaces or removes that entry, or gives it a
 *                           lifetime, says so to lrd_change_note()
 *   lrd_change_end()        `spoiled`: the change must begin anew, and by the thread's own doing
 *
 * Without this nobody could tell a thread that loses against others, which is to try again, from
 * one whose code spoils its change each time, which would try for ever. Evictions do not count: the
 * next try finds no entry, unless the code brings in the evicted key again each time.
 *
 * Guard: all of it belongs to the thread. A change lies on its stack; `outer` is the one that it
 * was begun in. */
#pragma once

#include "lrd_entry.h"

#pragma clang assume_nonnull begin

typedef struct lrd_change {
  const lrd_entry *_Nullable entry; // its address alone is used
  struct lrd_change *_Nullable outer;
  bool spoiled;
} lrd_change;

/// The innermost change that this thread has begun.
extern _Thread_local lrd_change *_Nullable lrd_changes LRD_INITIAL_EXEC;

/// Begins a change of an entry, which stays at its address until the end. NULL: there is none.
void lrd_change_begin(lrd_change *change, const lrd_entry *_Nullable entry);

/// Ends the innermost change.
void lrd_change_end(lrd_change *change);

void lrd_change_note_any(const lrd_entry *_Nullable entry) LRD_COLD;

/// To be called when a call replaces or removes an entry, or gives it a lifetime. NULL: when it
/// removes all entries of a cache.
LRD_INLINE void lrd_change_note(const lrd_entry *_Nullable entry) {
  if (LRD_UNLIKELY(lrd_changes != NULL)) lrd_change_note_any(entry);
}

#pragma clang assume_nonnull end
