// SPDX-License-Identifier: Apache-2.0
/* lrd_change.h — changes of an entry that one thread has begun. While they are under way, code of
 * the caller runs without a lock, as in modifyValue() of the layer above.
 *
 *   lrd_change_begin()      the entry that was found
 *   the caller's code       whatever of this thread replaces or removes that entry, or gives it a
 *                           lifetime, says so to lrd_change_note()
 *   lrd_change_end()        `spoiled`: the change must begin anew, and by the thread's own doing
 *
 * Without this nobody could tell a thread that loses against others, which is to try again, from
 * one whose code spoils its change each time, which would try for ever. What an insertion evicts does
 * not count: the next try finds no entry, unless the code brings in that key again each time.
 *
 * Guard: all of it belongs to the thread. A change lies on its stack; `outer` is the one that it
 * was begun in. */
#pragma once

#include "lrd_entry.h"

#pragma clang assume_nonnull begin

typedef struct lrd_change {
  const void *_Nullable cache;      // the addresses alone are used
  const lrd_entry *_Nullable entry; // NULL: there is none
  struct lrd_change *_Nullable outer;
  bool spoiled;
} lrd_change;

/// The innermost change that this thread has begun.
extern _Thread_local lrd_change *_Nullable lrd_changes LRD_INITIAL_EXEC;

/// Begins a change. If the entry is not on loan, another may come to its address, and what is done
/// to that counts, too.
void lrd_change_begin(lrd_change *change, const void *cache, const lrd_entry *_Nullable entry);

/// Ends the innermost change.
void lrd_change_end(lrd_change *change);

/// These note something in all changes of the thread that it concerns.
void lrd_change_note_slow(const lrd_entry *entry) LRD_COLD;
void lrd_change_note_all_slow(const void *cache) LRD_COLD;

/// To be called when a call replaces or removes an entry, or gives it a lifetime.
LRD_INLINE void lrd_change_note(const lrd_entry *entry) {
  if (LRD_UNLIKELY(lrd_changes != NULL)) lrd_change_note_slow(entry);
}

/// To be called when a call removes all entries of a cache.
LRD_INLINE void lrd_change_note_all(const void *cache) {
  if (LRD_UNLIKELY(lrd_changes != NULL)) lrd_change_note_all_slow(cache);
}

#pragma clang assume_nonnull end
