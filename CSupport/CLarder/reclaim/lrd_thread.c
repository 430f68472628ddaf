// SPDX-License-Identifier: Apache-2.0
#include "lrd_thread.h"

#include "lrd_alloc.h"
#include "lrd_lock.h"

#include <pthread.h>

_Thread_local lrd_thread *lrd_self;

static lrd_lock registry;
static _Atomic(lrd_thread *) first_record;
static _Atomic(uint32_t) registered;
static uint32_t records;

static void (*before_exit)(lrd_thread *thread);

void lrd_thread_set_exit_hook(void (*hook)(lrd_thread *thread)) {
  before_exit = hook;
}

static pthread_once_t exit_hook_once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_hook;
static bool exit_hook_ready;

static void on_thread_exit(void *record) {
  // Darwin frees a thread's variables before it calls the destructors of later keys.
  LRD_ASSERT(!lrd_self || lrd_self == record);
  lrd_self = record;
  lrd_thread_unregister();
}

static void make_exit_hook(void) {
  exit_hook_ready = pthread_key_create(&exit_hook, on_thread_exit) == 0;
}

static lrd_thread *find_unused_record(void) LRD_REQUIRES(registry) {
  lrd_thread *record = LRD_LOAD(&first_record);
  while (record && record->used) record = record->next;
  return record;
}

static void clear_hazards(lrd_thread *record) {
  for (int i = 0; i < LRD_LOANS + LRD_OWN_HAZARDS; i++) {
    atomic_store_explicit(&record->hazards[i].entry, 0, memory_order_release);
    atomic_store_explicit(&record->hazards[i].table, 0, memory_order_release);
  }
}

static void give_back(lrd_thread *record) {
  lrd_lock_acquire(&registry);
  record->used = false;
  lrd_lock_release(&registry);
}

/// The record of a thread that lost its variables and is in the destructor of another key. Another
/// thread may be making the key.
static bool find_record(void) {
  pthread_once(&exit_hook_once, make_exit_hook);
  if (!lrd_self && exit_hook_ready) lrd_self = pthread_getspecific(exit_hook);
  return lrd_self;
}

bool lrd_thread_register(void) {
  LRD_ASSERT(!lrd_self);
  if (find_record()) return true;
  if (!exit_hook_ready) return false;
  lrd_thread *fresh = NULL;
  lrd_lock_acquire(&registry);
  lrd_thread *record = find_unused_record();
  if (!record) {
    lrd_lock_release(&registry);
    fresh = lrd_alloc_zeroed(sizeof *fresh, _Alignof(lrd_thread));
    if (!fresh) return false;
    lrd_lock_acquire(&registry);
    record = fresh;
    record->index = records++;
    record->next = LRD_LOAD(&first_record);
    // Pairs with the acquire in lrd_thread_visit_hazards(): the record's fields come with it.
    atomic_store_explicit(&first_record, record, memory_order_release);
  }
  record->used = true;
  record->top = record->hazards;
  lrd_lock_release(&registry);
  if (pthread_setspecific(exit_hook, record) != 0) {
    give_back(record);
    return false;
  }
  atomic_fetch_add_explicit(&registered, 1, memory_order_seq_cst);
  // A thread that was alone before this fence: lookups of this thread see what it has removed. A
  // thread that asks after the fence is not alone.
  lrd_fence_heavy();
  lrd_self = record;
  return true;
}

void lrd_thread_unregister(void) {
  lrd_thread *record = lrd_self;
  if (!record) return;
  if (before_exit) before_exit(record);
  lrd_self = NULL;
  clear_hazards(record); // ends loans that are still out
  pthread_setspecific(exit_hook, NULL);
  // Release, pairs with lrd_thread_is_solitary(): a thread that then is alone destroys what this
  // one has read.
  atomic_fetch_sub_explicit(&registered, 1, memory_order_release);
  give_back(record);
}

bool lrd_thread_is_solitary(void) {
  lrd_fence_light();
  return atomic_load_explicit(&registered, memory_order_acquire) <= (lrd_self ? 1 : 0);
}

void lrd_thread_visit_hazards(void (*visit)(void *context, uintptr_t pointer), void *context) {
  lrd_thread *record = atomic_load_explicit(&first_record, memory_order_acquire);
  for (; record; record = record->next) {
    for (int i = 0; i < LRD_LOANS + LRD_OWN_HAZARDS; i++) {
      uintptr_t entry = atomic_load_explicit(&record->hazards[i].entry, memory_order_acquire);
      uintptr_t table = atomic_load_explicit(&record->hazards[i].table, memory_order_acquire);
      if (entry) visit(context, entry);
      if (table) visit(context, table);
    }
  }
}

bool lrd_thread_owns_hazard(uintptr_t pointer) {
  lrd_thread *record = lrd_self;
  if (!record) return false;
  for (lrd_hazard *hazard = record->hazards; hazard < record->top; hazard++) {
    if (LRD_LOAD(&hazard->entry) == pointer) return true;
    if (LRD_LOAD(&hazard->table) == pointer) return true;
  }
  return false;
}

void lrd_thread_before_fork(void) LRD_UNCHECKED_LOCKS {
  find_record();
  lrd_lock_acquire(&registry);
}

void lrd_thread_after_fork_parent(void) LRD_UNCHECKED_LOCKS {
  lrd_lock_release(&registry);
}

void lrd_thread_after_fork_child(void) LRD_UNCHECKED_LOCKS {
  lrd_thread *record = LRD_LOAD(&first_record);
  for (; record; record = record->next) {
    if (record == lrd_self) continue;
    record->used = false;
    clear_hazards(record);
  }
  LRD_STORE(&registered, lrd_self ? 1 : 0);
  lrd_platform_after_fork();
  lrd_lock_reset(&registry);
}
