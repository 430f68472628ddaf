// SPDX-License-Identifier: Apache-2.0
/* lrd_pool.h — the slots of one cache: equal pieces cut from pages, named by 32-bit slot ids.
 *
 *   slot id   [ page number:15 | number of the slot in its page:17 ]   no page has number 0
 *   page      [ lrd_page | slot 0 | slot 1 | … ]     4 KiB at first, doubling up to 2 MiB; if it is
 *                                                    known how many slots are expected, the last
 *                                                    page has room for those alone
 *
 * Slots have one size, so they pack exactly and links cost four bytes. Pages of 2 MiB are extents,
 * of a huge page each if they were made in advance. Pages whose slots are all free are freed,
 * except one, and those that entries will move to (lrd_vacancy.h); that one too if there is a
 * reserve page. Threads take and give many slots at a time.
 *
 * OPTIONAL FIELDS. In a costed pool each slot has room for a cost before the header, in a timed
 * pool for a deadline, and perhaps for a second one behind the value. In any other pool an entry
 * that has one takes slots next to each other: two for a cost, and `wide` for deadlines, which have
 * room for the second one as well. It lies in the last one, and the fields before it. Such slots
 * come from pages of their own. So a cache that nobody told about costs or deadlines stores them
 * all the same, and its other entries are as small as they can be.
 *
 * THE RESERVE PAGE. The system takes as long for the first touch of a huge page as for thousands of
 * insertions. When a pool with such a page begins to use another one, it therefore wants a
 * reserve page, which the background thread makes and touches. Writers that are faster than the
 * thread make their page themselves, without huge pages.
 *
 * SPARSE POOLS. Entries that leave at random leave pages that are nearly empty, and none that is.
 * When more than half of all slots are free, and that is worth it, `sparse` says so, and whoever
 * gave slots back asks the background thread to look, whatever that waits for. Entries are then
 * moved out of such pages (lrd_compact.h), which are vacated meanwhile (lrd_vacancy.h). Slots are
 * taken from the page that was the last one to have had none: it is the densest, mostly.
 *
 * LOCKING
 *   `lock` guards the pages' free lists, the lists of pages with room and the reserve page. It is a
 *   leaf; nothing is allocated or freed under it. Finding an entry by its id needs no lock:
 *   `directory` (release / acquire) and a page's address are written before any of the page's ids
 *   leave the pool. Outgrown directories are kept until the pool is closed, because another thread
 *   may be reading one. Most ids travel between threads through locks. Those that lookups find in
 *   a table do not, and may be stale: see lrd_pool_locate(). */
#pragma once

#include "lrd_directory.h"
#include "lrd_lock.h"
#include "lrd_page.h"

#pragma clang assume_nonnull begin

/// What a slot has room for. More optional fields become members here, and lie before the header.
typedef struct lrd_layout {
  size_t bytes; // header, key, value, and what follows them
  size_t alignment;
  ptrdiff_t hard; // from the header to the second deadline (lrd_deadline.h); 0: no room for one
  bool costed;
  bool timed;
} lrd_layout;

/// The most slots that an entry takes.
enum { LRD_STEP_MOST = 3 };

/// Slots that a cache needs beside those of its entries: in the hands of threads, mostly.
enum { LRD_SLOTS_BESIDES = 64 };

/// The bits of a slot id that number a slot in its page: no more slots fit in one, as a slot has 16
/// bytes or more.
#define LRD_SLOT_BITS 17
#define LRD_SLOT_MASK (((uint32_t)1 << LRD_SLOT_BITS) - 1)

/// Page numbers are below this: a pool has 32,766 pages at most, of 2 MiB or of one very large
/// slot.
#define LRD_PAGES_END (LRD_NIL >> LRD_SLOT_BITS)

typedef struct lrd_pool {
  _Atomic(lrd_directory *) directory;
  size_t stride;
  _Atomic(uint64_t) changes; // page numbers given back, or used again: see lrd_pool_locate()
  size_t first_slot;         // bytes from a page's start to the entry in slot 0
  size_t alignment;
  size_t prefix;  // bytes of a slot before its entry: the optional fields
  size_t extra;   // bytes from an entry's start to what its policy keeps in it
  ptrdiff_t hard; // and to the deadline that hits do not move, of entries that have room for it
  uint32_t wide;  // slots that an entry with room for it takes
  uint8_t odd;    // lrd_fields that a slot has no room for: entries with them take several
  _Atomic(uint64_t)
      expected; // slots that will be enough, most likely; 0: not known. A hint, relaxed

  _Alignas(LRD_LINE_PAIR) lrd_lock lock;
  uint32_t pages;                               // numbers below were given out, or are 0
  uint32_t holes;                               // page numbers given back and not in use
  uint32_t empty_pages;                         // pages of single slots, all free
  size_t mapped;                                // bytes of all pages
  lrd_page *_Nullable with_room[LRD_STEP_MOST]; // by `step` - 1
  lrd_page *_Nullable reserve;
  _Atomic(bool) wants_reserve; // a hint, relaxed
  _Atomic(uint8_t) sparse;     // the same: lrd_sparse
  uint32_t vacated;            // pages that are
  uint64_t slots;              // of all other pages
  uint64_t idle;               // and the free ones of these
  uint64_t left;               // of which the last compaction expected to win nothing
} lrd_pool;

/// DENSE: not sparse. SPARSE: nobody looks after it yet; who gives slots back asks for a visit.
/// HEEDED: the background thread does, and looks again without being asked.
enum lrd_sparse { LRD_DENSE, LRD_SPARSE, LRD_SPARSE_HEEDED };

/// A pool is not sparse while less could be won.
#define LRD_SPARSE_BYTES ((size_t)1 << 18)

/// Makes an empty pool for such entries. False without memory.
bool lrd_pool_open(lrd_pool *pool, lrd_layout layout);

/// Tells how many entries the cache may hold, 0 if that is not known: pages are made to fit.
static inline void lrd_pool_expect(lrd_pool *pool, uint64_t entries) {
  LRD_STORE(&pool->expected, entries ? entries + LRD_SLOTS_BESIDES : 0);
}

/// Frees all pages. No slot may be in use.
void lrd_pool_close(lrd_pool *pool);

/// Takes up to `wanted` free slots into `ids`; returns how many, 0 without memory. Locks `lock`.
uint32_t lrd_pool_take(lrd_pool *pool, uint32_t *ids, uint32_t wanted);

/// The same for entries that take `step` slots each. Unless it `grows`, only from pages that exist.
uint32_t lrd_pool_take_of(lrd_pool *pool, uint32_t step, uint32_t *ids, uint32_t wanted,
                          bool grows);

/// Takes a pair of slots, for an entry with a cost that slots have no room for; or as many as
/// deadlines take. False without memory. Locks `lock`.
bool lrd_pool_take_pair(lrd_pool *pool, uint32_t *id);
bool lrd_pool_take_wide(lrd_pool *pool, uint32_t *id);

/// True when the slots of an entry that was taken have room for all deadlines.
bool lrd_pool_is_wide(lrd_pool *pool, uint32_t id);

/// True when the background thread should call lrd_reserve_prepare().
LRD_INLINE bool lrd_pool_wants_reserve(lrd_pool *pool) {
  return LRD_LOAD(&pool->wants_reserve);
}

/// Takes slots and pairs back. Frees pages that became empty, but keeps one page empty or in
/// reserve. Locks `lock`.
void lrd_pool_give(lrd_pool *pool, const uint32_t *ids, uint32_t count);

/// How the pages of a pool are cut.
static inline lrd_shape lrd_pool_shape(const lrd_pool *pool) {
  return (lrd_shape){.header = pool->first_slot - pool->prefix,
                     .stride = pool->stride,
                     .alignment = pool->alignment};
}

/// The page of a number; NULL if there is none.
static inline lrd_page *_Nullable lrd_pool_page_locked(const lrd_pool *pool, uint32_t number)
    LRD_REQUIRES(pool->lock) {
  char *slots = LRD_LOAD(&LRD_LOAD(&pool->directory)->slots[number]);
  return slots ? (lrd_page *)(void *)(slots - pool->first_slot) : NULL;
}

/// Puts a page with free slots among those that give them out, and takes it out of there.
void lrd_pool_link_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock);
void lrd_pool_unlink_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock);

/// Adds a new page with room. Without memory, or with all page numbers in use, frees it: false.
bool lrd_pool_install(lrd_pool *pool, lrd_page *page) LRD_EXCLUDES(pool->lock);

static inline bool lrd_pool_is_sparse_locked(const lrd_pool *pool) LRD_REQUIRES(pool->lock) {
  uint64_t used = pool->slots - pool->idle;
  return pool->idle > used + pool->left && pool->idle * pool->stride >= LRD_SPARSE_BYTES;
}

/// To be called when slots were given back, or pages vacated no longer.
static inline void lrd_pool_note_sparse_locked(lrd_pool *pool) LRD_REQUIRES(pool->lock) {
  uint8_t before = LRD_LOAD(&pool->sparse);
  uint8_t now = before == LRD_DENSE ? LRD_SPARSE : before;
  LRD_STORE(&pool->sparse, lrd_pool_is_sparse_locked(pool) ? now : LRD_DENSE);
}

/// To be called when nobody looks after the pool any more.
static inline void lrd_pool_forget_sparse(lrd_pool *pool) LRD_EXCLUDES(pool->lock) {
  lrd_lock_acquire(&pool->lock);
  LRD_STORE(&pool->sparse, LRD_DENSE);
  lrd_lock_release(&pool->lock);
}

/// Takes an empty page out of the pool: the caller frees it.
void lrd_pool_remove_page_locked(lrd_pool *pool, lrd_page *page) LRD_REQUIRES(pool->lock);

/// Bytes of all pages, for statistics. Locks `lock`.
size_t lrd_pool_bytes(lrd_pool *pool);

/// What it takes to find an entry, loaded once. Valid for all entries of a shard while its lock is
/// held.
typedef struct lrd_slots {
  const _Atomic(char *_Nullable) *pages;
  size_t stride;
} lrd_slots;

LRD_INLINE lrd_slots lrd_pool_slots(lrd_pool *pool) LRD_NONBLOCKING {
  lrd_directory *directory = atomic_load_explicit(&pool->directory, memory_order_acquire);
  return (lrd_slots){directory->slots, pool->stride};
}

/// The entry in slot `id`, which must be in use, or owned by the caller.
LRD_INLINE lrd_entry *lrd_slots_entry(lrd_slots slots, uint32_t id) LRD_NONBLOCKING {
  char *page = LRD_LOAD(&slots.pages[id >> LRD_SLOT_BITS]);
  return (lrd_entry *)(void *)(page + (size_t)(id & LRD_SLOT_MASK) * slots.stride);
}

LRD_INLINE lrd_entry *lrd_pool_entry(lrd_pool *pool, uint32_t id) LRD_NONBLOCKING {
  return lrd_slots_entry(lrd_pool_slots(pool), id);
}

/// Where the entry in slot `id` is, for a reader that has found the id in a table (acquire) and
/// holds no lock. The id may be stale, and the page gone or another one. The reader publishes a
/// hazard, finds the id in the table once more (acquire), and asks lrd_pool_is_located().
LRD_INLINE lrd_entry *lrd_pool_locate(lrd_pool *pool, uint32_t id,
                                      uint64_t *changes) LRD_NONBLOCKING {
  *changes = atomic_load_explicit(&pool->changes, memory_order_acquire);
  return lrd_pool_entry(pool, id);
}

/// True when no page number was given back or used again since. An id in a table is that of a
/// linked entry, whose page stays. So the reader, who has acquired the id, counts every change up
/// to that page: without one it saw the same page before. A change is counted after it is made, so
/// a reader that counts one sees it.
LRD_INLINE bool lrd_pool_is_located(lrd_pool *pool, uint64_t changes) LRD_NONBLOCKING {
  return LRD_LOAD(&pool->changes) == changes;
}

/// What the cache's policy keeps in an entry beyond the header: `entry_bytes` of lrd_policy.
LRD_INLINE void *lrd_pool_extra(const lrd_pool *pool, lrd_entry *entry) {
  return (char *)(void *)entry + pool->extra;
}

#pragma clang assume_nonnull end
