// SPDX-License-Identifier: Apache-2.0
#include "lrd_thread.h"

#include "lrd_alloc.h"
#include "lrd_lock.h"

#include <pthread.h>
#include <string.h>

_Thread_local lrd_thread *lrd_self;
_Atomic(uint32_t) lrd_threads_registered;

enum { BLOCKS = 24, FIRST_BLOCK = 8 };

/// The records of the indexes from FIRST_BLOCK * (2^b - 1) on, twice as many as in the block
/// before.
typedef struct lrd_roll {
  uint32_t used;
  uint32_t first; // index of the first record
  lrd_thread *records;
  _Atomic(uint64_t) live[];
} lrd_roll;

static lrd_lock registry;
static _Atomic(lrd_roll *) blocks[BLOCKS];
static _Atomic(uint32_t) live_blocks;

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

static uint32_t records_in(int number) {
  return (uint32_t)FIRST_BLOCK << number;
}

static uint32_t words_in(int number) {
  return (records_in(number) + 63) / 64;
}

/// A block without a record in use; NULL without memory.
static lrd_roll *create_block(int number) {
  size_t bits = sizeof(lrd_roll) + words_in(number) * sizeof(uint64_t);
  size_t head = lrd_round_up(bits, _Alignof(lrd_thread));
  size_t bytes = head + records_in(number) * sizeof(lrd_thread);
  lrd_roll *block = lrd_alloc(bytes, _Alignof(lrd_thread));
  if (!block) return NULL;
  memset(block, 0, head);
  block->first = records_in(number) - FIRST_BLOCK;
  block->records = (lrd_thread *)(void *)((char *)block + head);
  return block;
}

static void destroy_block(lrd_roll *block, int number) {
  size_t head = (size_t)((char *)block->records - (char *)block);
  lrd_free(block, head + records_in(number) * sizeof(lrd_thread), _Alignof(lrd_thread));
}

static void clear_hazards(lrd_thread *record) {
  for (int i = 0; i < LRD_LOANS + LRD_OWN_HAZARDS; i++) {
    atomic_store_explicit(&record->hazards[i].entry, 0, memory_order_release);
    atomic_store_explicit(&record->hazards[i].table, 0, memory_order_release);
  }
}

/// Changes the bit of a record, and that of its block with the first and the last of it.
static void set_live(int number, uint32_t index, bool live) LRD_REQUIRES(registry) {
  lrd_roll *block = LRD_LOAD(&blocks[number]);
  // Release, pairs with the acquire in lrd_thread_visit_hazards(). So does that of `live_blocks`.
  atomic_fetch_xor_explicit(&block->live[index / 64], (uint64_t)1 << index % 64,
                            memory_order_release);
  bool others = live ? block->used++ : --block->used;
  if (!others) atomic_fetch_xor_explicit(&live_blocks, 1u << number, memory_order_release);
}

/// Takes the lowest record that is free. NULL when all are in use: `*number` is then the block that
/// is missing.
static lrd_thread *take_record(int *number) LRD_REQUIRES(registry) {
  lrd_roll *block = NULL;
  for (*number = 0; *number < BLOCKS && (block = LRD_LOAD(&blocks[*number])); ++*number) {
    if (block->used == records_in(*number)) continue;
    uint32_t word = 0;
    while (!~LRD_LOAD(&block->live[word])) word++;
    uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(~LRD_LOAD(&block->live[word]));
    lrd_thread *record = &block->records[index];
    clear_hazards(record);
    record->index = block->first + index;
    record->top = record->hazards;
    set_live(*number, index, true);
    return record;
  }
  return NULL;
}

static void give_back(const lrd_thread *record) {
  int number = 31 - __builtin_clz(record->index / FIRST_BLOCK + 1);
  lrd_lock_acquire(&registry);
  set_live(number, record->index - LRD_LOAD(&blocks[number])->first, false);
  lrd_lock_release(&registry);
}

/// A record for the calling thread; NULL without memory.
static lrd_thread *take_or_make_record(void) LRD_EXCLUDES(registry) {
  lrd_roll *fresh = NULL;
  int made = 0, number = 0;
  for (;;) {
    lrd_lock_acquire(&registry);
    if (fresh && !LRD_LOAD(&blocks[made])) {
      LRD_STORE(&blocks[made], fresh);
      fresh = NULL;
    }
    lrd_thread *record = take_record(&number);
    lrd_lock_release(&registry);
    if (fresh) destroy_block(fresh, made);
    if (record || number == BLOCKS) return record;
    made = number;
    fresh = create_block(made);
    if (!fresh) return NULL;
  }
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
  lrd_thread *record = take_or_make_record();
  if (!record) return false;
  if (pthread_setspecific(exit_hook, record) != 0) {
    give_back(record);
    return false;
  }
  atomic_fetch_add_explicit(&lrd_threads_registered, 1, memory_order_seq_cst);
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
  atomic_fetch_sub_explicit(&lrd_threads_registered, 1, memory_order_release);
  give_back(record);
}

static void visit_record(lrd_thread *record, void (*visit)(void *context, uintptr_t pointer),
                         void *context) {
  for (int i = 0; i < LRD_LOANS + LRD_OWN_HAZARDS; i++) {
    uintptr_t entry = atomic_load_explicit(&record->hazards[i].entry, memory_order_acquire);
    uintptr_t table = atomic_load_explicit(&record->hazards[i].table, memory_order_acquire);
    if (entry) visit(context, entry);
    if (table) visit(context, table);
  }
}

void lrd_thread_visit_hazards(void (*visit)(void *context, uintptr_t pointer), void *context) {
  // The acquire loads pair with the releases in set_live().
  uint32_t left = atomic_load_explicit(&live_blocks, memory_order_acquire);
  for (; left; left &= left - 1) {
    int number = __builtin_ctz(left);
    lrd_roll *block = LRD_LOAD(&blocks[number]);
    for (uint32_t word = 0; word < words_in(number); word++) {
      uint64_t live = atomic_load_explicit(&block->live[word], memory_order_acquire);
      for (; live; live &= live - 1) {
        visit_record(&block->records[word * 64 + (uint32_t)__builtin_ctzll(live)], visit, context);
      }
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
  for (int number = 0; number < BLOCKS && LRD_LOAD(&blocks[number]); number++) {
    lrd_roll *block = LRD_LOAD(&blocks[number]);
    uint32_t end = block->used ? records_in(number) : 0;
    for (uint32_t i = 0; i < end; i++) {
      bool live = LRD_LOAD(&block->live[i / 64]) >> i % 64 & 1;
      if (live && &block->records[i] != lrd_self) set_live(number, i, false);
    }
  }
  LRD_STORE(&lrd_threads_registered, lrd_self ? 1 : 0);
  lrd_platform_after_fork();
  lrd_lock_reset(&registry);
}
