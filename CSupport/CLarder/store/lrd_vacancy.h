// SPDX-License-Identifier: Apache-2.0
/* lrd_vacancy.h — sparse pages of a pool: which ones to empty, and what becomes of them.
 *
 *   full enough ◀──────── reprieve ──────── vacated ──▶ its last slot comes back: freed
 *        │                                   ▲    │
 *        └────────────── vacate ─────────────┘    └──▶ hollow ──▶ the same
 *
 * A vacated page gives out no slots, and so it empties, whether its entries are moved away
 * (lrd_compact.h) or leave by themselves. Nobody waits for that: some slots are in the hands of
 * threads that do not run, or of readers.
 *
 * WHICH. As many entries as there are fit into the fullest pages, nearly, and what is left over
 * into a new page that is made to fit. All other pages are vacated. So what is kept is as full as
 * it can be, at most an eighth of one page is too much, and few entries move. While they do, there
 * is one page more, which `awaits` them: it stays although it is empty.
 *
 * HOLLOW. The free part of a vacated page that does not empty goes back to the system in pieces
 * (lrd_hollow.h). The chain of free slots is walked without the lock. Nobody takes from a vacated
 * page, and slots that come back are put in front of the part that is walked; the page is `kept`
 * meanwhile, so that nobody frees it. A page of which nothing can go back is reprieved. The entries
 * that are left in a hollow page move the next time, if that is worth it.
 *
 * Guard: the pool's lock. Only one thread at a time makes, cancels or ends vacancies of a pool: the
 * caller's care. Others may give slots of such pages back, which may free them. */
#pragma once

#include "lrd_pool.h"

#pragma clang assume_nonnull begin

/// Where the entries of a vacated page lie, and what slots they take.
typedef struct lrd_vacancy {
  uintptr_t start, end;
  uint32_t step;
} lrd_vacancy;

/// Vacates pages if at least so many bytes are won by it, and makes room for what is in there. Sets
/// `left` of the pool. False if there is nothing to move, or no memory. True if there may be, also
/// where pages were vacated before, and that has not ended.
bool lrd_vacancy_make(lrd_pool *pool, size_t least);

/// Lists the vacated pages by their addresses, `room` at most. Returns how many there are.
uint32_t lrd_vacancy_list(lrd_pool *pool, lrd_vacancy *vacancies, uint32_t room);

/// The vacancy that an entry lies in; NULL if there is none.
const lrd_vacancy *_Nullable lrd_vacancy_of(const lrd_vacancy *vacancies, uint32_t count,
                                            const lrd_entry *entry);

/// Reprieves all vacated pages except hollow ones. No page awaits entries any more. False if it has
/// found none to reprieve.
bool lrd_vacancy_cancel(lrd_pool *pool);

/// Hollows the vacated pages out, and reprieves those of which nothing goes back to the system. No
/// page awaits entries any more.
void lrd_vacancy_end(lrd_pool *pool);

#pragma clang assume_nonnull end
