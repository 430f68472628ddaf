// SPDX-License-Identifier: Apache-2.0
/* lrd_hooks.h — what the core calls of the layer above: to destroy pairs, to show them, and to ask
 * about them. It does so in threads of its own, in answers to memory pressure, and in calls on a
 * whole cache. All other changes leave that to their callers (lrd_garbage.h). */
#pragma once

#include "lrd_answer.h"

#pragma clang assume_nonnull begin

typedef struct lrd_hooks {
  void *_Nullable context;
  /// Destroys the key and the value of an entry, not its header. `*batch` belongs to the layer
  /// above and is NULL when a run of destructions begins.
  void (*_Nonnull destroy)(void *_Nullable context, lrd_entry *_Nonnull entry,
                           void *_Nullable *_Nonnull batch);
  /// Ends a run if `batch` is not NULL.
  void (*_Nullable finish)(void *_Nullable context, void *_Nonnull batch);
  /// Shows entries that no call of the layer above has removed, `first` and those after it
  /// (lrd_garbage_after()), in observed caches only. `moment`: what the hook of that name has
  /// returned before; 0 in its place only if all of them had expired, or there is no such hook.
  void (*_Nullable show)(void *_Nullable context, lrd_entry *_Nonnull first, uint64_t moment);
  /// Called once, when the cache's memory is freed.
  void (*_Nonnull release)(void *_Nullable context);

  /* For evictions by pressure. NULL: not needed. */

  /// What a cache that `asks` does. `asked`: that of its lrd_response. No lock is held, and the
  /// call may take long.
  lrd_action (*_Nullable ask)(void *_Nullable context, int level, uintptr_t asked);
  /// True when somebody beside the cache holds the value: its eviction would free nothing. Runs
  /// under the shard's lock: no code of users.
  bool (*_Nullable is_held)(void *_Nullable context, const lrd_entry *_Nonnull entry);
  /// Called before entries are removed. What it returns is passed to `show`.
  uint64_t (*_Nullable moment)(void *_Nullable context);

  /* For entries that get another slot. */

  /// Copies key and value of an entry, and what else the layer above keeps behind its header, into
  /// another slot. Both are destroyed later. Under the shard's lock. Needed for lifetimes given
  /// later, and to compact the pool. NULL: neither is done.
  void (*_Nullable copy)(void *_Nullable context, lrd_entry *_Nonnull copy,
                         lrd_entry *_Nonnull entry);
} lrd_hooks;

#pragma clang assume_nonnull end
